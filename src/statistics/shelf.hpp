#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace covary {

// Things that lanes take, use and put back, so that their memory is warm for the next lane.
template <class T>
class Shelf {
 public:
  explicit Shelf(std::function<T()> make) : make_(std::move(make)) {}
  T take() {
    {
      const std::lock_guard lock(mutex_);
      if (!things_.empty()) {
        T thing = std::move(things_.back());
        things_.pop_back();
        return thing;
      }
    }
    return make_();
  }
  void put(T thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
  }

 private:
  std::function<T()> make_;
  std::mutex mutex_;
  std::vector<T> things_;
};

}  // namespace covary
