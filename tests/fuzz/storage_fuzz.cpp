// libFuzzer target over the model file. What is accepted must survive writing and reading again;
// what is refused must be refused by a FileError. Checksums are not compared in this build (see
// seal.hpp): otherwise no changed input would get further.
// tests/fuzz/run.sh builds and runs it. The corpus may be an empty directory: the seeds below are
// offered through the mutator.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "covary/error.hpp"
#include "covary/storage/container.hpp"

namespace {

covary::Container seed(unsigned number) {
  covary::Container c;
  if (number % 2 == 1) c.metadata = R"({"kind":"exact","x":[1,2.5,{"y":null}]})";
  if (number / 2 % 2 == 1) c.put_matrix("Z", covary::Matrix::Ones(2, 3));
  if (number / 4 % 2 == 1) c.put_bytes("b", {});
  if (number / 8 % 2 == 1) c.put_integers("n", std::vector<std::int64_t>{1, -1});
  return c;
}

void try_file(std::string_view file) {
  covary::Container accepted;
  try {
    accepted = covary::parse_container(std::as_bytes(std::span(file)));
  } catch (const covary::FileError&) {
    return;
  }
  const auto again = covary::parse_container(covary::serialise_container(accepted));
  if (again.metadata != accepted.metadata || again.tensors != accepted.tensors) std::abort();
}

// The first line of the input is the header after the metadata, the rest is the data section: most
// random changes of a whole file spoil its metadata, and the table of arrays is never looked at.
std::string behind_a_sound_seal(std::string_view input) {
  const std::string zeros(64, '0');
  const std::string front = R"({"__metadata__":{"covary":"{\"sha256_self\":\")" + zeros +
                            R"(\",\"format_version\":1,\"sha256_data\":\")" + zeros +
                            R"(\",\"sha256_tensors\":\")" + zeros + R"(\"}"},)";
  const std::string_view line = input.substr(0, input.find('\n'));
  const std::uint64_t length = front.size() + line.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  file.append(front).append(line);
  if (line.size() < input.size()) file.append(input.substr(line.size() + 1));
  return file;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned random) {
  // Now and then a whole file to begin from; else the length is made right after every other
  // change.
  if (random % 1000 == 0) {
    const auto bytes = serialise_container(seed(random / 1000));
    if (bytes.size() <= max_size) {
      std::memcpy(data, bytes.data(), bytes.size());
      return bytes.size();
    }
  }
  std::uint64_t header = 0;
  const std::size_t before = size;
  if (size >= 8) std::memcpy(&header, data, 8);
  size = LLVMFuzzerMutate(data, size, max_size);
  if (random % 2 == 0 && size >= 8 && header <= before) {
    header = header + size > before ? header + size - before : 0;
    std::memcpy(data, &header, 8);
  }
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try_file(input);
  try_file(behind_a_sound_seal(input));
  return 0;
}
