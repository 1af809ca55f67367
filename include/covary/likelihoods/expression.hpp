#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "covary/likelihoods/likelihood.hpp"

namespace covary {

// Likelihoods of the user's own, by the name expressions call them.
using LikelihoodTable = std::map<std::string, std::function<Likelihood()>>;

// Reads a likelihood; Likelihood::print() writes one back, and parse(print(l)) == l. The grammar:
//
//   likelihood = name [ "(" [ argument { "," argument } ] ")" ] ;
//   argument   = "logit" | "probit" | number | key "=" number ;
//
// Throws ExpressionError pointing at the column of a mistake.
Likelihood parse_likelihood(const std::string& text, const LikelihoodTable& extra = {});

// The expression with the number of classes in its place, where it leaves that to the data, as
// "softmax" and "one_vs_rest(probit)" do. Nothing for any other.
std::optional<std::string> with_classes(const std::string& expression, Index classes);

// The names of the built-in ones, one expression each that can be parsed.
std::vector<std::string> likelihood_examples();

}  // namespace covary
