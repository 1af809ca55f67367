#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>

#include "covary/error.hpp"
#include "covary/storage/atomic_file.hpp"
#include "covary/storage/container.hpp"
#include "storage/safetensors.hpp"
#include "storage/seal.hpp"
#include "storage/sha256.hpp"

namespace covary {
namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are written as they lie in memory");

using Sink = std::function<void(std::span<const std::byte>)>;
using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

void check(const std::string& name, const Tensor& tensor) {
  if (name.empty() || name == "__metadata__") {
    throw InputError(fmt::format("an array in a model file cannot be called '{}'", name));
  }
  const auto bytes = byte_count(tensor.dtype, tensor.shape);
  if (!bytes || *bytes != tensor.bytes.size() || tensor.shape.size() > kMostDimensions) {
    throw InputError(fmt::format(
        "the array {} has {} bytes, which do not agree with its {} sizes and its type {} (F64, I64 "
        "or U8; at most {} dimensions)",
        shown(name), tensor.bytes.size(), tensor.shape.size(), shown(tensor.dtype),
        kMostDimensions));
  }
}

// Eight-byte numbers first, so that each of them is aligned in the file.
std::vector<std::pair<std::string, const Tensor*>> data_order(const Container& container) {
  std::vector<std::pair<std::string, const Tensor*>> order;
  for (const auto& [name, tensor] : container.tensors) order.emplace_back(name, &tensor);
  std::stable_partition(order.begin(), order.end(),
                        [](const auto& item) { return item.second->dtype != "U8"; });
  return order;
}

void emit(const Container& container, const Sink& sink) {
  TensorEntries entries;
  Sha256 data;
  std::uint64_t offset = 0;
  const auto order = data_order(container);
  for (const auto& [name, tensor] : order) {
    check(name, *tensor);
    const std::uint64_t end = offset + tensor->bytes.size();
    entries[name] = {tensor->dtype, tensor->shape, offset, end};
    data.update(tensor->bytes);
    offset = end;
  }
  const std::string table = tensor_table(entries);
  std::string header =
      header_text(close_seal({container.metadata, data.hex(), sha256(table)}), table);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  if (header.size() > kLongestHeader) {
    throw InputError(
        fmt::format("the metadata of the model takes {} bytes and a model file allows "
                    "{}; put long lists into arrays",
                    header.size(), kLongestHeader));
  }
  const std::uint64_t length = header.size();
  sink(std::as_bytes(std::span(&length, 1)));
  sink(std::as_bytes(std::span(header)));
  for (const auto& item : order) sink(item.second->bytes);
}

Container load(std::uint64_t size, const ReadAt& read, const std::string& source) {
  std::uint64_t header_size = 0;
  if (size < sizeof header_size) {
    refuse(source, fmt::format("it is not a Covary model file: it has only {} bytes", size));
  }
  read(0, std::as_writable_bytes(std::span(&header_size, 1)));
  const std::uint64_t after_length = size - sizeof header_size;
  if (header_size > kLongestHeader)
    refuse(source, "it is not a Covary model file; if it holds data, give a model file before it");
  if (header_size > after_length) {
    refuse(source,
           fmt::format("it is not a Covary model file or is truncated: its header should take {} "
                       "bytes and the file has {}",
                       header_size, size));
  }
  std::string text(header_size, '\0');
  read(sizeof header_size, std::as_writable_bytes(std::span(text)));
  const SafetensorsHeader header = parse_header(text, source);
  if (!header.covary) {
    refuse(source,
           "it is a safetensors file but not a Covary model file: it has no __metadata__.covary");
  }
  const Seal seal = open_seal(*header.covary, source);
  require_digest(sha256(tensor_table(header.tensors)), seal.sha256_tensors, "table of arrays",
                 source);

  Container container{seal.metadata, {}, source};
  Sha256 data;
  for (const auto* item : tiling(header.tensors, after_length - header_size, source)) {
    const auto& [name, entry] = *item;
    Tensor tensor{entry.dtype, entry.shape, std::vector<std::byte>(entry.size())};
    read(sizeof header_size + header_size + entry.begin, tensor.bytes);
    data.update(tensor.bytes);
    container.tensors.emplace(name, std::move(tensor));
  }
  require_digest(data.hex(), seal.sha256_data, "arrays", source);
  return container;
}

struct OpenFile {
  int descriptor;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

void write_container(const std::string& path, const Container& container) {
  // The file is opened first: a missing directory is told before gigabytes are hashed.
  AtomicFile file(path);
  emit(container, [&](std::span<const std::byte> bytes) { file.write(bytes); });
  file.commit();
}

std::vector<std::byte> serialise_container(const Container& container) {
  std::vector<std::byte> all;
  emit(container, [&](std::span<const std::byte> bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
  });
  return all;
}

Container parse_container(std::span<const std::byte> bytes, const std::string& source) {
  return load(
      bytes.size(),
      [&](std::uint64_t offset, std::span<std::byte> out) {
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
      },
      source);
}

Container read_container(const std::string& path) {
  const std::string source = fmt::format("'{}'", path);
  // Without O_NONBLOCK the name of a pipe would make this wait for ever.
  const OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0) refuse(source, reason());
  if (!S_ISREG(status.st_mode)) refuse(source, "it is not a regular file");
  const auto read_at = [&](std::uint64_t offset, std::span<std::byte> out) {
    while (!out.empty()) {
      const ssize_t got =
          ::pread(file.descriptor, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(source, reason());
      if (got == 0) refuse(source, "it became shorter while it was being read");
      offset += static_cast<std::uint64_t>(got);
      out = out.subspan(static_cast<std::size_t>(got));
    }
  };
  try {
    return load(static_cast<std::uint64_t>(status.st_size), read_at, source);
  } catch (const std::bad_alloc&) {
    refuse(source, fmt::format("its {} bytes do not fit into memory", status.st_size));
  }
}

}  // namespace covary
