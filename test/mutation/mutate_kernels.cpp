// What synchronises an emitted kernel is needed: a program that is run on the model of AscendC with any one barrier, event,
// queue step, free, cache clean or pad less ends with a fault or prints something else. A model that ran everything in
// order would let all of them through.
//
//   mutate_kernels [--most N] LIST
//
// LIST has a program a line: its name, its file and its arguments, '|' between them. The first run of a program writes the
// texts of its kernels (TRILITH_ASCENDC_DIR); each further one finds one of them with one statement less. Texts that
// differ in numbers alone, as those of one kernel for several shapes do, are one kernel; so are statements of a text that do,
// with the lines beside them, as those of the copies of a loop's body do. A statement that the program never
// reaches does not count: a fault in its place is not noticed either. --most: of each program only so many statements, spread
// evenly. Prints what is not noticed, and fails where that is more than 5 %.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "mutate_kernels: %s\n", message.c_str());
  std::exit(2);
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Lines split(const std::string& text, char at) {
  Lines parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

struct Program {
  std::string name;
  Lines command;
};

struct Outcome {
  int status = 0;
  std::string output;
  bool operator==(const Outcome&) const = default;
};

/// Runs a program with the kernels of a folder. One that hangs is ended, which is an outcome of its own.
Outcome run(const Program& program, const fs::path& texts, const fs::path& cache) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  Lines variables{"TRILITH_PLATFORM=a2a3model", "TRILITH_ASCENDC_DIR=" + texts.string(),
                  "TRILITH_CACHE_DIR=" + cache.string()};
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, "TRILITH_", 8) != 0) variables.emplace_back(*variable);
  const auto pointers = [](const Lines& words) {
    std::vector<char*> result;
    for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
    result.push_back(nullptr);
    return result;
  };
  pid_t child = 0;
  if (posix_spawn(&child, program.command[0].c_str(), &actions, nullptr, pointers(program.command).data(),
                  pointers(variables).data()) != 0)
    fail(program.command[0] + " does not start");
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Outcome outcome;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  for (bool killed = false;;) {
    pollfd ready{ends[0], POLLIN, 0};
    if (poll(&ready, 1, 1000) > 0) {
      std::array<char, 4096> some{};
      const ssize_t got = read(ends[0], some.data(), some.size());
      if (got <= 0) break;
      outcome.output.append(some.data(), static_cast<std::size_t>(got));
    } else if (!killed && std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      killed = true;
    }
  }
  close(ends[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

/// Statements that order, free or pad, by their first word.
constexpr std::array<const char*, 12> kinds{
    "PipeBarrier<", "SetFlag<",  "WaitFlag<",   "CrossCoreSetFlag<",         "CrossCoreWaitFlag(",
    ".EnQue(",      ".DeQue<",   "FreeTensor(", "DataCacheCleanAndInvalid<", "SetAtomicNone(",
    "DataCopyPad(", "Duplicate("};

struct Mutant {
  fs::path file;
  std::size_t first = 0, last = 0;  ///< lines that are left out
  const char* kind = "";
};

const char* kind_of(const std::string& line) {
  const std::size_t code = line.find_first_not_of(' ');
  if (code == std::string::npos || line.compare(code, 2, "//") == 0) return nullptr;
  // "AscendC::" in front of it, or the name of a queue: SetFlag< is no part of CrossCoreSetFlag<.
  for (const char* kind : kinds) {
    const std::size_t at = line.find(kind);
    if (at == std::string::npos) continue;
    if (kind[0] == '.' || (at != 0 && (line[at - 1] == ':' || line[at - 1] == '.'))) return kind;
  }
  return nullptr;
}

/// The event of a SetFlag or WaitFlag: what stands behind the name.
std::string event_of(const std::string& line) { return line.substr(line.find("Flag<")); }

std::string without_numbers(std::string text) {
  std::erase_if(text, [](char character) { return character >= '0' && character <= '9'; });
  return text;
}

void add_mutants(const fs::path& file, std::vector<Mutant>& mutants) {
  const Lines lines = split(text_of(file), '\n');
  std::set<std::string> seen;
  std::string comment;  // of the user's statement
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find("// ") != std::string::npos) comment = lines[i];
    const char* const kind = kind_of(lines[i]);
    if (kind == nullptr) continue;
    const std::string beside =
        (i == 0 ? "" : lines[i - 1]) + lines[i] + (i + 1 < lines.size() ? lines[i + 1] : "");
    if (!seen.insert(without_numbers(comment + beside)).second) continue;
    Mutant mutant{file, i, i, kind};
    while (mutant.last + 1 < lines.size() && lines[mutant.last].find(';') == std::string::npos) ++mutant.last;
    // A wait goes with its flag: alone it would be another mistake.
    if (std::strcmp(kind, "SetFlag<") == 0 && i + 1 < lines.size() &&
        lines[i + 1].find("::WaitFlag<") != std::string::npos && event_of(lines[i]) == event_of(lines[i + 1]))
      mutant.last = ++i;
    mutants.push_back(mutant);
  }
}

