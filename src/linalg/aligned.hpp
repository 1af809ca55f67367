#pragma once

#include <memory>
#include <new>

#include "covary/linalg/types.hpp"

namespace covary {

// Doubles that begin at a line of the cache, not initialised: a vector as wide as a line that
// crosses two costs two loads.
class AlignedDoubles {
 public:
  AlignedDoubles() = default;
  explicit AlignedDoubles(Index size)
      : size_(size),
        memory_(static_cast<double*>(
            ::operator new(static_cast<std::size_t>(size) * sizeof(double), line))) {}
  double* data() const { return memory_.get(); }
  Index size() const { return size_; }
  // At least so many; what there was is lost where there was less.
  void reserve(Index size) {
    if (size > size_) *this = AlignedDoubles(size);
  }

 private:
  static constexpr std::align_val_t line{64};
  struct Free {
    void operator()(double* p) const { ::operator delete(p, line); }
  };
  Index size_ = 0;
  std::unique_ptr<double, Free> memory_;
};

}  // namespace covary
