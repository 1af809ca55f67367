#pragma once

namespace covary {

// r(z) = φ(z)/Φ(z), the slope of log Φ, and h(z) = r(z) + z: with them
//   (log Φ)″ = −r·h,   (log Φ)‴ = r·(h² + r·h − 1).
// In the lower tail r → −z and h → 0⁺; h is made there without cancellation.
struct NormalTail {
  double slope;   // r
  double excess;  // h
};
NormalTail normal_tail(double z);

}  // namespace covary
