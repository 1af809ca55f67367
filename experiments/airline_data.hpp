#pragma once

#include <memory>
#include <string>

#include "classification_support.hpp"
#include "covary/statistics/rows.hpp"
#include "small.hpp"

namespace covary::experiments {

// Flights that were late (1) or not (0).
struct Flights {
  std::string name;
  Classes train = {};                        // all rows for training, or some of those in the file
  Classes test = {};                         // in the columns of `train`
  std::shared_ptr<FileRows> file = nullptr;  // where they are not in memory

  Index rows() const { return file ? file->rows() : train.size(); }
  Index inputs() const { return train.X.cols(); }
};
inline Index flights_in_memory() { return few(10000, 500); }

// 27 272 flights of January, 1995 to 2008, two thirds of them for training, from seven inputs.
// `rotated`: the inputs are all principal components of the standardised columns.
Flights real_flights(bool rotated, std::uint64_t seed);
// A stand-in for millions, of eight inputs: N rows for training, streamed from a temporary file, of
// which so many as flights_in_memory are kept beside as many for testing. The components are those
// of the kept rows.
Flights generated_flights(Index N, bool rotated, std::uint64_t seed);

}  // namespace covary::experiments
