#pragma once

#include <functional>
#include <map>
#include <string>

#include "covary/kernels/kernel.hpp"

namespace covary {

// Kernels of the user's own, by the name expressions call them.
using KernelTable = std::map<std::string, std::function<Kernel()>>;

// Reads a kernel expression; Kernel::print() writes one back, which makes the same kernel. The
// grammar:
//
//   expression = term { "+" term } ;
//   term       = factor { "*" factor } ;
//   factor     = ( number | call | "(" expression ")" ) { "@" columns } ;
//   call       = name [ "(" [ argument { "," argument } ] ")" ] ;
//   argument   = "ard" | number | key "=" number { "," number } | "dims" "=" columns | expression ;
//   columns    = range { "," range } ;   range = integer [ ":" integer ] ;
//
// A number in a product is a fixed scale. Throws ExpressionError pointing at the column of a
// mistake.
Kernel parse_kernel(const std::string& text, const KernelTable& extra = {});

}  // namespace covary
