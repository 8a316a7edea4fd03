// What a kernel does to its own part of a window is reported alike by native and compiled runs: the operation's name, its
// bytes and its line, whether the value is used or not.
#include "check.hpp"

#include <chrono>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

using support::contains;
using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

using Table = pld::DistributedTensor<std::int32_t, 8, 8>;
using Pages = pld::DistributedTensor<std::int32_t, 4, 2, 8>;

/// Rank 1 writes rank 0's whole part, which rank 0 does not wait for.
#define DISTURBED(access)                                                                            \
  pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> at) {                                   \
    if (pld::rank(data) == 1) pld::remote_store(pl::full<std::int32_t>({64}, 7), data, {.peer = 0}); \
    if (pld::rank(data) == 1) pld::notify(signal, {.peer = 0});                                      \
    if (pld::rank(data) == 0) {                                                                      \
      access;                                                                                        \
      pld::wait(signal);                                                                             \
    }                                                                                                \
  })

auto loads = DISTURBED((void)pl::load(data, {at}, {5}));
auto loads_all = DISTURBED((void)pl::load(data.slice({at - 3}, {64})));
auto loads_a_clamped_part = DISTURBED((void)pl::load(data, {at + 58}, {9}, {.clamp = true}));
auto loads_a_slice = DISTURBED((void)pl::load(data.slice({at}, {20}), {3}, {4}));
auto stores = DISTURBED(data = pl::store(pl::full<std::int32_t>({6}, 1), {at}, data));
auto stores_and_adds =
    DISTURBED(data = pl::store(pl::full<std::int32_t>({6}, 1), {at}, data, {.atomic = pl::Atomic::Add}));
auto reads = DISTURBED((void)pl::read(data, {at + 2}));
auto reads_of_a_load = DISTURBED((void)pl::read(pl::load(data, {at}, {4}), {1}));
auto writes = DISTURBED(pl::write(data, {at + 1}, 5));
auto loads_in_a_loop = DISTURBED(for (int i = at; i < at + 2; ++i)(void) pl::load(data, {2 * i}, {2}));
auto writes_one_by_one = DISTURBED(for (int i = at; i < at + 20; ++i) pl::write(data, {i}, i));
auto writes_falling = DISTURBED(for (int i = at + 20; i > at; --i) pl::write(data, {i}, i));
auto reads_far_apart = DISTURBED(for (int i = at; i < at + 4; ++i)(void) pl::read(data, {5 * i}));
auto loads_and_stores = DISTURBED(data = pl::store(pl::load(data, {at}, {8}) + 1, {at + 8}, data));

/// The lines of a report in order, without its advice: which of two accesses comes second is the ranks' own affair, and the
/// advice depends on it. Without columns: compilers do not agree on those of a macro.
std::string sorted(const std::string& message) {
  std::vector<std::string> lines;
  const std::string without_second =
      std::regex_replace(message, std::regex("[^ \\n]+: race: |  (Let the|Only a) [^\\n]*(?=; in task)"), "");
  std::istringstream text(
      std::regex_replace(without_second, std::regex("(\\.cpp:[0-9]+):[0-9]+|; on rank [0-9]+$"), "$1"));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string result;
  for (const std::string& line : lines) result += line + "\n";
  return result;
}

template <class Run>
void check_alike(const Run& run, const std::string& words) {
  windows::natively = true;
  const std::string natively = run();
  windows::natively = false;
  const std::string compiled = run();
  CAPTURE(natively);
  CAPTURE(compiled);
  CHECK(contains(natively, words));
  CHECK(contains(compiled, words));
  CHECK(sorted(natively) == sorted(compiled));
}

/// Columns of a table whose other columns a peer writes, or the same ones.
std::string columns(int first, const pl::Kernel<void(Table, Cells, pl::Scalar<int>)>& kernel) {
  auto device = pl::jit([&](auto data, auto signal, auto n) { kernel(data, signal, n); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({8, 8}), {8, 8});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (auto r : pl::range(pld::world_size())) device(data, signal, first, pld::device = r);
  });
  pl::Array<std::int32_t> y({2});
  return windows::message_of([&] { host(y, windows::checked(2)); });
}

}  // namespace

