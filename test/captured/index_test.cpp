// Gather, scatter, argmax, cumsum, sort, single elements, blocks and printing as a user writes them: captured by the
// build and compiled, against an eager run of the same lambda.
#include "runtime/support.hpp"

#include <cstring>
#include <functional>

using support::Eager;
using support::Jit;
using support::message_of;

namespace {

using Floats = pl::Tensor<float>;
using Ints = pl::Tensor<std::int32_t>;

pl::Array<float> mixed(const pl::Index& dims) {
  pl::Array<float> result(dims);
  std::uint32_t state = 12345;
  for (float& element : result)
    element = static_cast<float>((state = state * 1664525u + 1013904223u) >> 28) - 7.0f;
  return result;
}

/// What `run` writes to a fresh array, compiled and natively; both must be the same bits.
template <class T>
bool agrees(const pl::Index& dims, const std::function<void(pl::Array<T>&)>& run) {
  pl::Array<T> compiled(dims), natively(dims);
  {
    const Jit jit;
    run(compiled);
    if (jit.context.statistics().eager_calls != 0) return false;
  }
  const Eager eager;
  run(natively);
  return std::memcmp(compiled.data(), natively.data(),
                     static_cast<std::size_t>(compiled.size()) * sizeof(T)) == 0;
}

/// The message of the ShapeError, which must be the same compiled and natively.
std::string refusal(const std::function<void()>& run) {
  std::string compiled, natively;
  {
    const Jit jit;
    compiled = message_of<pl::ShapeError>(run);
  }
  const Eager eager;
  natively = message_of<pl::ShapeError>(run);
  // Compilers place a call at different columns; the line is the same.
  const auto words = [](const std::string& text) { return text.substr(text.find(": ")); };
  const auto line = [](const std::string& text) {
    return text.substr(0, text.find(':', text.find(':') + 1));
  };
  CHECK(words(compiled) == words(natively));
  CHECK(line(compiled) == line(natively));
  return compiled;
}

std::string printed(const std::function<void()>& run) {
  static std::string text;
  text.clear();
  const auto previous = pl::set_print_sink([](std::string_view part) { text += part; });
  run();
  pl::set_print_sink(previous);
  return text;
}

}  // namespace

TEST_CASE("argmax, argmin and cumsum along any axis") {
  const auto x = mixed({7, 37});
  auto positions = pl::jit.incore([](Floats x, pl::Out<Ints> y) {
    const auto tile = pl::load(x);
    y = pl::store(pl::row_argmax(tile) * 1000 + pl::row_argmin(tile), y);
  });
  CHECK(agrees<std::int32_t>({7, 1}, [&](auto& y) { positions(x, y); }));
  auto columns = pl::jit.incore([](Floats x, pl::Out<Ints> y) {
    const auto tile = pl::load(x);
    y = pl::store(pl::col_argmax(tile) * 1000 + pl::col_argmin(tile), y);
  });
  CHECK(agrees<std::int32_t>({1, 37}, [&](auto& y) { columns(x, y); }));
  auto sums = pl::jit.incore([](Floats x, pl::Out<Floats> y) {
    const auto tile = pl::load(x);
    y = pl::store(pl::cumsum(tile * 0.1f) + pl::cumsum(tile, {.axis = 0}), y);
  });
  CHECK(agrees<float>({7, 37}, [&](auto& y) { sums(x, y); }));
}

TEST_CASE("gather, scatter and scatter_add") {
  const auto x = mixed({4, 9});
  pl::Array<std::int32_t> indices({4, 5});
  for (int i = 0; i < 20; ++i) indices.data()[i] = i * 7 % 9;
  auto moved = pl::jit.incore([](Floats x, Ints i, pl::Out<Floats> y) {
    const auto tile = pl::load(x);
    const auto chosen = pl::gather(tile, pl::load(i));
    const auto back = pl::scatter(tile, pl::load(i), chosen + 1.0f, {.axis = 1});
    y = pl::store(pl::scatter_add(back, pl::load(i), chosen), y);
  });
  CHECK(agrees<float>({4, 9}, [&](auto& y) { moved(x, indices, y); }));
}

