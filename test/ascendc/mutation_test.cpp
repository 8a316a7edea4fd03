// What synchronises an emitted kernel is needed: without any one barrier, event, queue step or free, the model faults or the
// result differs. A model that ran everything in order would let all of them through.
#include "ascendc/on_model.hpp"
#include "emitter/kernels.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace ascendc_test;
using namespace emitter_test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool synchronises(const std::string& line) {
  for (const char* word : {"PipeBarrier<", ".FreeTensor(", ".EnQue(", "SetFlag<"})
    if (line.find(word) != std::string::npos) return true;
  return false;
}

struct Count {
  int dropped = 0, caught = 0;
  std::string missed;
};

/// Drops each line that synchronises, one at a time.
void mutate(const Kernel& kernel, const std::vector<ArgumentSpec>& specs, Count& count) {
  const Signature signature = emitter_test::signature_of(kernel, specs);
  const Kernel specialised = specialise(kernel, signature);
  const ascendc::Emitted emitted = ascendc::emit(specialised, signature);
  const std::vector<std::string> lines = lines_of(emitted.text);

  Options options;
  options.special_values = false;
  const auto result = [&](const std::string& text) {
    std::mt19937_64 random(7);
    std::vector<std::unique_ptr<Memory>> memory;
    std::vector<pl::abi::Tensor> tensors;
    for (const ArgumentSpec& spec : specs) {
      memory.push_back(std::make_unique<Memory>(std::get<TensorSpec>(spec), options, random));
      tensors.push_back(
          {memory.back()->first(), memory.back()->spec().extents.data(), memory.back()->strides().data()});
    }
    const Compiled compiled = compile_text(emitted, text, specialised);
    Host host;
    host.services.model = compiled.model;
    const pl::abi::Args args{tensors.data(), nullptr, 0, 1};
    if (compiled.entry(&args, &host.services) != 0 || !faults().text.empty()) return std::string("fault");
    const Memory& last = *memory.back();
    return std::string(reinterpret_cast<const char*>(last.data()),
                       static_cast<std::size_t>(last.count()) * size_of(last.spec().dtype));
  };
  const std::string right = result(emitted.text);
  REQUIRE(right != "fault");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!synchronises(lines[i])) continue;
    std::string text;
    for (std::size_t j = 0; j < lines.size(); ++j) {
      // A wait goes with its flag: alone it would be another mistake.
      const bool wait = j == i + 1 && lines[i].find("SetFlag<") != std::string::npos;
      text += (j == i || wait ? std::string() : lines[j]) + "\n";
    }
    ++count.dropped;
    if (result(text) != right)
      ++count.caught;
    else
      count.missed += kernel.name + ": " + lines[i] + "\n";
  }
}

}  // namespace

TEST_CASE("without any one synchronisation the model faults or the result differs") {
  Count count;
  const TensorSpec small{{8, 8}}, odd{{37, 65}}, row{{1, 65}};
  mutate(elementwise(Op::Add, DType::Float32, 2, DType::Float32), {small, small, small}, count);
  mutate(softmax(), {odd, odd}, count);
  mutate(layernorm(), {odd, row, row, odd}, count);
  mutate(column_softmax(), {odd, odd}, count);
  CHECK(count.dropped > 40);
  CHECK_MESSAGE(count.caught * 100 >= count.dropped * 95, count.caught, " of ", count.dropped,
                " caught; not:\n", count.missed);
  MESSAGE(count.caught, " of ", count.dropped, " caught");
}
