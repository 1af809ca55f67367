#pragma once

#include "covary/autodiff/arithmetic.hpp"
#include "covary/autodiff/elementwise.hpp"
#include "covary/autodiff/factorisation.hpp"
#include "covary/autodiff/products.hpp"
#include "covary/autodiff/reductions.hpp"
#include "covary/autodiff/reshaping.hpp"
#include "covary/autodiff/tape.hpp"