TEST_CASE("an embedding: rows of a tensor that stays in global memory, and of a tile") {
  const auto table = mixed({50, 16});
  pl::Array<std::int64_t> ids({6});
  for (int i = 0; i < 6; ++i) ids.data()[i] = i * 9;
  auto embed = pl::jit.incore([](Floats table, pl::Tensor<std::int64_t> ids, pl::Out<Floats> y) {
    const auto rows = pl::gather_row(table, pl::load(ids));
    y = pl::store(rows + pl::gather_row(pl::load(table), pl::load(ids)), y);
  });
  CHECK(agrees<float>({6, 16}, [&](auto& y) { embed(table, ids, y); }));
}

TEST_CASE("pages of a cache: ragged lengths, a start that only the run knows") {
  const auto pages = mixed({6, 4, 8});
  pl::Array<std::int32_t> table({2, 3}), lengths({2});
  const std::int32_t blocks[] = {5, 0, 3, 2, -1, -1};
  std::copy_n(blocks, 6, table.data());
  lengths.data()[0] = 10;
  lengths.data()[1] = 3;
  auto fetch =
      pl::jit.incore([](Floats pages, Ints table, Ints lengths, pl::Out<Floats> y, pl::Scalar<int> from) {
        y = pl::store(pl::paged_gather(pages, pl::load(table), pl::load(lengths), 6, {.start = from}), y);
      });
  for (const int from : {0, 2, 5})
    CHECK(agrees<float>({2, 6, 8}, [&](auto& y) { fetch(pages, table, lengths, y, from); }));
  auto one = pl::jit.incore([](Floats pages, Ints table, pl::Out<Floats> y) {
    const auto blocks = pl::load(table[0], {0}, {3});
    y = pl::store(pl::paged_gather(pages, blocks, 9, 12), y);
  });
  CHECK(agrees<float>({12, 8}, [&](auto& y) { one(pages, table, y); }));
}

TEST_CASE("sort and topk give values and positions") {
  const auto x = mixed({3, 41});
  auto positions = pl::jit.incore([](Floats x, pl::Out<Ints> y) {
    const auto tile = pl::load(x);
    y = pl::store(pl::sort_indices(tile, {.descending = true}) + pl::sort_indices(tile), y);
  });
  CHECK(agrees<std::int32_t>({3, 41}, [&](auto& y) { positions(x, y); }));
  auto both = pl::jit.incore([](Floats x, pl::Out<Floats> y) {
    const auto [values, indices] = pl::sort(pl::load(x) * 2.0f, {.axis = 0, .descending = true});
    const auto smallest = pl::topk(values, 41, {.largest = false});
    y = pl::store(smallest.values + pl::cast<float>(smallest.indices + indices), y);
  });
  CHECK(agrees<float>({3, 41}, [&](auto& y) { both(x, y); }));
  auto best = pl::jit.incore([](Floats x, pl::Out<Ints> y, pl::Const<int> k) {
    y = pl::store(pl::topk_indices(pl::load(x), k), y);
  });
  CHECK(agrees<std::int32_t>({3, 5}, [&](auto& y) { best(x, y, 5); }));
}

TEST_CASE("single elements are scalars of the run; written ones are seen") {
  const auto x = mixed({5, 4});
  auto elements = pl::jit.incore([](Floats x, pl::InOut<Floats> y, pl::Scalar<int> n) {
    auto tile = pl::load(x);
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
      const float e = pl::read(tile, {i, 1});
      if (e > 0.0f) sum += e + pl::read(x, {i, 0});
      pl::write(tile, {i, 2}, sum);
    }
    y = pl::store(tile, y);
    y = pl::write(y, {0, 3}, sum);
    pl::write(y, {1, 3}, pl::read(y, {0, 3}) + 1.0f);
  });
  CHECK(agrees<float>({5, 4}, [&](auto& y) { elements(x, y, 5); }));
  auto short_circuit = pl::jit.incore([](Floats x, pl::Out<Floats> y, pl::Scalar<int> n) {
    const int at = n;
    // Read only where it is inside: && and ?: of C++ evaluate one side.
    const bool inside = at < 5 && static_cast<float>(pl::read(x, {at, 0})) > -100.0f;
    y = pl::store(pl::full<float>({1}, inside ? static_cast<float>(pl::read(x, {at, 3})) : -1.0f), y);
  });
  for (const int n : {0, 4, 5, 99}) CHECK(agrees<float>({1}, [&](auto& y) { short_circuit(x, y, n); }));
}

