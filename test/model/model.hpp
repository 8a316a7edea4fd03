// Runs hand-written AscendC kernels on the CPU model: each is a lambda of this program, compiled with the model's headers.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "codegen/ascendc/model/kernel_operator.h"
#include "runtime/model/launch.hpp"

namespace model_test {

using AscendC::model::Cores;
using AscendC::model::Region;

struct Faults : trilith::model::FaultSink {
  void fault(const trilith::model::Fault& fault) override { all.push_back(fault); }
  void print(const std::string& text) override { printed.push_back(text); }
  std::vector<trilith::model::Fault> all;
  std::vector<std::string> printed;
};

/// GM that a kernel may use: read, written, scratch, or a window that others write too.
template <class T>
Region input(const std::vector<T>& data) {
  return {const_cast<T*>(data.data()),
          static_cast<std::int64_t>(data.size() * sizeof(T)),
          false,
          false,
          false,
          "input"};
}
template <class T>
Region output(std::vector<T>& data) {
  return {data.data(), static_cast<std::int64_t>(data.size() * sizeof(T)), true, false, false, "output"};
}
template <class T>
Region scratch(std::vector<T>& data) {
  return {data.data(), static_cast<std::int64_t>(data.size() * sizeof(T)), true, false, true, "scratch"};
}
template <class T>
Region window(std::vector<T>& data) {
  return {data.data(), static_cast<std::int64_t>(data.size() * sizeof(T)), true, true, false, "window", true};
}

struct Outcome {
  std::string message;     ///< of the fault; empty: none
  std::uint32_t line = 0;  ///< of this file
  std::string core;
  std::vector<std::string> printed = {};
};

template <class Kernel>
Outcome run(std::initializer_list<Region> regions, Kernel kernel, Cores cores = Cores::Vector,
            std::int64_t blocks = 1) {
  Faults faults;
  const trilith::model::Model model(faults);
  AscendC::model::Launch launch{};
  launch.name = "kernel";
  launch.kernel = [](void* arguments) { (*static_cast<Kernel*>(arguments))(); };
  launch.arguments = &kernel;
  launch.cores = cores;
  launch.blocks = blocks;
  launch.regions = regions.begin();
  launch.region_count = static_cast<std::int64_t>(regions.size());
  const std::int32_t code = AscendC::model::launch(model.table(), launch);
  REQUIRE(faults.all.size() <= 1);
  CHECK((code != 0) == !faults.all.empty());
  if (faults.all.empty()) return {{}, 0, {}, faults.printed};
  return {faults.all.front().message, faults.all.front().text_line, faults.all.front().core, faults.printed};
}

template <class T>
AscendC::GlobalTensor<T> global(const std::vector<T>& data) {
  AscendC::GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(const_cast<T*>(data.data()), data.size());
  return tensor;
}

/// Three tiles of 256 floats in UB, all initialised, and all pipes at rest.
struct Tiles {
  AscendC::TPipe& pipe;
  AscendC::LocalTensor<float> a, b, c;
};

template <class Body>
Outcome on_tiles(Body body, std::initializer_list<Region> regions = {}) {
  return run(regions, [&] {
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 3 * 1024);
    const auto all = buffer.Get<float>();
    AscendC::Duplicate(all, 1.0f, 768);
    AscendC::PipeBarrier<PIPE_ALL>();
    Tiles tiles{pipe, buffer.GetWithOffset<float>(256, 0), buffer.GetWithOffset<float>(256, 1024),
                buffer.GetWithOffset<float>(256, 2048)};
    body(tiles);
  });
}

/// The line of the call that must fault, noted before it is made.
inline std::uint32_t faulting_line = 0;
#define FAULTS(call) (model_test::faulting_line = __LINE__, (void)(call))

/// The fault says so, and names the line that FAULTS noted.
inline void check_fault(const Outcome& outcome, const std::string& part) {
  CAPTURE(outcome.message);
  CHECK(outcome.message.find(part) != std::string::npos);
  CHECK(outcome.line == faulting_line);
}

}  // namespace model_test