struct Count {
  int dropped = 0, caught = 0;
};

class Mutation {
 public:
  explicit Mutation(std::size_t most) : most_(most) {
    std::string name = (fs::temp_directory_path() / "mutate_kernels_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail("no temporary folder");
    folder_ = name;
  }
  ~Mutation() {
    std::error_code error;
    fs::remove_all(folder_, error);
  }

  void measure(const Program& program) {
    const fs::path texts = folder_ / "texts", cache = folder_ / "cache";
    fs::remove_all(texts);
    fs::create_directories(texts);
    const Outcome right = run(program, texts, cache);
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(texts)) files.push_back(entry.path());
    std::ranges::sort(files);
    std::vector<Mutant> mutants;
    for (const fs::path& file : files)
      if (seen_.insert(without_numbers(text_of(file))).second) add_mutants(file, mutants);
    if (most_ != 0 && mutants.size() > most_) {
      std::vector<Mutant> some;
      for (std::size_t i = 0; i < most_; ++i) some.push_back(mutants[i * mutants.size() / most_]);
      mutants = std::move(some);
    }
    const int before = total_.dropped, caught_before = total_.caught;
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> workers;
    for (unsigned worker = 0; worker < std::max(1U, std::thread::hardware_concurrency()); ++worker)
      workers.emplace_back([&, worker] {
        const fs::path own = folder_ / ("texts" + std::to_string(worker));
        fs::remove_all(own);
        fs::copy(texts, own);
        for (std::size_t i = 0; (i = next++) < mutants.size();)
          try_one(program, mutants[i], own, cache, right);
      });
    for (std::thread& worker : workers) worker.join();
    std::printf("%s: %d of %d caught, of %zu kernels\n", program.name.c_str(), total_.caught - caught_before,
                total_.dropped - before, files.size());
    std::fflush(stdout);
  }

  [[nodiscard]] bool report() const {
    for (const auto& [kind, count] : by_kind_)
      std::printf("  %-28s %d of %d\n", kind.c_str(), count.caught, count.dropped);
    const double share = total_.dropped == 0 ? 0 : 100.0 * total_.caught / total_.dropped;
    std::printf("%d of %d caught: %.1f %%\n", total_.caught, total_.dropped, share);
    return share >= 95;
  }

 private:
  void try_one(const Program& program, const Mutant& mutant, const fs::path& own, const fs::path& cache,
               const Outcome& right) {
    const std::string text = text_of(mutant.file);
    const Lines lines = split(text, '\n');
    const fs::path file = own / mutant.file.filename();
    const auto outcome_with = [&](const std::string& instead) {
      std::string changed;
      for (std::size_t i = 0; i < lines.size(); ++i)
        changed += (i == mutant.first                      ? instead
                    : i > mutant.first && i <= mutant.last ? std::string()
                                                           : lines[i]) +
                   "\n";
      std::ofstream(file) << changed;
      return run(program, own, cache);
    };
    const Outcome outcome = outcome_with("");
    const bool caught = outcome != right;
    // Nothing has set it: the model faults.
    const bool reached = caught || outcome_with("AscendC::WaitFlag<AscendC::HardEvent::V_MTE2>(5);") != right;
    std::ofstream(file) << text;
    // What no compiler takes says nothing of the model.
    if (!reached || outcome.output.find("does not compile") != std::string::npos) return;
    const std::lock_guard lock(mutex_);
    ++total_.dropped;
    total_.caught += caught ? 1 : 0;
    Count& count = by_kind_[mutant.kind];
    ++count.dropped;
    count.caught += caught ? 1 : 0;
    if (!caught)
      std::printf("  not noticed: %s, %s:%zu: %s\n", program.name.c_str(), file.filename().c_str(),
                  mutant.first + 1,
                  lines[mutant.first].substr(lines[mutant.first].find_first_not_of(' ')).c_str());
  }

  const std::size_t most_;
  fs::path folder_;
  std::set<std::string> seen_;
  std::mutex mutex_;
  Count total_;
  std::map<std::string, Count> by_kind_;
};

}  // namespace

int main(int argc, char** argv) {
  std::size_t most = 0;
  int at = 1;
  if (at + 1 < argc && std::strcmp(argv[at], "--most") == 0) {
    most = std::strtoul(argv[at + 1], nullptr, 10);
    at += 2;
  }
  if (at + 1 != argc) fail("mutate_kernels [--most N] LIST");
  std::ifstream list(argv[at]);
  if (!list) fail(std::string(argv[at]) + " cannot be read");
  Mutation mutation(most);
  for (std::string line; std::getline(list, line);) {
    const Lines words = split(line, '|');
    if (words.size() < 2) continue;
    mutation.measure({words[0], {words.begin() + 1, words.end()}});
  }
  return mutation.report() ? 0 : 1;
}
