// jit/cache/disk_cache.cpp
#include "jit/cache/disk_cache.hpp"

#include "jit/file.hpp"
#include "jit/loader/host_cpu.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace trilith::jit {
namespace {

namespace fs = std::filesystem;

// A machine has one target CPU, an upgrade of Trilith brings a new header; each is about 20 MB.
constexpr std::size_t kept_headers = 4;
constexpr std::string_view entry_suffix = ".entry";

/// Marks as just used, for eviction. A folder that is read only stays as it is.
void touch(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

struct Aged {
  std::string path;
  std::uint64_t bytes;
  timespec used;
};

bool older(const Aged& a, const Aged& b) {
  return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
}

/// Files below `folder` with `suffix`; those that vanish meanwhile are left out.
std::vector<Aged> files_below(const std::string& folder, std::string_view suffix) {
  std::vector<Aged> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string path = at->path().string();
    if (!path.ends_with(suffix)) continue;
    struct stat status = {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    files.push_back({std::move(path), static_cast<std::uint64_t>(status.st_size), status.st_mtim});
  }
  return files;
}

std::string digest_of(const std::string& path) {
  const fs::path file(path);
  return file.parent_path().filename().string() + file.stem().string();
}

// A writer that was killed leaves its temporary file; an hour is far beyond the longest write.
constexpr std::time_t abandoned_seconds = 3600;

void sweep_abandoned(const std::string& folder) {
  std::error_code error;
  const std::time_t now = std::time(nullptr);
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (path.find(".tmp.") == std::string::npos) continue;
    struct stat status = {};
    if (lstat(path.c_str(), &status) == 0 && now - status.st_mtim.tv_sec > abandoned_seconds)
      unlink(path.c_str());
  }
}

}  // namespace

DiskCache::DiskCache(const CacheDirectory& directory, Options options)
    : directory_(directory), options_(std::move(options)), root_(directory.path + "/v1") {}

std::string DiskCache::entry_path(const std::string& digest) const {
  return root_ + "/entries/" + digest.substr(0, 2) + "/" + digest.substr(2) + std::string(entry_suffix);
}

std::string DiskCache::header_path(const std::string& digest) const {
  return root_ + "/headers/" + digest + ".pch";
}

bool DiskCache::keep_source(const std::string& digest, const std::string& text, std::string& path) const {
  if (!make_folder(root_ + "/sources")) return false;
  const std::string file = root_ + "/sources/" + digest + ".cpp";
  if (!publish_file(file, text, file_mode())) return false;
  path = file;
  return true;
}

bool DiskCache::make_folder(const std::string& path) const {
  std::string made;
  for (const fs::path& part : fs::path(path).lexically_relative(directory_.path)) {
    made += "/" + part.string();
    const std::string folder = directory_.path + made;
    if (mkdir(folder.c_str(), 0700) == 0) {
      if (options_.shared) chmod(folder.c_str(), 0755);
    } else if (errno != EEXIST) {
      return false;
    }
  }
  return true;
}

bool DiskCache::make_header_folder() const { return make_folder(root_ + "/headers"); }

LookupResult DiskCache::find(const std::string& digest) const {
  LookupResult result;
  const std::string path = entry_path(digest);
  std::string bytes;
  // A symbolic link could lead to a file that another user controls.
  if (!read_file(path, bytes, /*follow_link=*/false)) {
    struct stat status = {};
    if (errno == ELOOP || (lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode))) {
      result.outcome = Lookup::corrupt;
      result.detail = "the entry is a symbolic link";
      unlink(path.c_str());
    }
    return result;
  }
  std::optional<CacheEntry> entry = decode_entry(bytes, result.detail);
  if (entry && jit::digest(entry->key) != digest) {
    entry.reset();
    result.detail = "the entry belongs to another key";
  }
  if (!entry) {
    result.outcome = Lookup::corrupt;
    unlink(path.c_str());
    return result;
  }
  const auto missing = missing_features(entry->required_features, options_.cpu_features);
  if (!missing.empty()) {
    result.outcome = Lookup::lacks_features;
    for (const std::string& feature : missing) result.detail += (result.detail.empty() ? "" : ", ") + feature;
    return result;
  }
  touch(path);
  result.outcome = Lookup::hit;
  result.bytes = bytes.size();
  result.entry = std::move(*entry);
  return result;
}

