#pragma once

#include "common.hpp"

namespace covary::cli {

// Reads the call, runs the verb that it names, prints what it hands back and returns the exit
// status.
int run_program(CLI::App& app, const std::vector<std::unique_ptr<Verb>>& verbs, int argc,
                char** argv);

// The command line `covary`, with all of its verbs.
int run_covary(int argc, char** argv);

}  // namespace covary::cli
