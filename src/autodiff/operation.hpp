#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "covary/autodiff/tape.hpp"
#include "covary/linalg/blas.hpp"

namespace covary {

// The inside of a Tape.
class TapeState {
 public:
  class Reverse;

  // One entry of the tape. Its matrices outlive clear(), so the next evaluation finds them
  // allocated.
  struct Operation {
    const char* name = "";
    void (*pullback)(Reverse&) = nullptr;  // none for inputs and constants
    Matrix value;
    Matrix bar;                  // the adjoint, if `reached_in` is the current sweep
    std::array<Matrix, 2> work;  // whatever the operation keeps or needs room for
    std::uint64_t reached_in = 0;
    std::uint32_t first_edge = 0, edge_count = 0;  // its inputs, in TapeState's list
    bool needs_gradient = false;
    // What distinguishes two operations of one kind.
    double number = 0.0;
    Index i = 0, j = 0;
    Op opA = Op::none, opB = Op::none;
  };

  // An operation is begun (inputs checked), given its value, and committed; one that throws between
  // the two leaves no trace.
  static Operation& begin(const char* name, std::span<const Var> inputs);
  static Operation& begin(const char* name, std::initializer_list<Var> inputs);
  static Var commit(Var input, void (*pullback)(Reverse&));

  explicit TapeState(Tape* tape) : tape_(tape) {}
  Var leaf(const char* name, ConstMatrix value, bool needs_gradient);
  Var custom(std::span<const Var> inputs, Matrix value, Tape::Pullback pullback, const char* name);
  std::uint64_t sweep(Var scalar);
  const Matrix& gradient(Var var, std::uint64_t sweep);
  void clear();
  Index size() const { return size_; }

  static Operation& operation(Var var);
  static Tape& tape(Var var);

  static std::string shape(const Matrix& A);  // "3×4", for messages
  [[noreturn]] static void throw_shapes(const char* operation, const Matrix& a, const Matrix& b,
                                        const char* rule);
  static void require_square(const char* operation, const Matrix& A);

 private:
  Operation& next(const char* name);
  Var commit(void (*pullback)(Reverse&));
  static void pull_custom(Reverse& r);
  [[noreturn]] void report_non_finite(std::uint32_t last) const;

  Tape* tape_;
  std::vector<std::unique_ptr<Operation>> operations_;  // the first size_ are recorded
  std::vector<std::uint32_t> edges_;
  std::vector<Tape::Pullback> customs_;
  std::vector<Matrix*> custom_bars_;
  std::uint32_t size_ = 0;
  std::uint32_t edges_committed_ = 0;
  std::uint32_t generation_ = 1;
  std::uint64_t sweep_ = 0;
};

// What a pullback sees: the operation with its adjoint, and the inputs whose adjoints it adds to.
class TapeState::Reverse {
 public:
  Reverse(TapeState& state, Operation& operation) : tape(state), op(operation) {}
  TapeState& tape;
  Operation& op;

  const Matrix& bar() const { return op.bar; }
  const Matrix& value() const { return op.value; }
  int inputs() const { return static_cast<int>(op.edge_count); }
  const Matrix& input(int k) const { return source(k).value; }
  bool wants(int k) const { return source(k).needs_gradient; }

  // The adjoint of input k, zero if nothing has reached it yet: to be added to.
  Matrix& adjoint(int k) {
    if (reach(k)) source(k).bar.setZero();
    return source(k).bar;
  }
  // For BLAS: 0 when the adjoint of input k is still to be written, 1 when it is to be added to.
  double beta(int k) { return reach(k) ? 0.0 : 1.0; }
  Matrix& bar_of(int k) { return source(k).bar; }
  template <class Expression>
  void add(int k, const Expression& e) {
    if (!wants(k)) return;
    if (reach(k))
      source(k).bar = e;
    else
      source(k).bar += e;
  }

 private:
  Operation& source(int k) const {
    return *tape.operations_[tape.edges_[op.first_edge + static_cast<std::uint32_t>(k)]];
  }
  // Sizes the adjoint on first contact in this sweep, and says whether this was it.
  bool reach(int k) {
    Operation& s = source(k);
    if (s.reached_in == tape.sweep_) return false;
    s.reached_in = tape.sweep_;
    s.bar.resize(s.value.rows(), s.value.cols());
    return true;
  }
};

using Operation = TapeState::Operation;
using Reverse = TapeState::Reverse;

}  // namespace covary
