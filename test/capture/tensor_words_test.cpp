// Tensors used where tiles belong: the compiler says so in words of the language, and the mended line is accepted.
#include "test/capture/support.hpp"

#include <doctest/doctest.h>

using namespace capture_test;

TEST_CASE("a tensor in arithmetic and a tile in a tensor's place are told in words of the language") {
  struct Pair {
    const char *wrong, *text, *mended;
  };
  const std::string tile = "a tile is written by pl::store: y = pl::store(tile, y)";
  const std::string arithmetic = "arithmetic is for tiles: pl::load(x) makes one of the tensor x";
  const Pair pairs[] = {
      {"y = pl::store(x + 1.0f, y);", arithmetic.c_str(), "y = pl::store(pl::load(x) + 1.0f, y);"},
      {"y = pl::store(2 * x, y);", arithmetic.c_str(), "y = pl::store(2 * pl::load(x), y);"},
      {"y = pl::store(pl::load(x) / x, y);", arithmetic.c_str(),
       "y = pl::store(pl::load(x) / pl::load(x), y);"},
      {"y = pl::load(x);", tile.c_str(), "y = pl::store(pl::load(x), y);"},
  };
  const Scratch scratch;
  const auto file = scratch.path / "snippet.cpp";
  for (const Pair& pair : pairs)
    for (const bool mended : {false, true}) {
      write(file, std::string("#include <pl/pl.hpp>\nauto k = pl::jit.incore([](pl::Tensor<float> x, "
                              "pl::Out<pl::Tensor<float>> y) {\n") +
                      (mended ? pair.mended : pair.wrong) + "\n});\n");
      std::string command = std::string(TRILITH_CAPTURE_TOOL) + " -o " + (scratch.path / "out.hpp").string() +
                            " " + file.string() + " --";
      for (const std::string& flag : flags()) command += " " + flag;
      const Run result = run(command);
      INFO(pair.wrong << "\n" << result.output);
      CHECK(result.exit_code == (mended ? 0 : 1));
      CHECK((result.output.find(pair.text) != std::string::npos) != mended);
      if (!mended) CHECK(result.output.find(file.string() + ":3:") != std::string::npos);
    }
}
