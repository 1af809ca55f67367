#include "covary/features/record.hpp"

#include <fmt/format.h>

#include "covary/error.hpp"
#include "covary/features/basis.hpp"
#include "covary/features/choice.hpp"
#include "covary/features/eigen.hpp"
#include "covary/features/exponential.hpp"
#include "covary/features/fourier.hpp"
#include "covary/features/orthogonal.hpp"
#include "covary/features/parametric.hpp"
#include "covary/features/stacked.hpp"
#include "covary/features/windows.hpp"
#include "features/stationary_kernel.hpp"

namespace covary {

namespace {

using Kind = FeatureChoice::Kind;

// One of each part of the kernel, whose structure says what they are of.
FeaturesPtr restore_stacked(const FeatureRecord& record, const Kernel& kernel) {
  constexpr Index most = 1000000;
  if (record.dims < 1 || record.dims > most)
    throw InputError(
        fmt::format("stacked features of {} columns: from 1 to {}", record.dims, most));
  const std::vector<KernelPart> parts = kernel_parts(kernel, record.dims);
  if (record.parts.size() != parts.size())
    throw InputError(fmt::format("{} features are stacked for the {} parts of {}",
                                 record.parts.size(), parts.size(), kernel.print()));
  std::vector<FeaturesPtr> features;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (record.parts[i].name == "stacked") throw InputError("stacked features are stacked once");
    features.push_back(restore_features(record.parts[i], parts[i].kernel));
  }
  return stacked_features(kernel, record.dims, features);
}

}  // namespace

FeatureRecord record_features(const Features& features, ConstVector z) {
  FeatureRecord out{features.name(), features.size(), features.dims(), z, {}, {}};
  Index at = 0;
  for (const FeaturesPtr& part : stacked_parts(features)) {
    out.parts.push_back(record_features(*part, z.segment(at, part->parameter_count())));
    at += part->parameter_count();
  }
  out.degrees = degrees_of(features);
  if (out.degrees.empty()) out.degrees = harmonics_of(features);
  return out;
}

FeaturesPtr restore_features(const FeatureRecord& record, const Kernel& kernel) {
  const std::string& name = record.name;
  if (name == "stacked") return restore_stacked(record, kernel);
  const Index M = record.size, D = record.dims;
  const Vector& z = record.z;
  const std::vector<std::int64_t>& degrees = record.degrees;
  const bool windows = name == "multiscale_basis";
  const FeatureChoice choice(windows || name == "basis" ? "basis(1)" : name);
  const bool with_degrees = choice.kind == Kind::hilbert ||
                            (choice.kind == Kind::fourier && D > 1) ||
                            (choice.kind == Kind::eigen && !is_exponential(kernel, D));
  const Index S = z.size();
  const double* at = z.data();
  const auto expect = [&](bool fits) {
    if (M < 1 || D < 1 || !fits || degrees.empty() == with_degrees)
      throw InputError(
          fmt::format("{} features in {} columns do not have {} parameters and {} "
                      "degrees when there are {} of them",
                      name, D, S, degrees.size(), M));
  };
  constexpr Index largest = 1 << 28;  // so that products of two do not overflow
  expect(M <= largest && D <= largest);
  const Index MD = M * D;
  const auto rows = [&](Index n, Index cols) {
    RowMatrix out = Eigen::Map<const RowMatrix>(at, n, cols);
    at += n * cols;
    return out;
  };
  const auto whole = [&](Index least, Index most) {
    Eigen::MatrixX<Index> own(M, D);
    for (Index m = 0; m < M; ++m)
      for (Index d = 0; d < D; ++d) {
        own(m, d) = degrees[static_cast<std::size_t>(m * D + d)];
        if (own(m, d) < least || own(m, d) > most)
          throw InputError(
              fmt::format("a feature of degree {}: from {} to {}", own(m, d), least, most));
      }
    return own;
  };
  switch (choice.kind) {
    case Kind::points:
      expect(S == MD);
      return inducing_points(kernel, rows(M, D));
    case Kind::basis: {
      if (windows) {
        expect(M > 0 && S > 0 && S % (M * (2 * D + 1)) == 0);
        const Index C = S / (M * (2 * D + 1));
        const RowMatrix Z = rows(M * C, D), widths = rows(M * C, D);
        return multiscale_basis_features(kernel, Z, widths, rows(M, C));
      }
      expect(M > 0 && S > 0 && S % (M * (D + 1)) == 0);
      const Index C = S / (M * (D + 1));
      const RowMatrix Z = rows(M * C, D);
      return basis_features(kernel, Z, rows(M, C));
    }
    case Kind::multiscale: {
      expect(S == 2 * MD);
      const RowMatrix Z = rows(M, D);
      return multiscale_features(kernel, Z, rows(M, D));
    }
    case Kind::frequency: {
      expect(S == 2 * D + MD + M);
      const RowMatrix centre = rows(1, D), widths = rows(1, D), omega = rows(M, D);
      return frequency_features(kernel, centre.row(0).transpose(), widths.row(0).transpose(), omega,
                                rows(M, 1).col(0));
    }
    case Kind::time_frequency: {
      expect(S == 3 * MD + M);
      const RowMatrix Z = rows(M, D), widths = rows(M, D), omega = rows(M, D);
      return time_frequency_features(kernel, Z, widths, omega, rows(M, 1).col(0));
    }
    case Kind::fourier:
      if (D == 1) {
        expect(S == 2 && M % 2 == 1);
        return fourier_features(kernel, z(0), z(1), (M - 1) / 2);
      }
      expect(S == 2 * D && static_cast<Index>(degrees.size()) == MD);
      return fourier_products(kernel, rows(D, 2), whole(-M, M));
    case Kind::l2_fourier:
      expect(S == 2 && D == 1 && M % 2 == 1);
      return l2_fourier_features(kernel, z(0), z(1), (M - 1) / 2);
    case Kind::orthogonal:
      expect(S == 2 && D == 1);
      return orthogonal_features(kernel, z(0), z(1), M);
    case Kind::empirical: {
      expect(S > 0 && M > 0 && S % (D + M) == 0);
      const RowMatrix X = rows(S / (D + M), D);
      return empirical_features(kernel, X, rows(S / (D + M), M));
    }
    case Kind::rff:
    case Kind::ssgp:
      expect(M % 2 == 0 && 2 * S == MD);
      return choice.kind == Kind::rff ? random_fourier_features(kernel, rows(M / 2, D))
                                      : sparse_spectrum_features(kernel, rows(M / 2, D));
    case Kind::bumps:
      expect(S == MD);
      return bump_features(kernel, rows(M, D));
    case Kind::eigen:
    case Kind::hilbert: {
      expect(S == 2 * D && (!with_degrees || static_cast<Index>(degrees.size()) == MD));
      if (!with_degrees) return exponential_eigen_features(kernel, z(0), z(1), M);
      const Eigen::MatrixX<Index> own = whole(0, 100000);
      return choice.kind == Kind::eigen ? eigen_features(kernel, z.head(D), z.tail(D), own)
                                        : hilbert_features(kernel, z.head(D), z.tail(D), own);
    }
  }
  return nullptr;
}

}  // namespace covary
