#include "covary/statistics/reducer.hpp"

#include <map>
#include <mutex>

#include "covary/linalg/parallel.hpp"
#include "statistics/shelf.hpp"

namespace covary {
namespace {

class ThreadReducer : public Reducer {
 public:
  Vector reduce(Index lanes, Index size, const Lane& body) override {
    Vector total;
    std::map<Index, Vector> waiting;  // finished before their turn
    Index next = 0;
    std::mutex mutex;
    Shelf<Vector> sums([] { return Vector(); });
    parallel_for(lanes, [&](Index lane) {
      Vector sum = sums.take();
      sum.setZero(size);
      body(lane, sum.data());
      const std::lock_guard lock(mutex);
      waiting.emplace(lane, std::move(sum));
      for (auto at = waiting.find(next); at != waiting.end(); at = waiting.find(++next)) {
        if (next == 0) {
          total = std::move(at->second);
        } else {
          total += at->second;
          sums.put(std::move(at->second));
        }
        waiting.erase(at);
      }
    });
    if (lanes == 0) total.setZero(size);
    return total;
  }
};

}  // namespace

Reducer& thread_reducer() {
  static ThreadReducer reducer;
  return reducer;
}

}  // namespace covary