TEST_CASE("an index out of range is refused in the same words, compiled and natively") {
  const auto x = mixed({4, 3});
  pl::Array<std::int32_t> indices({4, 1}, 3);
  pl::Array<float> y({4, 3});
  auto gather = pl::jit.incore(
      [](Floats x, Ints i, pl::Out<Floats> y) { y = pl::store(pl::gather(pl::load(x), pl::load(i)), y); });
  CHECK(support::contains(refusal([&] { gather(x, indices, y); }),
                          "gather: index 3 is not inside [0, 3); clamp or mask the indices before"));
  auto rows = pl::jit.incore(
      [](Floats x, Ints i, pl::Out<Floats> y) { y = pl::store(pl::gather_row(x, pl::load(i[0])), y); });
  indices.data()[0] = -5;
  CHECK(
      support::contains(refusal([&] { rows(x, indices, y); }), "gather_row: index -5 is not inside [0, 4)"));
  auto read = pl::jit.incore([](Floats x, pl::Out<Floats> y, pl::Scalar<int> n) {
    y = pl::store(pl::full<float>({1, 1}, pl::read(pl::load(x), {n, 0})), y);
  });
  CHECK(support::contains(refusal([&] { read(x, y, 4); }), "read: axis 0: index 4 is not inside [0, 4)"));
  auto write = pl::jit.incore([](Floats x, pl::Out<Floats> y, pl::Scalar<int> n) {
    auto tile = pl::load(x);
    pl::write(tile, {0, n}, 1.0f);
    y = pl::store(tile, y);
  });
  CHECK(support::contains(refusal([&] { write(x, y, 3); }), "write: axis 1: index 3 is not inside [0, 3)"));
}

TEST_CASE("a direct call is block 0 of 1, and barriers change nothing") {
  auto block = pl::jit.incore([](pl::Out<Ints> y) {
    pl::barrier_all();
    const int number = pl::block_idx() * 100 + pl::block_num() * 10 + pl::subblock_idx();
    pl::pipe_barrier();
    y = pl::store(pl::full<std::int32_t>({1}, number), y);
  });
  pl::Array<std::int32_t> y({1});
  CHECK(agrees<std::int32_t>({1}, [&](auto& out) {
    block(out);
    y(0) = out(0);
  }));
  CHECK(y(0) == 10);
}

TEST_CASE("print gives one text, compiled and natively: tiles, parts of them, scalars") {
  const auto x = mixed({2, 3});
  pl::Array<float> y({2, 3});
  auto shows = pl::jit.incore([](Floats x, pl::Out<Floats> y, pl::Scalar<int> n) {
    const auto tile = pl::load(x);
    pl::print(tile);
    pl::print(pl::row_sum(tile * 2.0f));
    pl::print(tile > 0.0f);
    pl::print(n);
    pl::print(pl::read(tile, {0, 1}));
    y = pl::store(tile, y);
  });
  std::string compiled, natively;
  {
    const Jit jit;
    compiled = printed([&] { shows(x, y, 42); });
    CHECK(jit.context.statistics().eager_calls == 0);
  }
  {
    const Eager eager;
    natively = printed([&] { shows(x, y, 42); });
  }
  CHECK(compiled == natively);
  CHECK(support::contains(compiled, "[2, 3]"));
  CHECK(support::contains(compiled, "42"));
}