TEST_CASE("accesses to the own part are named alike, natively and compiled") {
  const auto alike = [](auto& kernel, const std::string& words) {
    check_alike([&] { return outcome(kernel, 2, 3); }, words);
  };
  alike(loads, "rank 0: pl::load reads bytes 12 to 31 at ");
  alike(loads_all, "rank 0: pl::load reads bytes 0 to 255 at ");
  alike(loads_a_clamped_part, "rank 0: pl::load reads bytes 244 to 255 at ");
  alike(loads_a_slice, "rank 0: pl::load reads bytes 24 to 39 at ");
  alike(stores, "rank 0: pl::store writes bytes 12 to 35 at ");
  alike(stores_and_adds, "rank 0: pl::store adds to bytes 12 to 35 at ");
  alike(reads, "rank 0: pl::read reads bytes 20 to 23 at ");
  alike(reads_of_a_load, "rank 0: pl::load reads bytes 12 to 27 at ");
  alike(writes, "rank 0: pl::write writes bytes 16 to 19 at ");
  alike(loads_in_a_loop, "rank 0: pl::load reads bytes 24 to 31 at ");
  alike(writes_one_by_one, "rank 0: pl::write writes bytes 12 to 15 at ");
  alike(writes_falling, "rank 0: pl::write writes bytes 16 to 19 at ");
  alike(reads_far_apart, "rank 0: pl::read reads bytes 60 to 63 at ");
  alike(loads_and_stores, "rank 0: pl::load reads bytes 12 to 43 at ");
}

TEST_CASE("a column beside another rank's is no race, and the same one is") {
  auto side_by_side = pl::jit.incore([](Table data, Cells signal, pl::Scalar<int> first) {
    if (pld::rank(data) == 1) {
      pld::remote_store(pl::full<std::int32_t>({8, 3}, 7), data, {.peer = 0, .offsets = {0, first}});
      pld::notify(signal, {.peer = 0});
    } else {
      data = pl::store(pl::load(data, {0, 4}, {8, 2}) + 1, {0, 6}, data);
      pl::write(data[5], {4}, 3);
      pld::wait(signal);
    }
  });
  for (const int first : {0, 1}) check_alike([&] { return columns(first, side_by_side); }, "");
  check_alike([&] { return columns(2, side_by_side); }, "rank 0: pl::load reads bytes 16 to 247 at ");
  check_alike([&] { return columns(5, side_by_side); },
              "race: nothing orders two accesses to rank 0's part of ");
  windows::natively = false;
  CHECK(columns(1, side_by_side) == "");
}

TEST_CASE(
    "of a column the element that the loop meets first is the one that is named, whichever way it goes") {
  // Rank 0 comes long after rank 1 has written rows 2 to 6, and no signal has told it so.
  const auto first_of = [](auto& kernel) {
    auto device = pl::jit([&](auto data, auto signal, auto r) {
      if (!pl::recording() && r == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      kernel(data, signal, 5);
    });
    auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
      auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({8, 8}), {8, 8});
      auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
      for (auto r : pl::range(pld::world_size())) device(data, signal, r, pld::device = r);
    });
    pl::Array<std::int32_t> y({2});
    return windows::message_of([&] { host(y, windows::checked(2)); });
  };
  auto falling = pl::jit.incore([](Table data, Cells signal, pl::Scalar<int> column) {
    if (pld::rank(data) == 1) {
      pld::remote_store(pl::full<std::int32_t>({5, 8}, 7), data, {.peer = 0, .offsets = {2, 0}});
      pld::notify(signal, {.peer = 0});
    } else {
      for (int i = 7; i >= 0; --i) pl::write(data, {i, column}, i);
    }
  });
  auto rising = pl::jit.incore([](Table data, Cells signal, pl::Scalar<int> column) {
    if (pld::rank(data) == 1) {
      pld::remote_store(pl::full<std::int32_t>({5, 8}, 7), data, {.peer = 0, .offsets = {2, 0}});
      pld::notify(signal, {.peer = 0});
    } else {
      for (int i = 0; i < 8; ++i) pl::write(data, {i, column}, i);
    }
  });
  check_alike([&] { return first_of(falling); }, "rank 0: pl::write writes bytes 212 to 215 at ");
  check_alike([&] { return first_of(rising); }, "rank 0: pl::write writes bytes 84 to 87 at ");
}

