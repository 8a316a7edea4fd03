// jit/cache/entry.cpp
#include "jit/cache/entry.hpp"

#include <cstdint>
#include <cstring>

namespace trilith::jit {
namespace {

constexpr std::string_view magic = "TRILITH\n";
constexpr std::size_t checksum_size = 64;
constexpr std::size_t header_size = 8 + 4 + checksum_size;

void put_number(std::string& bytes, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

void put(std::string& bytes, std::string_view text) {
  put_number(bytes, text.size(), 8);
  bytes += text;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number(int width) {
    std::uint64_t value = 0;
    if (bytes_.size() < static_cast<std::size_t>(width)) return fail();
    for (int i = 0; i < width; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
    bytes_.remove_prefix(static_cast<std::size_t>(width));
    return value;
  }
  std::string text() {
    const std::uint64_t size = number(8);
    if (size > bytes_.size()) {
      fail();
      return {};
    }
    std::string result(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return result;
  }
  /// A count cannot exceed the bytes left: each element takes some.
  std::uint64_t count() {
    const std::uint64_t value = number(8);
    return value > bytes_.size() ? fail() : value;
  }
  [[nodiscard]] bool complete() const { return good_ && bytes_.empty(); }

 private:
  std::uint64_t fail() {
    good_ = false;
    bytes_ = {};
    return 0;
  }
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace

std::string encode_entry(const CacheEntry& entry) {
  std::string body;
  put_number(body, entry.key.size(), 8);
  for (const KeyPart& part : entry.key) {
    put(body, part.name);
    put(body, part.value);
  }
  put_number(body, entry.required_features.size(), 8);
  for (const std::string& feature : entry.required_features) put(body, feature);
  for (const std::string* text : {&entry.name, &entry.symbol, &entry.metadata, &entry.object})
    put(body, *text);

  std::string bytes(magic);
  put_number(bytes, cache_format, 4);
  bytes += content_hash(body);
  return bytes + body;
}

std::optional<CacheEntry> decode_entry(std::string_view bytes, std::string& reason) {
  if (bytes.size() < header_size) {
    reason = "truncated";
    return std::nullopt;
  }
  if (bytes.substr(0, magic.size()) != magic) {
    reason = "wrong magic";
    return std::nullopt;
  }
  Reader head(bytes.substr(magic.size(), 4));
  if (head.number(4) != cache_format) {
    reason = "another format version";
    return std::nullopt;
  }
  const std::string_view body = bytes.substr(header_size);
  if (bytes.substr(magic.size() + 4, checksum_size) != content_hash(body)) {
    reason = "checksum does not match";
    return std::nullopt;
  }
  Reader reader(body);
  CacheEntry entry;
  for (std::uint64_t left = reader.count(); left > 0; --left) {
    KeyPart part;
    part.name = reader.text();
    part.value = reader.text();
    entry.key.push_back(std::move(part));
  }
  for (std::uint64_t left = reader.count(); left > 0; --left)
    entry.required_features.push_back(reader.text());
  for (std::string* text : {&entry.name, &entry.symbol, &entry.metadata, &entry.object})
    *text = reader.text();
  if (!reader.complete()) {
    reason = "malformed body";
    return std::nullopt;
  }
  return entry;
}

}  // namespace trilith::jit
