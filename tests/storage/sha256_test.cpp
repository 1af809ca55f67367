#include "storage/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace covary {
namespace {

struct Vector {
  std::string message, digest;
};

// The examples of FIPS 180-4 and the NIST test vectors.
const Vector kVectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "qrs"
     "mnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {"\xbd", "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b"},
    {std::string(55, '\0'), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7"},
    {std::string(56, '\0'), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb"},
    {std::string(57, '\0'), "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785"},
    {std::string(64, '\0'), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b"},
    {std::string(1000, 'A'), "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4"},
    {std::string(1'000'000, 'a'),
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

TEST(Sha256, NistVectors) {
  for (const auto& [message, digest] : kVectors) {
    EXPECT_EQ(sha256(message), digest) << message.size() << " bytes";
    EXPECT_EQ(Sha256(/*hardware=*/false).update(message).hex(), digest)
        << message.size() << " bytes, portable";
  }
}

std::string every_length_message() {
  std::string text;
  for (int i = 0; i < 300; ++i) text += char(i * 7 + i / 11);
  return text;
}

TEST(Sha256, AnyPartitionGivesTheSameDigest) {
  const std::string text = every_length_message();
  const std::string whole = sha256(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.update(std::string_view(text).substr(0, cut)).update(std::string_view(text).substr(cut));
    ASSERT_EQ(hash.hex(), whole) << "cut at " << cut;
  }
  Sha256 bytewise;
  for (const char c : text) bytewise.update(std::string_view(&c, 1));
  EXPECT_EQ(bytewise.hex(), whole);
}

TEST(Sha256, HardwareAndPortableAgreeAtEveryLength) {
  const std::string text = every_length_message();
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const auto head = std::string_view(text).substr(0, n);
    ASSERT_EQ(Sha256(true).update(head).hex(), Sha256(false).update(head).hex()) << n;
  }
}

TEST(Sha256, TheDigestDoesNotEndTheStream) {
  Sha256 hash;
  hash.update("a");
  EXPECT_EQ(hash.hex(), sha256("a"));
  EXPECT_EQ(hash.update("bc").hex(), sha256(std::string_view("abc")));
}

}  // namespace
}  // namespace covary