TEST_CASE("what a loop would touch behind the round that ends the kernel is not reported") {
  auto ends_early = pl::jit.incore([](Table data, Cells signal, pl::Scalar<int> cell) {
    if (pld::rank(data) == 1) {
      pld::remote_store(pl::full<std::int32_t>({4, 8}, 7), data, {.peer = 0, .offsets = {4, 0}});
      pld::notify(signal, {.peer = 0});
    } else {
      for (int i = 0; i < 8; ++i) {
        pl::write(signal, {i + cell}, 1);
        (void)pl::read(data, {i, 5});
      }
      pld::wait(signal);
    }
  });
  auto has_no_index = pl::jit.incore([](Table data, Cells signal, pl::Scalar<int> first) {
    if (pld::rank(data) == 1) {
      pld::remote_store(pl::full<std::int32_t>({4, 8}, 7), data, {.peer = 0, .offsets = {4, 0}});
      pld::notify(signal, {.peer = 0});
    } else {
      int places[16] = {};
      for (int i = 0; i < 8; ++i) {
        places[i + first] = i;
        (void)pl::read(data, {i, 5});
      }
      pl::write(signal, {1}, places[3]);
      pld::wait(signal);
    }
  });
  auto squares = pl::jit.incore([](Table data, Cells signal, pl::Scalar<int> first) {
    if (pld::rank(data) == 1) {
      pld::remote_store(pl::full<std::int32_t>({4, 8}, 7), data, {.peer = 0, .offsets = {4, 0}});
      pld::notify(signal, {.peer = 0});
    } else {
      for (int i = 0; i < 8; ++i) {
        pl::write(signal, {i * i + first}, 1);
        (void)pl::read(data, {i, 5});
      }
      pld::wait(signal);
    }
  });
  check_alike([&] { return columns(13, ends_early); }, "store: offset 16 with extent 1 on axis 0");
  check_alike([&] { return columns(13, squares); }, "store: offset 17 with extent 1 on axis 0");
  // With an index inside of it they race. The array of a native run checks none.
  windows::natively = false;
  CHECK(contains(columns(8, ends_early), "race: nothing orders"));
  CHECK(contains(columns(8, has_no_index), "race: nothing orders"));
  CHECK(contains(columns(13, has_no_index), "index 16 of an array of 16 elements"));
}

TEST_CASE("of a gather the rows that it reads are reported") {
  auto rows = pl::jit.incore([](Table data, Cells signal, pl::Scalar<int> row) {
    if (pld::rank(data) == 1) {
      pld::remote_store(pl::full<std::int32_t>({1, 8}, 7), data, {.peer = 0, .offsets = {row, 0}});
      pld::notify(signal, {.peer = 0});
    } else {
      const auto numbers = pl::arange<std::int32_t>({3}, 1, 2);
      signal = pl::store(pl::slice(pl::reshape(pl::gather_row(data, numbers), {24}), {0}, {8}), {8}, signal);
      pld::wait(signal);
    }
  });
  windows::natively = false;
  CHECK(columns(2, rows) == "");
  windows::natively = true;
  CHECK(columns(2, rows) == "");
  check_alike([&] { return columns(3, rows); }, "rank 0: pl::gather_row reads bytes 96 to 127 at ");

  auto pages = pl::jit.incore([](Pages data, Cells signal, pl::Scalar<int> page) {
    if (pld::rank(data) == 1) {
      pld::remote_store(pl::full<std::int32_t>({1, 2, 8}, 7), data, {.peer = 0, .offsets = {page, 0, 0}});
      pld::notify(signal, {.peer = 0});
    } else {
      const auto table = pl::arange<std::int32_t>({2}, 0, 2);
      (void)pl::paged_gather(data, table, 3, 4);
      pld::wait(signal);
    }
  });
  const auto run = [&](int page) {
    auto device = pl::jit([&](auto data, auto signal, auto n) { pages(data, signal, n); });
    auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
      auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4, 2, 8}), {4, 2, 8});
      auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
      for (auto r : pl::range(pld::world_size())) device(data, signal, page, pld::device = r);
    });
    pl::Array<std::int32_t> y({2});
    return windows::message_of([&] { host(y, windows::checked(2)); });
  };
  check_alike([&] { return run(1); }, "");
  check_alike([&] { return run(2); }, "rank 0: pl::paged_gather reads bytes 128 to 191 at ");
}