bool DiskCache::publish(const std::string& digest, const CacheEntry& entry, std::string& problem,
                        std::uint64_t& bytes) {
  const std::string path = entry_path(digest);
  const std::string text = encode_entry(entry);
  if (!make_folder(fs::path(path).parent_path().string()) || !publish_file(path, text, file_mode())) {
    problem = path + " cannot be written (" + std::strerror(errno) + ")";
    return false;
  }
  bytes = text.size();
  if (published_since_scan_ != ~std::uint64_t{0}) published_since_scan_ += bytes;
  if (options_.hide_after_publish) unlink(path.c_str());
  return true;
}

void DiskCache::evict(const std::function<bool(const std::string& digest)>& in_use) {
  if (published_since_scan_ < options_.limit_bytes / 16) return;
  published_since_scan_ = 0;
  std::vector<Aged> files = files_below(root_ + "/entries", entry_suffix);
  std::uint64_t total = 0;
  for (const Aged& file : files) total += file.bytes;
  if (total <= options_.limit_bytes) return;
  sweep_abandoned(root_);
  std::sort(files.begin(), files.end(), older);
  // A tenth below the limit, so that the next entries do not each pay for a scan and a deletion.
  const std::uint64_t aim = options_.limit_bytes - options_.limit_bytes / 10;
  for (const Aged& file : files) {
    if (total <= aim) break;
    if (in_use(digest_of(file.path))) continue;
    unlink(file.path.c_str());
    total -= file.bytes;
  }
}

FileLock DiskCache::lock(const std::string& digest, const std::function<bool()>& enough) const {
  if (!directory_.writable || !make_folder(root_ + "/locks")) return {};
  return {root_ + "/locks/" + digest.substr(0, 2) + ".lock", options_.lock_wait, enough};
}

void DiskCache::evict_headers() const {
  std::vector<Aged> files = files_below(root_ + "/headers", ".pch");
  if (files.size() <= kept_headers) return;
  std::sort(files.begin(), files.end(), older);
  for (std::size_t i = 0; i + kept_headers < files.size(); ++i) {
    unlink(files[i].path.c_str());
    unlink((files[i].path + ".sum").c_str());
  }
}

std::vector<EntryFile> DiskCache::list() const {
  std::vector<EntryFile> entries;
  const std::time_t now = std::time(nullptr);
  for (const Aged& file : files_below(root_ + "/entries", entry_suffix))
    entries.push_back(
        {file.path, digest_of(file.path), file.bytes, static_cast<double>(now - file.used.tv_sec)});
  std::sort(entries.begin(), entries.end(),
            [](const EntryFile& a, const EntryFile& b) { return a.age_seconds < b.age_seconds; });
  return entries;
}

std::vector<std::string> DiskCache::headers() const {
  std::vector<std::string> paths;
  for (const Aged& file : files_below(root_ + "/headers", ".pch")) paths.push_back(file.path);
  return paths;
}

std::string DiskCache::explain_miss(const std::vector<KeyPart>& key) const {
  std::string best_name;
  std::string best_difference;
  std::size_t best_count = key.size() + 1;
  for (const EntryFile& file : list()) {
    std::string bytes;
    std::string reason;
    if (!read_file(file.path, bytes, false)) continue;
    const std::optional<CacheEntry> entry = decode_entry(bytes, reason);
    if (!entry) continue;
    std::size_t count = 0;
    std::string difference;
    for (const KeyPart& part : key) {
      const auto other = std::find_if(entry->key.begin(), entry->key.end(),
                                      [&](const KeyPart& candidate) { return candidate.name == part.name; });
      if (other != entry->key.end() && other->value == part.value) continue;
      ++count;
      difference += (difference.empty() ? "" : "; ") + part.name + ": \"" + part.value + "\" wanted, \"" +
                    (other == entry->key.end() ? "" : other->value) + "\" stored";
    }
    if (count < best_count) {
      best_count = count;
      best_difference = difference;
      best_name = entry->name;
    }
  }
  if (best_count > key.size()) return "the cache is empty";
  return "nearest entry \"" + best_name + "\" differs in " + best_difference;
}

std::size_t DiskCache::clear() const {
  std::size_t removed = 0;
  for (const char* folder : {"/entries", "/headers", "/sources"}) {
    for (const Aged& file : files_below(root_ + folder, ""))
      removed += unlink(file.path.c_str()) == 0 ? 1 : 0;
  }
  return removed;
}

}  // namespace trilith::jit
