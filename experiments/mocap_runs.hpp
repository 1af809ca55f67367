#pragma once

#include <string>
#include <vector>

#include "covary/models/gplvm.hpp"

namespace covary::experiments {

// Walks and runs of CMU's subject 35, and how dynamical models complete one (mocap-walk-run).
constexpr double frame_seconds = 0.05;

struct Motions {
  RowMatrix Y, times;
  std::vector<Index> sequences;
  Index missing_from = 0;  // frame of a run to complete
};

// Of a table of the data set all motions, or only one.
Motions read_motions(const std::string& name, Index only = 0);

struct Error {
  double SC = 0.0, RA = 0.0;
};

// Columns that are missing, and the best of the document's table.
struct Problem {
  std::string name;
  std::vector<Index> missing, seen;
  double best_SC, best_RA;

  Problem(std::string n, Index first, Index end, double SC, double RA);
  // Of the missing columns, as predicted: SC by the scales, RA in degrees.
  Error error(const RowMatrix& predicted, const Motions& run, const Vector& scale) const;
  RowMatrix masked(const Motions& run) const;
};

// Of the training runs, nine dimensions; the dynamics' kernel, or none.
GplvmOptions walk_options(const Motions& train, const std::string& dynamics, std::uint64_t seed);

// A dynamical model of the training runs, then for each problem the same with a further run among
// the data: the bound, dimensions in use and the lengthscale over time of the former; of the latter
// the bound and the missing columns of the run as completed.
struct Completed {
  double bound = 0.0, dims = 0.0, lengthscale = 0.0;
  struct Of {
    double bound = 0.0;
    RowMatrix missing;
  };
  std::vector<Of> problems;

  Vector numbers() const;
  static Index count(const std::vector<Problem>& problems, Index frames);  // of these
  static Completed from(const Vector& v, const std::vector<Problem>& problems, Index frames);
};
// From a lengthscale over time, or with 0 from the likeliest.
Completed complete(const Motions& train, const Motions& run, const std::vector<Problem>& problems,
                   const std::string& kernel, double lengthscale, std::uint64_t seed);

}  // namespace covary::experiments
