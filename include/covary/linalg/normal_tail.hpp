#pragma once

namespace covary {

// log Φ(z), its slope r(z) = φ(z)/Φ(z), and h(z) = r(z) + z: with them
//   (log Φ)″ = −r·h,   (log Φ)‴ = r·(h² + r·h − 1).
// In the lower tail r → −z and h → 0⁺; h is made there without cancellation.
struct NormalTail {
  double log_cdf;
  double slope;   // r
  double excess;  // h
};
NormalTail normal_tail(double z);

}  // namespace covary
