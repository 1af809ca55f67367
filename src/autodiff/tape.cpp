#include "covary/autodiff/tape.hpp"

#include <fmt/format.h>

#include <cmath>

#include "autodiff/operation.hpp"
#include "covary/error.hpp"

namespace covary {

Operation& TapeState::operation(Var var) {
  if (!var.tape_)
    throw InputError("this Var belongs to no tape; make one by Tape::input or Tape::constant");
  TapeState& state = var.tape_->state();
  if (var.generation_ != state.generation_)
    throw InputError(
        "this Var was recorded before its tape was cleared; record it again after clear()");
  return *state.operations_[var.id_];
}

Tape& TapeState::tape(Var var) {
  operation(var);
  return *var.tape_;
}

Operation& TapeState::next(const char* name) {
  if (size_ == operations_.size()) operations_.push_back(std::make_unique<Operation>());
  Operation& op = *operations_[size_];
  op.name = name;
  op.first_edge = edges_committed_;
  op.edge_count = 0;
  op.reached_in = 0;
  op.needs_gradient = false;
  edges_.resize(edges_committed_);
  return op;
}

Operation& TapeState::begin(const char* name, std::span<const Var> inputs) {
  if (inputs.empty())
    throw InputError(
        fmt::format("{} needs at least one input; a value without inputs is a "
                    "Tape::constant",
                    name));
  TapeState& state = tape(inputs[0]).state();
  Operation& op = state.next(name);
  for (Var input : inputs) {
    const Operation& source = operation(input);
    if (input.tape_ != state.tape_)
      throw InputError(
          fmt::format("{}: its inputs are on different tapes; record them on one", name));
    op.needs_gradient |= source.needs_gradient;
    state.edges_.push_back(input.id_);
  }
  op.edge_count = static_cast<std::uint32_t>(inputs.size());
  return op;
}

Operation& TapeState::begin(const char* name, std::initializer_list<Var> inputs) {
  return begin(name, std::span<const Var>(inputs.begin(), inputs.size()));
}

Var TapeState::commit(void (*pullback)(Reverse&)) {
  operations_[size_]->pullback = pullback;
  edges_committed_ = static_cast<std::uint32_t>(edges_.size());
  return Var(tape_, size_++, generation_);
}

Var TapeState::commit(Var input, void (*pullback)(Reverse&)) {
  return input.tape_->state().commit(pullback);
}

Var TapeState::leaf(const char* name, ConstMatrix value, bool needs_gradient) {
  Operation& op = next(name);
  op.needs_gradient = needs_gradient;
  op.value = value;
  return commit(nullptr);
}

Var TapeState::custom(std::span<const Var> inputs, Matrix value, Tape::Pullback pullback,
                      const char* name) {
  if (!pullback)
    throw InputError(fmt::format("{} has no pullback; give one, even if it does nothing", name));
  Operation& op = begin(name, inputs);
  op.value = std::move(value);
  op.i = static_cast<Index>(customs_.size());
  if (op.needs_gradient) customs_.push_back(std::move(pullback));
  return commit(inputs[0], pull_custom);
}

void TapeState::pull_custom(Reverse& r) {
  std::vector<Matrix*>& bars = r.tape.custom_bars_;
  bars.clear();
  for (int k = 0; k < r.inputs(); ++k) bars.push_back(r.wants(k) ? &r.adjoint(k) : nullptr);
  r.tape.customs_[static_cast<std::size_t>(r.op.i)](r.bar(), bars);
  for (int k = 0; k < r.inputs(); ++k) {
    if (!r.wants(k)) continue;
    const Matrix &bar = r.bar_of(k), &input = r.input(k);
    if (bar.rows() != input.rows() || bar.cols() != input.cols())
      throw InputError(
          fmt::format("the pullback of {} made the adjoint of input {} {}, but the "
                      "input is {}; add to the adjoint, do not assign it",
                      r.op.name, k, shape(bar), shape(input)));
  }
}

void TapeState::report_non_finite(std::uint32_t last) const {
  for (std::uint32_t n = 0; n <= last; ++n) {
    const Operation& op = *operations_[n];
    for (Index j = 0; j < op.value.cols(); ++j)
      for (Index i = 0; i < op.value.rows(); ++i)
        if (!std::isfinite(op.value(i, j)))
          throw NumericalError(fmt::format(
              "the value to differentiate is not finite: the first such value is {} at row {}, "
              "column {} of the {} {} (operation {} of {})",
              op.value(i, j), i, j, shape(op.value), op.name, n, size_));
  }
  throw NumericalError("the value to differentiate is not finite");
}

std::uint64_t TapeState::sweep(Var scalar) {
  Operation& last = operation(scalar);
  if (last.value.size() != 1)
    throw InputError(
        fmt::format("gradient wants a 1×1 value but {} gave {}; reduce it first, "
                    "by sum for example",
                    last.name, shape(last.value)));
  if (!std::isfinite(last.value(0, 0))) report_non_finite(scalar.id_);
  ++sweep_;
  if (!last.needs_gradient) return sweep_;  // a constant: every gradient is zero
  last.reached_in = sweep_;
  last.bar.setOnes(1, 1);
  for (std::uint32_t n = scalar.id_ + 1; n-- > 0;) {
    Operation& op = *operations_[n];
    if (op.reached_in != sweep_ || !op.pullback) continue;
    Reverse reverse(*this, op);
    op.pullback(reverse);
  }
  return sweep_;
}

const Matrix& TapeState::gradient(Var var, std::uint64_t sweep) {
  Operation& op = operation(var);
  if (sweep != sweep_)
    throw InputError(
        "these Gradients are of an earlier sweep; read them before the next "
        "gradient() or clear()");
  if (!op.needs_gradient)
    throw InputError(
        fmt::format("the gradient by a {} was asked for, which depends on no input; "
                    "record it with Tape::input to differentiate by it",
                    op.name));
  if (op.reached_in != sweep_) op.bar.setZero(op.value.rows(), op.value.cols());
  return op.bar;
}

void TapeState::clear() {
  customs_.clear();  // at once: they may hold much
  size_ = 0;
  edges_committed_ = 0;
  ++generation_;
  ++sweep_;
}

const Matrix& Var::value() const { return TapeState::operation(*this).value; }
bool Var::needs_gradient() const { return TapeState::operation(*this).needs_gradient; }
Tape& Var::tape() const { return TapeState::tape(*this); }
double Var::scalar() const {
  const Operation& op = TapeState::operation(*this);
  if (op.value.size() != 1)
    throw InputError(
        fmt::format("a scalar was asked of {}, which is {}", op.name, TapeState::shape(op.value)));
  return op.value(0, 0);
}

const Matrix& Gradients::operator[](Var var) const {
  if (&var.tape() != tape_) throw InputError("these Gradients are of another tape than the Var's");
  return tape_->state().gradient(var, sweep_);
}

Tape::Tape() : state_(std::make_unique<TapeState>(this)) {}
Tape::~Tape() = default;
Var Tape::input(ConstMatrix value) { return state_->leaf("input", value, true); }
Var Tape::input(double value) { return input(Eigen::Map<const Matrix>(&value, 1, 1)); }
Var Tape::constant(ConstMatrix value) { return state_->leaf("constant", value, false); }
Var Tape::constant(double value) { return constant(Eigen::Map<const Matrix>(&value, 1, 1)); }
Var Tape::custom(std::span<const Var> inputs, Matrix value, Pullback pullback, const char* name) {
  return state_->custom(inputs, std::move(value), std::move(pullback), name);
}
Var Tape::custom(std::initializer_list<Var> inputs, Matrix value, Pullback pullback,
                 const char* name) {
  return custom(std::span<const Var>(inputs.begin(), inputs.size()), std::move(value),
                std::move(pullback), name);
}
Gradients Tape::gradient(Var scalar) {
  if (&scalar.tape() != this) throw InputError("gradient was asked of another tape than the Var's");
  return Gradients(this, state_->sweep(scalar));
}
void Tape::clear() { state_->clear(); }
Index Tape::size() const { return state_->size(); }

std::string TapeState::shape(const Matrix& A) { return fmt::format("{}×{}", A.rows(), A.cols()); }

void TapeState::throw_shapes(const char* operation, const Matrix& a, const Matrix& b,
                             const char* rule) {
  throw InputError(
      fmt::format("{}: the shapes {} and {} do not fit; {}", operation, shape(a), shape(b), rule));
}

void TapeState::require_square(const char* operation, const Matrix& A) {
  if (A.rows() != A.cols())
    throw InputError(fmt::format("{} wants a square matrix, not {}", operation, shape(A)));
}

}  // namespace covary
