#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "covary/training/options.hpp"
#include "covary/training/problem.hpp"
#include "covary/training/state.hpp"

namespace covary {

// Trains a model in one part or several, from one start or several. A model calls it in the same
// order whenever it trains, so that parts which a saved state has behind it are not made again.
class Trainer {
 public:
  explicit Trainer(TrainingOptions options, TrainingState resume = {});

  const TrainingOptions& options() const { return options_; }
  // Somebody, or the limit of seconds, ended training: parts that follow only evaluate.
  bool stopped() const { return stopped_ != Stop::running; }
  // Whether training should end now: asked by models between parts, and while they prepare one.
  bool wants_to_stop();
  bool resumed() const { return resumed_; }
  double seconds() const;  // of the whole training, before it was resumed too

  // One part: L-BFGS from the problem's parameters, or from a point given; the parameters become
  // those at the minimum.
  struct Part {
    std::optional<Index> max_iterations = {};  // in place of the options'
    std::optional<double> gradient_tolerance = {};
    std::optional<Vector> start = {};
    // Of an earlier part, if this one goes on with the same objective: what is told is of both.
    std::optional<Summary> before = {};
  };
  // The part after an earlier one: both share the options' iterations.
  static Part rest_of(const TrainingOptions& options, std::optional<Summary> before);
  Minimum minimise(const Problem& problem, const Part& part);
  Minimum minimise(const Problem& problem) { return minimise(problem, Part()); }
  // The same with all parameters held whose path is, if anything else is free. Their flags are back
  // as they were at the end.
  using Held = std::function<bool(const std::string& path)>;
  std::optional<Minimum> minimise_held(const Problem& problem, const Held& held, const Part& part);

  // The best of starts first, …, first + count − 1, each trained by train(start). A start that
  // fails is a row of the summary's table; NumericalError with all the reasons when every one does.
  // improved() is called when the present start is the best so far. In the summary evaluations and
  // seconds are totals, the rest is the best start's.
  Minimum best_of(Index first, Index count, const std::function<Minimum(Index)>& train,
                  const std::function<void()>& improved = nullptr);
  // The usual case: one part for each start. Start 0 is where the parameters are, and made as
  // `first` says; start r is other_start(r). The jitter begins anew with each, blocks where they
  // are. All become those of the best found.
  Minimum minimise_from(const Problem& problem, Index starts,
                        const std::function<Vector(Index)>& other_start, const Part& first);
  Minimum minimise_from(const Problem& problem, Index starts,
                        const std::function<Vector(Index)>& other_start) {
    return minimise_from(problem, starts, other_start, Part());
  }

  // Work that is no minimisation, or one of many parts that are of no interest once it is done:
  // what it found is kept and given back when training is resumed beyond it.
  struct Found {
    Blocks blocks;
    std::string note = {};
  };
  // So is the jitter, which the work may raise.
  Found once(const std::string& name, const std::function<Found()>& work, Jitter* jitter = nullptr);

  // One part: natural gradients and Adam over minibatches.
  Minimum minimise(const MinibatchProblem& problem);

  // What is told of all parts and starts together: evaluations and seconds; and where nothing was
  // trained, that the value, which is there already, is that of the parameters given.
  void complete(Summary& summary) const;

 private:
  class Minibatches;

  bool take_done(const std::string& work, TrainingState::Part& out);
  std::optional<Minimum> done_before(const Problem& problem, Index parameters);
  void flush();
  void keep(TrainingState::Part part);
  TrainingProgress progress(const Jitter& jitter) const;
  void tell(const Problem& problem, const Lbfgs* run, bool over) const;
  Minimum evaluate_only(const Problem& problem, const Vector& u);
  Minimum run(const Problem& problem, const Part& part);
  LbfgsOptions options_of(const Problem& problem, const Part& part) const;
  Lbfgs begin(const Problem& problem, const Vector& start, const LbfgsOptions& options);
  Minimum end(const Problem& problem, const Lbfgs& lbfgs);
  std::string limit_of_seconds() const;

  TrainingOptions options_;
  TrainingState state_;
  std::size_t next_ = 0;                         // of state_.done
  std::optional<TrainingState::Part> at_limit_;  // over, unless its limit is raised on resuming
  bool resumed_ = false;
  Stop stopped_ = Stop::running;
  Index start_ = 0, starts_ = 1, evaluations_ = 0, rejected_ = 0;
  double seconds_before_, began_;
};

}  // namespace covary
