#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>

#include "covary/linalg/types.hpp"

namespace covary {

class Tape;
class TapeState;

// A handle to one matrix on a tape; as cheap to copy as a pointer. Vectors are N×1, scalars 1×1.
// It is good until its tape is cleared; later use is an InputError.
class Var {
 public:
  Var() = default;
  const Matrix& value() const;  // stays where it is while the tape grows
  double scalar() const;        // the value of a 1×1
  Index rows() const { return value().rows(); }
  Index cols() const { return value().cols(); }
  bool needs_gradient() const;  // it depends on an input of the tape
  Tape& tape() const;           // where a function of Vars records its constants

 private:
  friend class TapeState;
  Var(Tape* tape, std::uint32_t id, std::uint32_t generation)
      : tape_(tape), id_(id), generation_(generation) {}
  Tape* tape_ = nullptr;
  std::uint32_t id_ = 0;
  std::uint32_t generation_ = 0;
};

// The adjoints of one reverse sweep. It is a view of the tape, so that repeated sweeps allocate
// nothing: read or copy what is wanted before the next gradient() or clear().
class Gradients {
 public:
  // d scalar / d var, in the shape of var; zeros when the scalar does not depend on it.
  const Matrix& operator[](Var var) const;

 private:
  friend class Tape;
  Gradients(Tape* tape, std::uint64_t sweep) : tape_(tape), sweep_(sweep) {}
  Tape* tape_;
  std::uint64_t sweep_;
};

// Reverse mode at the granularity of matrices: each operation holds its value and a pullback that
// adds to the adjoints of its inputs. What depends on constants alone is never differentiated.
// clear() keeps the memory: in an evaluation with the same shapes as the last it allocates nothing.
// A tape serves one thread at a time.
class Tape {
 public:
  Tape();
  ~Tape();
  Tape(const Tape&) = delete;  // its Vars point at it
  Tape& operator=(const Tape&) = delete;

  Var input(ConstMatrix value);
  Var input(double value);
  Var constant(ConstMatrix value);
  Var constant(double value);

  // An operation of the caller's own: its value, and a pullback that ADDS to each input_bars[k] the
  // adjoint of inputs[k], already in its shape; null where none is needed. `name` is for errors
  // and must outlive the tape (a literal).
  using Pullback = std::function<void(const Matrix& output_bar, std::span<Matrix*> input_bars)>;
  Var custom(std::span<const Var> inputs, Matrix value, Pullback pullback,
             const char* name = "custom");
  Var custom(std::initializer_list<Var> inputs, Matrix value, Pullback pullback,
             const char* name = "custom");

  // Throws InputError unless `scalar` is 1×1, and NumericalError when it is not finite, naming the
  // first operation that gave such a value.
  Gradients gradient(Var scalar);
  void clear();
  Index size() const;  // operations recorded since the last clear()

  TapeState& state() { return *state_; }  // for the operations of this room

 private:
  std::unique_ptr<TapeState> state_;
};

}  // namespace covary
