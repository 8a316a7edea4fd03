// Which earlier tasks a task must come after: read-after-write, write-after-write, write-after-read.
#include "runtime/region_index.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using pl::detail::Region;
using pl::detail::RegionIndex;
using pl::detail::TaskNumber;

namespace {

std::array<float, 256> memory;

Region box(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns, bool writes) {
  const std::int64_t extents[] = {rows, columns}, strides[] = {16, 1};
  return {pl::detail::RecordedView(
              {pl::DType::Float32, false, 2, memory.data() + row * 16 + column, extents, strides}),
          writes};
}
Region reads(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
  return box(row, column, rows, columns, false);
}
Region writes(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
  return box(row, column, rows, columns, true);
}

std::vector<TaskNumber> after(RegionIndex& index, const Region& region) {
  std::vector<TaskNumber> found;
  index.conflicts(region, [](TaskNumber) { return false; }, found);
  std::sort(found.begin(), found.end());
  return found;
}
using Tasks = std::vector<TaskNumber>;

}  // namespace

TEST_CASE("a read waits for earlier writes of what it reads, and reads do not wait for each other") {
  RegionIndex index;
  index.add(0, writes(0, 0, 4, 16));
  index.add(1, reads(0, 0, 4, 16));
  index.add(2, writes(4, 0, 4, 16));
  CHECK(after(index, reads(3, 0, 1, 16)) == Tasks{0});
  CHECK(after(index, reads(3, 0, 2, 16)) == Tasks{0, 2});
  CHECK(after(index, reads(8, 0, 1, 16)).empty());
}

TEST_CASE("a write waits for earlier writes and for earlier reads of what it writes") {
  RegionIndex index;
  index.add(0, writes(0, 0, 1, 16));
  index.add(1, reads(1, 0, 1, 16));
  CHECK(after(index, writes(0, 8, 2, 8)) == Tasks{0, 1});
}

TEST_CASE("boxes of one base and stride are told apart exactly, though their byte ranges meet") {
  RegionIndex index;
  index.add(0, writes(0, 0, 16, 8));
  CHECK(after(index, writes(0, 8, 16, 8)).empty());
  CHECK(after(index, writes(0, 7, 16, 8)) == Tasks{0});
  CHECK(after(index, reads(4, 15, 4, 1)).empty());
}

TEST_CASE("a write that covers an older region stands for it from then on") {
  RegionIndex index;
  for (TaskNumber task = 0; task < 8; ++task)
    index.add(task, reads(static_cast<std::int64_t>(task), 0, 1, 16));
  const Region all = writes(0, 0, 16, 16);
  CHECK(after(index, all) == Tasks{0, 1, 2, 3, 4, 5, 6, 7});
  index.add(8, all);
  CHECK(index.size() == 1);
  CHECK(after(index, writes(3, 0, 1, 16)) == Tasks{8});
}

TEST_CASE("regions of tasks that are done are forgotten") {
  RegionIndex index;
  index.add(0, writes(0, 0, 1, 16));
  index.add(1, writes(1, 0, 1, 16));
  std::vector<TaskNumber> found;
  index.conflicts(reads(0, 0, 2, 16), [](TaskNumber task) { return task == 0; }, found);
  CHECK(found == Tasks{1});
  CHECK(index.size() == 1);
}

TEST_CASE("a long region that begins far in front is found") {
  RegionIndex index;
  index.add(0, writes(0, 0, 16, 16));
  for (TaskNumber task = 1; task < 5; ++task)
    index.add(task, reads(static_cast<std::int64_t>(task), 0, 1, 1));
  CHECK(after(index, reads(15, 15, 1, 1)) == Tasks{0});
}

TEST_CASE("empty regions wait for nothing and nothing waits for them") {
  RegionIndex index;
  index.add(0, writes(0, 0, 0, 16));
  CHECK(index.size() == 0);
  index.add(1, writes(0, 0, 1, 16));
  CHECK(after(index, writes(0, 0, 1, 0)).empty());
}
