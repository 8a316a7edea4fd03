#include "codegen/ascendc/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace trilith::codegen::ascendc {
namespace {

/// What a unit does in a cycle. The names of figures are those of the public file platform_config/Ascend910B2C.ini of
/// CANN's runtime; runtime/hardware.md says the same in words.
struct Rate {
  Work::Unit unit;
  const char* pipe;
  double per_cycle;
  const char* source;
};
constexpr double megahertz = 1800;  // cube_freq
constexpr std::array<Rate, unit_count> rates{{
    {Work::Unit::Scalar, "AIV S", 1, "one element a cycle, assumed"},
    {Work::Unit::Vector, "AIV V", 1, "256 bytes a cycle: vec_calc_size, 128 lanes of 16 bits"},
    {Work::Unit::MoveIn, "AIV MTE2", 32, "32 bytes a cycle: ddr_read_rate"},
    {Work::Unit::MoveOut, "AIV MTE3", 32, "32 bytes a cycle: ddr_write_rate"},
    {Work::Unit::ToL1, "AIC MTE2", 32, "32 bytes a cycle: ddr_read_rate"},
    {Work::Unit::ToL0A, "AIC MTE1", 512, "512 bytes a cycle to L0A: l1_to_l0_a_rate"},
    {Work::Unit::ToL0B, "AIC MTE1", 256, "256 bytes a cycle to L0B: l1_to_l0_b_rate"},
    {Work::Unit::Cube, "AIC M", 1, "16x16x16 halves a cycle: cube_m/n/k_size; floats a quarter, assumed"},
    {Work::Unit::FixPipe, "AIC FIX", 32, "32 bytes a cycle: ddr_write_rate"},
}};

using Cycles = std::array<double, unit_count>;

struct Cost {
  Cycles block{}, all{};
  void add(const Cost& other, double block_turns, double all_turns) {
    for (std::size_t unit = 0; unit < unit_count; ++unit) {
      block[unit] += other.block[unit] * block_turns;
      all[unit] += other.all[unit] * all_turns;
    }
  }
  /// Of two ways the longer one, pipe by pipe.
  void take_longer(const Cost& other) {
    for (std::size_t unit = 0; unit < unit_count; ++unit) {
      block[unit] = std::max(block[unit], other.block[unit]);
      all[unit] = std::max(all[unit], other.all[unit]);
    }
  }
};

class Walk {
 public:
  Walk(const Program& program, std::int64_t blocks)
      : nodes_(program.nodes), blocks_(static_cast<double>(blocks)) {}

  Cost run() { return stretch(blocks_); }
  int open_loops = 0;  ///< whose turns only the run knows

 private:
  /// Lines until the end of their level. `copies`: how many blocks do each of them.
  Cost stretch(double copies) {
    Cost cost;
    for (; at_ < nodes_.size(); ++at_) {
      const Node& node = nodes_[at_];
      switch (node.kind) {
        case Node::Kind::Close:
        case Node::Kind::Else: return cost;
        case Node::Kind::Open: loop(node, copies, cost); break;
        case Node::Kind::Branch: branch(node, copies, cost); break;
        default:
          for (const Work& work : node.work) {
            const auto unit = static_cast<std::size_t>(work.unit);
            const double cycles = static_cast<double>(work.amount) / rates[unit].per_cycle;
            cost.block[unit] += cycles;
            cost.all[unit] += cycles * copies;
          }
      }
    }
    return cost;
  }

  void loop(const Node& node, double copies, Cost& cost) {
    double turns = node.turns;
    if (turns == unknown_turns) {
      ++open_loops;
      turns = 1;
    }
    ++at_;
    const Cost body = stretch(node.spreads ? 1 : copies);
    // Whole rounds are shared; the last one may be shorter.
    const double most = node.spreads ? std::min(turns, std::ceil(std::ceil(turns) / blocks_)) : turns;
    cost.add(body, most, turns);
  }

  void branch(const Node& node, double copies, Cost& cost) {
    ++at_;
    Cost body = stretch(copies);
    if (at_ < nodes_.size() && nodes_[at_].kind == Node::Kind::Else) {
      ++at_;
      body.take_longer(stretch(copies));
    }
    cost.add(body, node.turns, node.turns);
  }

  const std::vector<Node>& nodes_;
  double blocks_;
  std::size_t at_ = 0;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}

std::string padded(std::string text, std::size_t width, bool right) {
  const std::size_t missing = width > text.size() ? width - text.size() : 0;
  return right ? std::string(missing, ' ') + text : text + std::string(missing, ' ');
}

}  // namespace

Estimate estimate(const Program& program, std::int64_t blocks) {
  Walk walk(program, blocks);
  const Cost cost = walk.run();
  Estimate result;
  result.open_loops = walk.open_loops;
  for (const Rate& rate : rates) {
    const auto unit = static_cast<std::size_t>(rate.unit);
    if (cost.all[unit] == 0) continue;
    if (result.pipes.empty() || result.pipes.back().pipe != rate.pipe)
      result.pipes.push_back({rate.pipe, {}, 0, 0});
    PipeCycles& pipe = result.pipes.back();
    pipe.rate += (pipe.rate.empty() ? "" : "; ") + std::string(rate.source);
    pipe.block += cost.block[unit];
    pipe.all += cost.all[unit];
  }
  return result;
}

std::string estimate_text(const Emitted& emitted) {
  const Estimate& cost = emitted.estimate;
  if (cost.pipes.empty())
    return emitted.symbol + " moves and computes no tiles: there is nothing to estimate.\n";
  std::string text =
      "Estimate of " + emitted.symbol + ", by published peak rates: a lower bound, not a measurement.\n";
  text += emitted.spmd ? "As many blocks as the caller launches; cycles of one block:\n\n"
                       : std::to_string(emitted.blocks) + (emitted.blocks == 1 ? " block" : " blocks") +
                             "; cycles:\n\n";
  const bool all = !emitted.spmd && emitted.blocks > 1;
  text += padded("pipe", 10, false) + padded("a block", 12, true) +
          (all ? padded("all blocks", 12, true) : "") + "  rate\n";
  const PipeCycles* bound = &cost.pipes.front();
  for (const PipeCycles& pipe : cost.pipes) {
    text += padded(pipe.pipe, 10, false) + padded(number(pipe.block), 12, true) +
            (all ? padded(number(pipe.all), 12, true) : "") + "  " + pipe.rate + "\n";
    if (pipe.block > bound->block) bound = &pipe;
  }
  char time[32];
  std::snprintf(time, sizeof time, "%.2f", bound->block / megahertz);
  text += "\nBound by " + bound->pipe + ": at least " + number(bound->block) + " cycles a block, " + time +
          " us at " + number(megahertz) + " MHz.\n";
  if (cost.open_loops > 0)
    text += std::to_string(cost.open_loops) + (cost.open_loops == 1 ? " loop has" : " loops have") +
            " a number of turns that only the run knows: counted once.\n";
  return text +
         "Not counted: starts of instructions and copies, waits, the longer time of exponentials, "
         "logarithms, roots and\n"
         "divisions, conflicts of banks, and that cores share the bandwidth of device memory.\n";
}

}  // namespace trilith::codegen::ascendc
