// test/fuzz/fuzz_programs.cpp -- random programs, compiled against interpreted, as many as one likes.
//
//   build/release/bin/fuzz_programs --seed 1 --count 2000     exit code 1 at the first difference, which is made
//                                                             small and printed as C++, IR and emitted text
//   … --target ascendc                                           emitted as AscendC and run on the CPU model; programs
//                                                             that it has no lowering for are counted
//   build/release/bin/fuzz_programs --seed 7 --count 1 --print   the programs as C++, without running them
//   … --print-cases                                              as test cases for printed.hpp
#include "codegen/cpp_printer.hpp"
#include "codegen/printer.hpp"
#include "codegen/shrink.hpp"
#include "fuzz/printed_options.hpp"
#include "fuzz/run_program.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

namespace {

using namespace trilith::codegen;

trilith::jit::Engine& engine() {
  static trilith::jit::Engine engine([] {
    trilith::jit::EngineConfig config;
    config.disk_cache = false;
    return config;
  }());
  return engine;
}

fuzz::Target target = fuzz::Target::Xsimd;
std::atomic<std::uint64_t> refused = 0;  ///< by the emitter of AscendC

RandomOptions options() {
  RandomOptions result;
  if (target == fuzz::Target::Ascendc) {
    result.hardware = true;
    result.prints = true;
    result.dynamic_extents = false;
  }
  return result;
}

/// Has the target no lowering for it? Where the emitter says so, which it does for users.
bool is_refused(const RandomProgram& program) {
  if (target == fuzz::Target::Xsimd) return false;
  try {
    (void)fuzz::text_for(target, program.kernel, signature_of(program, random_arguments(program)));
    return false;
  } catch (const pl::UserError&) {
    ++refused;
    return true;
  }
}

/// "" or what is wrong; an exception is wrong too, since random programs are correct by construction.
std::string fault_of(const RandomProgram& program, const Kernel& kernel) {
  try {
    if (is_refused(program)) return "";
    return fuzz::run_both_ways(engine(), program, kernel, target);
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Whether a smaller candidate still shows a fault of the same kind: a difference stays a difference, so that a
/// candidate that is merely refused does not count.
bool still_fails(const RandomProgram& program, const Kernel& kernel, bool was_difference) {
  try {
    verify(kernel);
    return !fuzz::run_both_ways(engine(), program, kernel, target).empty() && was_difference;
  } catch (const pl::UserError&) {
    return false;
  } catch (const std::exception&) {
    return !was_difference;
  }
}

void report(const RandomProgram& program, const std::string& what) {
  bool was_difference = true;
  try {
    (void)fuzz::run_both_ways(engine(), program, program.kernel, target);
  } catch (const std::exception&) {
    was_difference = false;
  }
  const Kernel small = shrink(program.kernel, [&](const Kernel& candidate) {
    return still_fails(program, candidate, was_difference);
  });
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(program.seed), what.c_str());
  try {
    std::printf("\n%s", to_cpp(small).c_str());
  } catch (const pl::UserError& error) {
    std::printf("\n%s\n", error.what());
  }
  std::printf("\n%s", to_text(small).c_str());
  try {
    std::printf("\n%s",
                fuzz::text_for(target, small, signature_of(program, random_arguments(program))).text.c_str());
  } catch (const std::exception& error) {
    std::printf("\nnot emitted: %s\n", error.what());
  }
}

/// A test case that calls the printed kernel with the program's arguments.
void print_case(const RandomProgram& program, const std::string& kernel) {
  const std::string seed = std::to_string(program.seed);
  std::string captures, arguments;
  const auto append = [](std::string& list, const char* what, DType dtype, std::size_t number) {
    list += std::string(list.empty() ? "" : ", ") + "given." + what + "<" + std::string(cpp_name_of(dtype)) +
            ">(" + std::to_string(number) + ")";
  };
  for (std::size_t i = 0; i < program.captures.size(); ++i)
    append(captures, "capture", program.captures[i].dtype, i);
  for (std::size_t i = 0; i < program.parameters.size(); ++i)
    append(arguments, program.parameters[i].is_tensor ? "tensor" : "scalar", program.parameters[i].dtype, i);
  std::printf(
      "namespace {\nnamespace program_%s {\n%s}  // namespace program_%s\n}  // namespace\n\n"
      "TEST_CASE(\"random program %s as C++: interpreted, native and compiled are equal\") {\n"
      "  fuzz::run_printed(%sU, [](const fuzz::Given& given) {\n"
      "    program_%s::%s(%s)(%s);\n  });\n}\n\n",
      seed.c_str(), kernel.c_str(), seed.c_str(), seed.c_str(), seed.c_str(), seed.c_str(),
      program.kernel.name.c_str(), captures.c_str(), arguments.c_str());
}

/// `count` programs that C++ can say.
void print_cases(std::uint64_t seed, std::uint64_t count) {
  std::printf(
      "// Random programs, printed by fuzz_programs --print-cases.\n#include \"fuzz/printed.hpp\"\n\n");
  for (std::uint64_t printed = 0, refused = 0; printed < count; ++seed) {
    const RandomProgram program = random_program(seed, fuzz::printed_options());
    try {
      print_case(program, to_cpp(program.kernel));
      ++printed;
    } catch (const pl::UserError& error) {
      std::printf("// %llu: %s\n\n", static_cast<unsigned long long>(seed), error.what());
      // A printer that refuses nearly everything would make a test of nothing.
      if (++refused > 10 * count + 10) throw;
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Random programs, compiled against interpreted");
  std::uint64_t seed = 1, count = 100;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  bool print = false, cases = false;
  app.add_option("--seed", seed, "of the first program")->capture_default_str();
  app.add_option("--count", count, "programs, with seeds that follow each other")->capture_default_str();
  app.add_option("--threads", threads, "programs at a time")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--target", target, "xsimd, or ascendc on the CPU model")
      ->transform(CLI::CheckedTransformer(std::map<std::string, fuzz::Target>{
          {"xsimd", fuzz::Target::Xsimd}, {"ascendc", fuzz::Target::Ascendc}}));
  app.add_flag("--print", print, "print the programs as C++ and run none");
  app.add_flag("--print-cases", cases, "print test cases of as many programs as can be said in C++");
  CLI11_PARSE(app, argc, argv);

  if (cases) {
    print_cases(seed, count);
    return 0;
  }
  if (print) {
    for (std::uint64_t i = 0; i < count; ++i)
      std::printf("%s\n", to_cpp(random_kernel(seed + i, options())).c_str());
    return 0;
  }
  std::atomic<std::uint64_t> next = 0, failures = 0;
  std::mutex reporting;
  const auto work = [&] {
    for (;;) {
      const std::uint64_t i = next++;
      if (i >= count || failures != 0) return;
      const RandomProgram program = random_program(seed + i, options());
      const std::string what = fault_of(program, program.kernel);
      if (what.empty()) continue;
      const std::scoped_lock lock(reporting);
      if (failures++ == 0) report(program, what);
    }
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  if (failures != 0) return 1;
  std::printf("%llu programs from seed %llu: compiled and interpreted alike\n",
              static_cast<unsigned long long>(count - refused), static_cast<unsigned long long>(seed));
  if (refused != 0)
    std::printf("%llu more have an operation that is refused on this target\n",
                static_cast<unsigned long long>(refused));
} catch (const std::exception& error) {
  std::fprintf(stderr, "fuzz_programs: %s\n", error.what());
  return 2;
}
