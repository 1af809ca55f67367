#include "program.hpp"

int main(int argc, char** argv) { return covary::cli::run_covary(argc, argv); }
