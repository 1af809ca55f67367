#pragma once

namespace covary {

// Gives a value back what it was.
template <class T>
struct Restored {
  explicit Restored(T& v) : value(v), before(v) {}
  ~Restored() { value = before; }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  T& value;
  T before;
};

}  // namespace covary
