// Damaged files of a whole model, and containers whose checksums match but whose content does not
// make sense: load_model refuses them by a FileError or has a usable model, and nothing else.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "covary/error.hpp"
#include "covary/models/regression.hpp"
#include "covary/random/random.hpp"
#include "covary/storage/container.hpp"

namespace covary {
namespace {

using nlohmann::json;

Container first_version() { return read_container(COVARY_TEST_DIR "/models/first_version.cov"); }

std::vector<std::byte> whole_file() { return serialise_container(first_version()); }

std::string refusal(std::span<const std::byte> bytes) {
  try {
    load_bytes(bytes).as<RegressionFit>();
  } catch (const FileError& e) {
    return e.what();
  }
  return "accepted";
}

std::string refusal(const Container& c) { return refusal(serialise_container(c)); }

std::size_t header_size(const std::vector<std::byte>& file) {
  std::uint64_t n = 0;
  std::memcpy(&n, file.data(), sizeof n);
  return 8 + static_cast<std::size_t>(n);
}

TEST(ModelDamage, EveryTruncationIsRefused) {
  const auto file = whole_file();
  ASSERT_EQ(refusal(file), "accepted");
  for (std::size_t n = 0; n < file.size(); ++n)
    ASSERT_NE(refusal(std::span(file).first(n)), "accepted") << n << " of " << file.size();
}

TEST(ModelDamage, EveryChangedByteIsRefused) {
  auto file = whole_file();
  const std::size_t header = header_size(file);
  for (std::size_t i = 0; i < file.size(); ++i) {
    const std::byte before = file[i];
    for (const int mask : {0x01, 0x20, 0xff}) {
      file[i] = before ^ static_cast<std::byte>(mask);
      ASSERT_NE(refusal(file), "accepted")
          << "byte " << i << (i < header ? " of the header" : " of the data") << ", mask " << mask;
    }
    file[i] = before;
  }
}

TEST(ModelDamage, RandomBytesAreRefused) {
  Random random(1);
  for (int run = 0; run < 500; ++run) {
    std::vector<std::byte> file(static_cast<std::size_t>(3000.0 * random.uniform()));
    for (std::byte& b : file) b = static_cast<std::byte>(256.0 * random.uniform());
    ASSERT_NE(refusal(file), "accepted");
  }
}

// Behind checksums that match, as somebody with a text editor and a hash could make them.
TEST(ModelDamage, ChangedMetadataIsRefusedOrUsable) {
  const Container good = first_version();
  const char alphabet[] = "0123456789.-+eE\"{}[]:,()@*= abcdefghnlstrux\\";
  Random random(2);
  const auto pick = [&](std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(n)));
  };
  int refused = 0, usable = 0;
  for (int run = 0; run < 3000; ++run) {
    Container c = good;
    for (std::size_t change = 0, changes = 1 + pick(3); change < changes; ++change) {
      const std::size_t at = pick(c.metadata.size());
      const char fresh = alphabet[pick(sizeof alphabet - 1)];
      if (const auto kind = pick(3); kind == 0)
        c.metadata[at] = fresh;
      else if (kind == 1)
        c.metadata.erase(at, 1 + pick(8));
      else
        c.metadata.insert(at, 1 + pick(4), fresh);
    }
    std::vector<std::byte> file;
    try {
      file = serialise_container(c);
    } catch (const InputError&) {
      continue;  // no JSON object any more: the container refuses to write it
    }
    try {
      const RegressionFit m = load_bytes(file).as<RegressionFit>();
      const Prediction p = m.predict(RowMatrix::Zero(1, m.posterior.dims()));
      EXPECT_FALSE((p.variance_f.array() < 0.0).any());
      EXPECT_FALSE(m.parameters.table().empty());
      EXPECT_FALSE(m.summary.full().empty());
      ++usable;
    } catch (const FileError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 200);  // the test reaches both
  EXPECT_GT(usable, 200);
}

TEST(ModelDamage, EveryFieldOfAnotherTypeIsRefusedOrUsable) {
  const json good = json::parse(first_version().metadata);
  const auto flat = good.flatten();
  for (const auto& [pointer, value] : flat.items())
    for (const json& other : {json(nullptr), json(-1), json(1e300), json("x"), json::array(),
                              json::object(), json(true), json(4611686018427387904)}) {
      json bad = good;
      bad[json::json_pointer(pointer)] = other;
      Container c = first_version();
      c.metadata = bad.dump();
      try {
        const RegressionFit m = load_bytes(serialise_container(c)).as<RegressionFit>();
        m.predict(RowMatrix::Zero(1, m.posterior.dims()));
        m.parameters.table();
        m.summary.full();
      } catch (const FileError&) {
        continue;
      }
    }
}

TEST(ModelDamage, EveryArrayMissingOrOfAnotherShapeOrTypeIsRefused) {
  const Container good = first_version();
  for (const auto& [name, tensor] : good.tensors) {
    Container c = good;
    c.tensors.erase(name);
    if (name != "standard_errors" && name != "point_noise") {
      EXPECT_NE(refusal(c).find("no array '" + name + "'"), std::string::npos) << name;
    }
    c.put_rows(name, RowMatrix::Ones(3, 7));
    EXPECT_NE(refusal(c).find("has the shape"), std::string::npos) << name << ": " << refusal(c);
    c.tensors.erase(name);
    c.put_integers(name, std::vector<std::int64_t>(12, 1));
    EXPECT_NE(refusal(c).find("has the type I64"), std::string::npos) << name;
    if (name == "Y" || name == "standard_errors") continue;  // may hold NaN
    c.tensors.erase(name);
    Tensor spoilt = tensor;
    const double nan = std::nan("");
    std::memcpy(spoilt.bytes.data(), &nan, sizeof nan);
    c.tensors.emplace(name, spoilt);
    EXPECT_NE(refusal(c), "accepted") << name;
  }
}

TEST(ModelDamage, RowsWithoutColumnsAndModelsThatFitNoMemoryAreTold) {
  const auto with = [&](Index n, Index d, Index p) {
    Container c = first_version();
    for (const char* name : {"X", "Y", "point_noise"}) c.tensors.erase(name);
    c.put_rows("X", RowMatrix::Zero(n, d));
    c.put_rows("Y", RowMatrix::Zero(n, p));
    return refusal(c);
  };
  EXPECT_NE(with(1'000'000'000'000, 0, 0).find("no rows or no columns"), std::string::npos);
  EXPECT_NE(with(12, 4, 0).find("no rows or no columns"), std::string::npos);
  EXPECT_NE(with(0, 4, 2).find("no rows or no columns"), std::string::npos);
  // 10 MB of rows whose factor would take 800 GB.
  EXPECT_NE(with(316'000, 2, 2).find("more than the memory of this machine"), std::string::npos);
}

TEST(ModelDamage, UpdatesThatCannotHaveBeenAreRefused) {
  for (const std::vector<std::int64_t>& appended :
       {std::vector<std::int64_t>{12}, {-1}, {0}, {6, 6}, {9'000'000'000'000'000'000}}) {
    Container c = first_version();
    c.put_integers("appended", appended);
    EXPECT_NE(refusal(c).find("cannot have added"), std::string::npos);
  }
  Container c = first_version();
  RowMatrix Y = c.rows("Y");
  Y.topRows(6).setConstant(std::nan(""));
  c.tensors.erase("Y");
  c.put_rows("Y", Y);
  c.put_integers("appended", std::vector<std::int64_t>{6});
  EXPECT_NE(refusal(c).find("no observed value before"), std::string::npos) << refusal(c);
}

}  // namespace
}  // namespace covary
