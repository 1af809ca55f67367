#pragma once

#include "covary/autodiff/tape.hpp"

namespace covary {

Var sum(Var A);            // 1×1
Var mean(Var A);           // 1×1
Var row_sums(Var A);       // R×1: each row summed
Var column_sums(Var A);    // 1×C: each column summed
Var row_logsumexp(Var A);  // R×1: log Σⱼ exp Aᵢⱼ
Var trace(Var A);          // 1×1

}  // namespace covary
