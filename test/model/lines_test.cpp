// A fault is told with the kernel's own line, and through the launch's line map with the user's.
#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

TEST_CASE("a fault names the user's place of its line") {
  const std::uint32_t first_line = __LINE__ + 3;
  struct Kernel {
    static void run(void*) {
      TPipe pipe;
      TBuf<TPosition::VECCALC> buffer;
      pipe.InitBuffer(buffer, 256);
      Duplicate(buffer.Get<float>(), 1.0f, 64);
      Adds(buffer.Get<float>(), buffer.Get<float>(), 1.0f, 64);
    }
  };
  std::vector<AscendC::model::SourceLine> lines(first_line + 10);
  for (std::uint32_t i = 0; i < lines.size(); ++i)
    lines[i] = {"user.cpp", i < first_line ? 1 : 100 + i - first_line, 7};
  Faults sink;
  const trilith::model::Model model(sink);
  AscendC::model::Launch launch{};
  launch.name = "shift";
  launch.kernel = Kernel::run;
  launch.blocks = 1;
  launch.lines = lines.data();
  launch.line_count = static_cast<std::int64_t>(lines.size());
  CHECK(AscendC::model::launch(model.table(), launch) == 1);
  REQUIRE(sink.all.size() == 1);
  const trilith::model::Fault& fault = sink.all.front();
  CHECK(fault.kernel == "shift");
  CHECK(fault.core == "vector core 0");
  CHECK(fault.text_line == first_line + 4);
  CHECK(fault.file == "user.cpp");
  CHECK(fault.line == lines[fault.text_line - 1].line);
  CHECK(fault.column == 7);
  CHECK(fault.message.find("while Duplicate of line " + std::to_string(first_line + 3) + " (user.cpp:") !=
        std::string::npos);
}
