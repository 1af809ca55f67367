// The command line with a model of its own.
#include "mean_only.hpp"
#include "program.hpp"

int main(int argc, char** argv) {
  covary::add_model(covary::testing::mean_only());
  return covary::cli::run_covary(argc, argv);
}
