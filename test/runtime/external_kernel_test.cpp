// Kernels written by hand: pl::jit.incore_source.
#include "runtime/backend.hpp"
#include "support.hpp"

#include <fstream>
#include <sstream>

namespace {

using support::contains;
using support::message_of;

constexpr auto scale_signature =
    pl::signature<pl::Tensor<float>, pl::Out<pl::Tensor<float>>, pl::Scalar<float>>;

auto scale_kernel() { return pl::jit.incore_source("external/scale.cpp", "scale", scale_signature); }

/// A file of its own in a folder of its own; each text is another kernel.
class Written {
 public:
  explicit Written(const std::string& text, const std::string& name = "kernel.cpp") { write(name, text); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  [[nodiscard]] std::string path(const std::string& name = "kernel.cpp") const {
    return folder_.path() + "/" + name;
  }

 private:
  support::TemporaryFolder folder_;
};

/// A kernel `k` on one float tensor, whose body is given.
std::string body(const std::string& text, const std::string& before = "") {
  return "#include <pl/external.hpp>\n" + before +
         "extern \"C\" std::int32_t k(const pl::abi::Args* args, const pl::abi::Services* services) {\n"
         "  (void)services;\n  float* y = pl::external::data<float>(args, 0);\n" +
         text + "  return 0;\n}\n";
}

constexpr auto one_output = pl::signature<pl::Out<pl::Tensor<float>>>;

template <class Signature>
std::string refused(const std::string& file, Signature signature, const std::string& entry = "k") {
  pl::Array<float> y({4});
  return message_of<pl::SourceError>([&] { pl::jit.incore_source(file, entry, signature)(y); });
}

float first_of(const std::string& file) {
  pl::Array<float> y({4});
  pl::jit.incore_source(file, "k", one_output)(y);
  return y(0);
}

}  // namespace

TEST_CASE("a kernel written by hand runs like any other: called, compiled, bound, as a pl::Kernel") {
  support::Jit jit;
  auto scale = scale_kernel();
  for (const std::int64_t count : {0, 1, 7, 8, 9, 16, 17, 1000}) {
    pl::Array<float> x = support::numbers({count}), y({count});
    scale(x, y, 3.0f);
    for (std::int64_t i = 0; i < count; ++i) CHECK(y(i) == 3.0f * static_cast<float>(i));
  }
  CHECK(jit.compiles() == 1);  // one code for every shape
  pl::Array<float> x = support::numbers({2, 8}), y({2, 8});
  scale.compile(x, y, 2.0f)(x, y, 4.0f);
  CHECK(jit.compiles() == 2);  // another rank
  CHECK(y(1, 7) == 60.0f);
  scale.compile(x, y, 2.0f).bind(x, y, 5.0f)();
  CHECK(y(1, 7) == 75.0f);
  const pl::Kernel<void(pl::Tensor<float>, pl::Out<pl::Tensor<float>>, float)> kernel = scale;
  kernel(x, y, 6.0f);
  CHECK(y(1, 7) == 90.0f);
  CHECK(jit.compiles() == 2);
  CHECK(scale.name() == "scale");
  CHECK(contains(scale.emit("xsimd", x, y, 1.0f), "float by = external::scalar<float>(args, 0)"));
  CHECK(contains(message_of<pl::UserError>([&] { (void)scale.lower(x, y, 1.0f); }),
                 "is written by hand and has no IR"));
}

TEST_CASE("tasks and blocks of a device orchestration may be kernels written by hand") {
  support::Jit jit;
  auto scale = scale_kernel();
  pl::Array<float> x = support::numbers({4, 8}), y({4, 8}), z({4, 8});
  auto entry = pl::jit([&](pl::Tensor<float> a, pl::Out<pl::Tensor<float>> b, pl::Out<pl::Tensor<float>> c) {
    auto first = pl::submit(scale, a, b, 2.0f);
    pl::submit(scale, b, c, 5.0f, pl::deps = {first});
  });
  entry(x, y, z);
  CHECK(z(3, 7) == 310.0f);
  auto host = pl::jit.host([&](pl::Tensor<float> a, pl::Out<pl::Tensor<float>> b,
                               pl::Out<pl::Tensor<float>> c) { entry(a, b, c, pld::device = 0); });
  host.compile(z, y, x, jit.context.config())(z, y, x, jit.context.config());
  CHECK(x(3, 7) == 3100.0f);

  const Written numbered(body("  y[args->block_index] = float(args->block_count);\n"));
  auto number = pl::jit.incore_source(numbered.path(), "k", one_output);
  auto blocks = pl::jit([&](pl::Out<pl::Tensor<float>> out) { pl::spmd(3, number, out); });
  pl::Array<float> out({4}, 0.0f);
  blocks(out);
  CHECK((out(0) == 3.0f && out(2) == 3.0f && out(3) == 0.0f));
}

TEST_CASE("an eager run compiles what is written by hand, since there is no lambda") {
  support::Jit jit;
  const pl::Context eager({.cache_dir = support::shared_cache(), .eager = true});
  const pl::ContextScope scope(eager);
  pl::Array<float> x = support::numbers({8}), y({8});
  scale_kernel()(x, y, 3.0f);
  CHECK(y(7) == 21.0f);
  CHECK(eager.statistics().eager_calls == 0);
}

TEST_CASE("where nothing can be compiled a kernel written by hand says that it has no lambda") {
  const support::TemporaryFolder empty;
  {
    const pl::Context context({.cache_dir = empty.path(), .compile = false});
    const pl::ContextScope scope(context);
    pl::Array<float> x({8}), y({8});
    CHECK(contains(message_of<pl::ConfigError>([&] { scale_kernel()(x, y, 3.0f); }), "no cache holds scale"));
  }
}

TEST_CASE("where compiled code cannot run a kernel written by hand says that it has no lambda") {
  pl::detail::engine_hooks_for_tests().deny_executable_memory = true;
  {
    const pl::Context context(support::cached());
    const pl::ContextScope scope(context);
    const support::LogLines log;
    pl::Array<float> x({8}), y({8});
    const std::string message = message_of<pl::Error>([&] { scale_kernel()(x, y, 3.0f); });
    CHECK(contains(
        message, "so there is no lambda to run instead of compiled code: compiled kernels cannot run here"));
    CHECK(log.count("degraded") == 0);  // other kernels may still be asked for
  }
  pl::detail::engine_hooks_for_tests().deny_executable_memory = false;
}

TEST_CASE("a kernel written by hand is found in the disk cache, and edits of what it is made of are not") {
  support::Jit jit;
  const Written file(body("  y[0] = value();\n", "#include \"value.hpp\"\n"));
  file.write("value.hpp", "#include \"deeper.hpp\"\n");
  file.write("deeper.hpp", "inline float value() { return 1.0f; }\n");
  CHECK(first_of(file.path()) == 1.0f);
  CHECK(jit.compiles() == 1);
  {
    const pl::Context other(support::cached());
    const pl::ContextScope scope(other);
    CHECK(first_of(file.path()) == 1.0f);
    CHECK(other.statistics().disk_hits == 1);
    CHECK(other.statistics().compiles == 0);
  }
  file.write("deeper.hpp", "inline float value() { return 2.0f; }\n");
  CHECK(first_of(file.path()) == 2.0f);
  CHECK(jit.compiles() == 2);
  file.write("kernel.cpp", body("  y[0] = 3.0f;\n"));
  CHECK(first_of(file.path()) == 3.0f);
  file.write("kernel.cpp", body("  y[0] = value();\n", "#include \"value.hpp\"\n"));
  CHECK(first_of(file.path()) == 2.0f);
  CHECK(jit.compiles() == 3);
}

TEST_CASE("code knows the ranks that it is compiled for") {
  support::Jit jit;
  const Written file(body("  y[0] = float(pl::external::ranks[0]);\n"));
  auto kernel = pl::jit.incore_source(file.path(), "k", one_output);
  pl::Array<float> line({4}), block({2, 2, 2});
  kernel(line);
  kernel(block);
  CHECK(line(0) == 1.0f);
  CHECK(block(0, 0, 0) == 3.0f);
}

TEST_CASE("a missing file is told with the places that were tried") {
  support::Jit jit;
  const std::string message = refused("no_such_kernel.cpp", one_output);
  CHECK(contains(message, "external_kernel_test.cpp:"));
  CHECK(contains(message, "the file of the external kernel \"k\" cannot be read: tried "));
  CHECK(contains(message, "runtime/no_such_kernel.cpp, "));
  CHECK(contains(message,
                 "a relative path starts at the source file that names it, then at the working directory"));
}

TEST_CASE("a missing entry is told with what an entry looks like") {
  support::Jit jit;
  const Written file(body(""));
  const std::string message = refused(file.path(), one_output, "other");
  CHECK(contains(message, file.path() +
                              " has no function \"other\" at global scope; an entry is extern \"C\" "
                              "std::int32_t other(const pl::abi::Args*"));
  CHECK(contains(refused(file.path(), one_output, "two words"),
                 "the entry must be the name of a function at global scope"));
  const Written typed("#include <pl/external.hpp>\nextern \"C\" void k(const pl::abi::Args*) {}\n");
  CHECK(contains(refused(typed.path(), one_output),
                 "has another type than std::int32_t(const pl::abi::Args*, const"));
}

TEST_CASE("an error of the compiler is told at the file's line, with all that Clang says") {
  support::Jit jit;
  const Written file(body("  y[0] = undeclared;\n"));
  pl::Array<float> y({4});
  auto kernel = pl::jit.incore_source(file.path(), "k", one_output);
  try {
    kernel(y);
    FAIL("it compiled");
  } catch (const pl::SourceError& error) {
    CHECK(error.location().str() == file.path() + ":5:10");
    CHECK(contains(error.what(), "does not compile: use of undeclared identifier 'undeclared'"));
    CHECK(contains(error.what(), "external_kernel_test.cpp:"));
    CHECK(contains(error.what(), "y[0] = undeclared;\n"));  // Clang's own quotation
  }
  // The file is mended: a kernel object that is made now reads it anew.
  file.write("kernel.cpp", body("  y[0] = 1.0f;\n"));
  CHECK(first_of(file.path()) == 1.0f);
  CHECK(contains(refused(Written(body("  {\n")).path(), one_output), "does not compile"));
  CHECK(contains(
      refused(Written("#include \"absent.hpp\"\n" + body("")).path(), one_output),
      "'absent.hpp' file not found (it may include files beside it and what is in Trilith's header pack"));
  CHECK(contains(refused(Written(body("  throw 1;\n")).path(), one_output),
                 "cannot use 'throw' with exceptions disabled"));
}

TEST_CASE(
    "a file of any suffix, with a byte order mark or without a line at its end, is C++ with its own lines") {
  support::Jit jit;
  float number = 0;
  for (const char* name :
       {"kernel.cc", "kernel.cxx", "kernel.C", "kernel.c", "kernel.h", "kernel.inc", "kernel"}) {
    CAPTURE(name);
    const std::string value = std::to_string(++number) + "f";
    const Written file(body("  y[0] = " + value + ";\n"), name);
    CHECK(first_of(file.path(name)) == number);
    const Written wrong(body("  y[0] = " + value + " + undeclared;\n"), name);
    pl::Array<float> y({4});
    try {
      pl::jit.incore_source(wrong.path(name), "k", one_output)(y);
      FAIL("it compiled");
    } catch (const pl::SourceError& error) {
      CHECK(error.location().file == wrong.path(name));
      CHECK(error.location().line == 5);
    }
  }
  const Written marked("\xef\xbb\xbf" + body("  y[0] = 20.0f;\n"));
  CHECK(first_of(marked.path()) == 20.0f);
  std::string open_end = body("  y[0] = 21.0f;\n");
  open_end.pop_back();
  CHECK(first_of(Written(open_end).path()) == 21.0f);
}

TEST_CASE("what is opened and not closed is told at the file's end") {
  support::Jit jit;
  const Written file(body("  if (y != nullptr) {\n"));
  pl::Array<float> y({4});
  try {
    pl::jit.incore_source(file.path(), "k", one_output)(y);
    FAIL("it compiled");
  } catch (const pl::SourceError& error) {
    CHECK(error.location().file == file.path());
    CHECK(error.location().line == 7);
    CHECK(
        contains(error.what(), "a brace or parenthesis that is opened in the file is not closed at its end"));
  }
}

TEST_CASE("a signature that the file states must be the program's") {
  support::Jit jit;
  const Written file(body("  y[0] = 1.0f;\n", "TRILITH_SIGNATURE(k, \"out float[N, 8], int32\")\n"));
  CHECK(contains(
      refused(file.path(), one_output),
      "states the signature (out float[N, 8], int32), and the program gives (out float[any]); make the two "
      "agree"));
  constexpr auto n = pl::dynamic("N");
  auto right = pl::jit.incore_source(file.path(), "k",
                                     pl::signature<pl::Out<pl::Tensor<float, n, 8>>, pl::Scalar<int>>);
  pl::Array<float> y({2, 8});
  right(y, 1);
  CHECK(y(0, 0) == 1.0f);
  // Arguments are checked as those of any kernel.
  pl::Array<float> narrow({2, 4});
  CHECK(!message_of<pl::ShapeError>([&] { right(narrow, 1); }).empty());
}

TEST_CASE("symbols other than mem* are refused by name, and so are static constructors") {
  support::Jit jit;
  const std::string undefined =
      refused(Written(body("  y[0] = elsewhere(y[1]);\n", "extern \"C\" float elsewhere(float);\n")).path(),
              one_output);
  CHECK(contains(undefined, "does not load: "));
  CHECK(contains(undefined, "elsewhere"));
  CHECK(contains(undefined, "may refer to memcpy, memmove, memset and memcmp only"));
  CHECK(contains(
      refused(Written(body("  y[0] = table[0];\n", "volatile float start = 1;\nfloat table[] = {start};\n"))
                  .path(),
              one_output),
      "a static object needs a constructor to run"));
  const Written copies(
      body("  __builtin_memset(y, 0, unsigned(args->tensors[0].extents[0]) * 4u);\n  y[1] = 2.0f;\n"));
  CHECK(first_of(copies.path()) == 0.0f);
}

TEST_CASE("an include that the key cannot cover is refused") {
  support::Jit jit;
  const Written file(body("  y[0] = value();\n", "#define WHICH \"value.hpp\"\n#include WHICH\n"));
  file.write("value.hpp", "inline float value() { return 1.0f; }\n");
  const std::string message = refused(file.path(), one_output);
  CHECK(
      contains(message, "includes " + file.path("value.hpp") + " in a way that its cache key cannot cover"));
}

TEST_CASE("a fault of a kernel written by hand is told at its line") {
  support::Jit jit;
  pl::Array<float> x({8}), y({4});
  const std::string message = message_of<pl::ShapeError>([&] { scale_kernel()(x, y, 1.0f); });
  CHECK(contains(message, "external/scale.cpp:13: scale: elements of x and y: extent 4 where 8 is needed"));
}

TEST_CASE("an output of a kernel written by hand overlaps nothing; one argument may be pl::InOut") {
  support::Jit jit;
  pl::Array<float> x = support::numbers({8});
  CHECK(contains(message_of<pl::ShapeError>([&] { scale_kernel()(x, x, 2.0f); }), "cannot run in place"));
  const Written file(body("  for (int i = 0; i < args->tensors[0].extents[0]; ++i) y[i] += 1.0f;\n"));
  auto increment = pl::jit.incore_source(file.path(), "k", pl::signature<pl::InOut<pl::Tensor<float>>>);
  increment(x);
  CHECK(x(7) == 8.0f);
}

TEST_CASE("a kernel written by hand is a kernel: refused on the host level and inside other kernels") {
  support::Jit jit;
  pl::Array<float> x({8}), y({8});
  auto scale = scale_kernel();
  auto host = pl::jit.host([&](pl::Tensor<float> a, pl::Out<pl::Tensor<float>> b) { scale(a, b, 1.0f); });
  CHECK(contains(message_of<pl::LevelError>([&] { host(x, y); }), "was called in a host orchestrator"));
  const support::Eager eager;
  auto outer = pl::jit.incore([&](pl::Tensor<float> a, pl::Out<pl::Tensor<float>> b) { scale(a, b, 1.0f); });
  CHECK(contains(message_of<pl::LevelError>([&] { outer(x, y); }),
                 "is written by hand and cannot be part of another kernel"));
}
