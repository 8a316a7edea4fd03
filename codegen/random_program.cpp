// Shapes are words over B, R, C (the three extents of one program) and 1: "RC", "1C", "BR1". Each letter has
// its place, counted from the last, so all shapes of a program broadcast with each other.
#include "codegen/random_program.hpp"

#include "codegen/builder.hpp"
#include "codegen/random_calls.hpp"

#include <algorithm>
#include <array>

namespace trilith::codegen {
namespace {

using namespace build;

constexpr std::int64_t extents[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 23, 31, 32, 33, 64, 67};
constexpr DType common_dtypes[] = {DType::Float32, DType::Float32, DType::Float32, DType::Float64,
                                   DType::Int32,   DType::Int32,   DType::Int64,   DType::Bool};
constexpr DType rarer_dtypes[] = {DType::Int8,    DType::UInt8,   DType::Int16,
                                  DType::UInt16,  DType::UInt32,  DType::UInt64,
                                  DType::Float16, DType::Float16, DType::BFloat16};
constexpr const char* all_words[] = {"RC",  "RC",  "RC",  "RC", "1C", "R1", "C",
                                     "BRC", "BRC", "B1C", "1",  "11", ""};
constexpr double float_literals[] = {0.1, -2.5, 1e-3, 3.0, 0.0, -1.0, 1e10};

/// Whether a shape broadcasts into another without changing it.
bool fits_into(const std::string& word, const std::string& into) {
  if (word.size() > into.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char letter = word[word.size() - 1 - i];
    if (letter != '1' && letter != into[into.size() - 1 - i]) return false;
  }
  return true;
}

std::string broadcast_words(const std::string& a, const std::string& b) {
  std::string result = a.size() < b.size() ? b : a;
  const std::string& other = a.size() < b.size() ? a : b;
  for (std::size_t i = 0; i < other.size(); ++i) {
    char& letter = result[result.size() - 1 - i];
    if (letter == '1') letter = other[other.size() - 1 - i];
  }
  return result;
}

struct Tile {
  Expr expr;
  DType dtype = DType::Float32;
  std::string word;
};

/// How one of the three extents is known and how a kernel names it.
struct Extent {
  std::int64_t size = 0;
  bool is_dynamic = false;
  Dim dim;              ///< of declared shapes
  Item name = Item(0);  ///< in offsets, shapes and bounds
};

class Generator : private CallMaker {
 public:
  Generator(std::uint64_t seed, const RandomOptions& options)
      : options_(options), random_(seed), k_("random_" + std::to_string(seed), "random.cpp") {
    program_.seed = seed;
  }

  RandomProgram generate() {
    all_dtypes_ = random_.chance(50);
    for (char letter : {'B', 'R', 'C'}) make_extent(letter);
    for (int i = 0; i < 2; ++i) (void)new_tile(any_expression(0));
    const std::int64_t count = options_.statements / 2 + random_.below(options_.statements + 1);
    for (std::int64_t i = 0; i < count; ++i) statement(0);
    store(random_.pick(tiles_));
    store(any_expression(2));
    program_.kernel = k_.take();
    return std::move(program_);
  }

 private:
  // ---------------------------------------------------------------------------------- parameters, extents

  std::string fresh(const char* stem) { return stem + std::to_string(names_++); }
  /// Half of the programs keep to the common dtypes: those with every dtype are the largest to compile.
  DType any_dtype() {
    return fitting(all_dtypes_ && random_.chance(40) ? random_.pick(rarer_dtypes)
                                                     : random_.pick(common_dtypes));
  }
  /// The hardware has no double.
  [[nodiscard]] DType fitting(DType dtype) const {
    return options_.hardware && dtype == DType::Float64 ? DType::Float32 : dtype;
  }
  std::string any_word() { return random_.pick(all_words); }
  Extent& extent(char letter) { return extents_[letter == 'B' ? 0 : letter == 'R' ? 1 : 2]; }

  void make_extent(char letter) {
    Extent& result = extent(letter);
    result.size = letter == 'B' ? random_.below(4) : random_.pick(extents);
    result.dim = {result.size};
    result.name = Item(result.size);
    if (options_.dynamic_extents && random_.chance(20)) {
      result.is_dynamic = true;
      result.dim = k_.dynamic(std::string(1, letter));
      Expr use;
      use.op = Op::Variable;
      use.variable = result.dim.variable;
      use.type = Type::scalar(DType::Int64);
      result.name = use;
      Items offsets;  // a tensor must bind the extent, whatever else the program has
      (void)tensor(std::string(1, letter), any_dtype(), Access::In, offsets);
    } else if (result.size > 0 && random_.chance(15)) {
      // Not 0: a loop that a run-time bound keeps from running still holds regions, and a region that never
      // fits its tensor is refused whether it is reached or not.
      result.name = k_.capture(fresh("capture"), DType::Int64);
      program_.captures.push_back(scalar_parameter(DType::Int64, result.size));
    } else if (random_.chance(15)) {
      result.name = k_.const_scalar(fresh("constant"), DType::Int64);
      program_.parameters.push_back(scalar_parameter(DType::Int64, result.size));
    }
  }

  static RandomParameter scalar_parameter(DType dtype, std::optional<std::int64_t> value = {}) {
    RandomParameter parameter;
    parameter.dtype = dtype;
    parameter.value = value;
    return parameter;
  }

  bool has_dynamic(const std::string& word) {
    return std::any_of(word.begin(), word.end(), [&](char l) { return l != '1' && extent(l).is_dynamic; });
  }
  std::int64_t size_of_letter(char letter) { return letter == '1' ? 1 : extent(letter).size; }

  /// A tensor parameter that holds a tile of this shape at `offsets`.
  Expr tensor(const std::string& word, DType dtype, Access access, Items& offsets,
              Tolerance tolerance = Tolerance::Exact) {
    RandomParameter parameter;
    parameter.is_tensor = true;
    parameter.dtype = dtype;
    parameter.is_input = access == Access::In;
    parameter.tolerance = tolerance;
    const bool dynamic = has_dynamic(word);
    const bool padded = !dynamic && random_.chance(30);
    std::vector<Dim> shape;
    for (char letter : word) {
      const std::int64_t before = padded ? random_.below(3) : 0, after = padded ? random_.below(4) : 0;
      offsets.push_back(before);
      parameter.extents.push_back(before + size_of_letter(letter) + after);
      shape.push_back(letter == '1' || padded ? Dim{parameter.extents.back()} : extent(letter).dim);
    }
    if (options_.strided && !word.empty() && random_.chance(25))
      parameter.layout = random_.chance(50) ? Layout::InnerDense : Layout::Strided;
    program_.parameters.push_back(parameter);
    const std::string name = fresh(access == Access::In ? "x" : "y");
    if (options_.any_dtype && !dynamic && access == Access::In && random_.chance(5))
      return k_.any_tensor(name, access);
    if (!dynamic && random_.chance(50)) return k_.tensor(name, access, dtype);
    return k_.tensor(name, access, dtype, std::move(shape));
  }

  Items region(const std::string& word) {
    Items items;
    for (char letter : word) items.push_back(letter == '1' ? Item(1) : extent(letter).name);
    return items;
  }

  // ---------------------------------------------------------------------------------- expressions

  // Each random choice stands in a statement of its own where two would be arguments of one call: compilers
  // order arguments differently, and equal seeds must give equal programs.

  Tile any_expression(int depth) {
    const DType dtype = any_dtype();
    const std::string word = any_word();
    return expression(depth, dtype, word);
  }

  /// A tile expression of this dtype whose shape broadcasts into `into`.
  Tile expression(int depth, DType dtype, const std::string& into) {
    if (depth <= 0 || random_.chance(15)) return leaf(dtype, into);
    const Operation& row = operation(random_operation(dtype));
    switch (row.group) {
      case Group::Cast: {
        const Tile operand = expression(depth - 1, any_dtype(), into);
        const auto mode = static_cast<CastMode>(random_.below(6));
        return {cast(dtype, operand.expr, mode), dtype, operand.word};
      }
      case Group::Compare: return elementwise(row, depth, accepted_dtype(row.dtypes), DType::Bool, into);
      case Group::RowReduce:
      case Group::ColReduce: {
        Tile operand = expression(depth - 1, dtype, into);
        const std::size_t from_end = row.group == Group::RowReduce ? 1 : 2;
        if (operand.word.size() < from_end) return operand;
        operand.word[operand.word.size() - from_end] = '1';
        return {call(row.op, {operand.expr}), dtype, operand.word};
      }
      default: return elementwise(row, depth, dtype, dtype, into);
    }
  }

  /// An exact operation with a result of this dtype. Integer sums are exact, whatever their order.
  Op random_operation(DType dtype) {
    std::vector<Op> fitting;
    for (const Operation& row : operations()) {
      const bool reduces = row.group == Group::RowReduce || row.group == Group::ColReduce;
      const bool exact = row.exactness == Exactness::Exact || (reduces && is_integer(dtype));
      const bool same_dtype =
          row.group == Group::Elementwise || row.group == Group::Logic || row.group == Group::Bits || reduces;
      if (exact && ((same_dtype && accepts(row.dtypes, dtype)) || row.group == Group::Cast ||
                    (row.group == Group::Compare && dtype == DType::Bool)))
        fitting.push_back(row.op);
    }
    return random_.pick(fitting);
  }

  DType accepted_dtype(DTypes rule) {
    for (;;)
      if (const DType dtype = any_dtype(); accepts(rule, dtype)) return dtype;
  }

  Tile elementwise(const Operation& row, int depth, DType operand_dtype, DType dtype,
                   const std::string& into) {
    std::vector<Expr> operands;
    Tile result{{}, dtype, {}};
    // One operand is a tile for sure; the others may be literals and scalars.
    const std::int64_t tile_at = random_.below(row.arity);
    for (int i = 0; i < row.arity; ++i) {
      const DType wanted = row.op == Op::Where && i == 0 ? DType::Bool : operand_dtype;
      if (i != tile_at && random_.chance(35)) {
        operands.push_back(wanted != DType::Bool && random_.chance(60) ? any_literal(wanted)
                                                                       : scalar(wanted, 1));
        continue;
      }
      const Tile operand = expression(depth - 1, wanted, into);
      operands.push_back(operand.expr);
      result.word = broadcast_words(result.word, operand.word);
    }
    // Literals alone would have no dtype to take.
    const std::size_t first = row.op == Op::Where ? 1 : 0;
    if (std::all_of(operands.begin() + static_cast<std::ptrdiff_t>(first), operands.end(),
                    [](const Expr& operand) { return operand.literal; }))
      operands[first] = scalar(operand_dtype, 0);
    result.expr = call(row.op, std::move(operands));
    return result;
  }

  Expr any_literal(DType dtype) {
    if (is_integer(dtype) || random_.chance(30)) {
      const int lowest = is_integer(dtype) && !is_signed_integer(dtype) ? 0 : -8;
      return literal(static_cast<int>(random_.below(40)) + lowest);
    }
    return literal(random_.pick(float_literals));
  }

  /// A tile variable, or a new input.
  Tile leaf(DType dtype, const std::string& into) {
    std::vector<const Tile*> fitting;
    for (const Tile& tile : tiles_)
      if (tile.dtype == dtype && fits_into(tile.word, into)) fitting.push_back(&tile);
    if (!fitting.empty() && random_.chance(75)) return *random_.pick(fitting);
    std::string word = into;
    for (char& letter : word)
      if (random_.chance(20)) letter = '1';
    if (random_.chance(10)) word = word.substr(word.empty() ? 0 : 1);
    if (random_.chance(15)) return {full(dtype, region(word), scalar(dtype, 1)), dtype, word};
    Items offsets;
    const Expr x = tensor(word, dtype, Access::In, offsets);
    const RandomParameter& parameter = program_.parameters.back();
    const bool whole =
        std::equal(word.begin(), word.end(), parameter.extents.begin(),
                   [&](char letter, std::int64_t size) { return size_of_letter(letter) == size; });
    if (whole && random_.chance(40)) return {load(x), dtype, word};
    if (random_.chance(15)) return {load(slice(x, offsets, region(word))), dtype, word};
    return {load(x, offsets, region(word)), dtype, word};
  }

  /// A scalar of this dtype.
  Expr scalar(DType dtype, int depth) {
    if (depth > 0 && dtype != DType::Bool && random_.chance(40)) {
      constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Maximum};
      if (random_.chance(15)) {
        const Expr a = scalar(dtype, 0);
        return call(Op::Conditional, {call(Op::Lt, {a, any_literal(dtype)}), a, scalar(dtype, depth - 1)});
      }
      const Op op = random_.pick(ops);
      return call(op, {scalar(dtype, depth - 1), any_literal(dtype)});
    }
    if (options_.tile_calls && dtype == DType::Int32 && random_.chance(5)) {
      constexpr Op identities[] = {Op::BlockIdx, Op::BlockNum, Op::SubblockIdx};
      return call(random_.pick(identities), {});
    }
    std::vector<Expr> fitting;
    for (const Expr& candidate : scalars_)
      if (candidate.type.dtype == dtype) fitting.push_back(candidate);
    if (!fitting.empty() && random_.chance(70)) return random_.pick(fitting);
    if (!scalars_.empty() && random_.chance(30)) return cast(dtype, random_.pick(scalars_));
    const bool captured = random_.chance(40);
    const Expr added = captured             ? k_.capture(fresh("c"), dtype)
                       : random_.chance(15) ? k_.const_scalar(fresh("k"), dtype)
                                            : k_.scalar(fresh("s"), dtype);
    (captured ? program_.captures : program_.parameters).push_back(scalar_parameter(dtype));
    scalars_.insert(scalars_.begin(), added);  // in front: parameters outlive every scope
    ++outer_scalars_;
    return added;
  }

  Expr condition() {
    if (random_.chance(30)) return scalar(DType::Bool, 0);
    const DType dtype = random_.chance(50) ? DType::Int32 : DType::Float32;
    const Op op = random_.chance(50) ? Op::Lt : Op::Ge;
    return call(op, {scalar(dtype, 1), any_literal(dtype)});
  }

  // ---------------------------------------------------------------------------------- statements

  Tile new_tile(Tile tile) {
    tile.expr = k_.let(fresh("t"), tile.expr);
    tiles_.push_back(tile);
    return tile;
  }

  void statement(int depth) {
    if (options_.prints && random_.chance(8)) k_.print(random_.pick(tiles_).expr);
    const std::int64_t kind = random_.below(options_.control_flow && depth < 2 ? 100 : 60);
    if (kind < 30) {
      if (kind >= 25 && depth == 0 && options_.tile_calls) return store_tile_call();
      (void)new_tile(any_expression(3));
    } else if (kind < 40) {
      change(depth);
    } else if (kind < 48) {
      if (depth == 0) store(any_expression(2));
    } else if (kind < 60) {
      if (depth == 0 && options_.approximate) store_approximate();
    } else if (kind < 68) {
      counted_loop(depth);
    } else if (kind < 75) {
      branch(depth);
    } else if (kind < 82) {
      while_loop(depth);
    } else if (kind < 88) {
      block(depth);
    } else if (kind < 94) {
      if (depth == 0) row_loop();
    } else {
      if (depth == 0) in_place();
    }
  }

  /// Statements of a nested body: what they define ends with it.
  void body(int depth) {
    const std::size_t tiles = tiles_.size(), scalars = scalars_.size() - outer_scalars_;
    const std::int64_t count = 1 + random_.below(3);
    change(depth);
    for (std::int64_t i = 0; i < count; ++i) statement(depth + 1);
    tiles_.resize(tiles);
    scalars_.resize(scalars + outer_scalars_);
  }

  /// A new value for a tile variable, of the same shape and dtype.
  void change(int depth) {
    (void)depth;
    if (tiles_.empty()) return;
    const Tile target = random_.pick(tiles_);
    if (target.dtype == DType::Bool) {
      const Tile other = expression(2, DType::Bool, target.word);
      k_.assign(target.expr, call(Op::LogicalOr, {target.expr, other.expr}));
      return;
    }
    constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Maximum, Op::Minimum};
    const Tile other = expression(2, target.dtype, target.word);
    k_.assign(target.expr, random_.chance(20) ? call(Op::Where, {condition(), target.expr, other.expr})
                                              : call(random_.pick(ops), {target.expr, other.expr}));
  }

  void store(const Tile& tile, Tolerance tolerance = Tolerance::Exact) {
    Items offsets;
    const Expr y =
        tensor(tile.word, tile.dtype, random_.chance(80) ? Access::Out : Access::InOut, offsets, tolerance);
    k_.store(tile.expr, offsets, y);
  }

  /// An inexact operation on a float tile, straight into an output. Sums and products get operands of one
  /// size, so that one tolerance fits all orders of adding.
  void store_approximate() {
    constexpr DType narrow[] = {DType::Float16, DType::BFloat16};
    const bool is_narrow = all_dtypes_ && random_.chance(40);
    const DType dtype = is_narrow            ? random_.pick(narrow)
                        : random_.chance(70) ? DType::Float32
                                             : fitting(DType::Float64);
    std::vector<Op> candidates;
    for (const Operation& row : operations())
      if (row.exactness != Exactness::Exact && accepts(row.dtypes, dtype) && !is_tile_call(row.group) &&
          row.group != Group::Reduce)
        candidates.push_back(row.op);
    const Operation& row = operation(random_.pick(candidates));
    if (row.exactness == Exactness::Ulp4)
      return store(elementwise(row, 2, dtype, dtype, any_word()), Tolerance::Ulp4);
    const bool product = row.op == Op::RowProd || row.op == Op::ColProd;
    Tile operand = expression(2, dtype, random_.chance(50) ? "RC" : "BRC");
    const std::size_t from_end = row.group == Group::RowReduce ? 1 : 2;
    if (operand.word.size() < from_end) return;
    operand.word[operand.word.size() - from_end] = '1';
    operand.expr =
        call(row.op,
             {call(Op::Clamp, {operand.expr, literal(product ? 0.5 : -8.0), literal(product ? 1.5 : 8.0)})});
    store(operand, Tolerance::Sum);
  }

  // ---------------------------------------------------------------------------------- tile calls

  Random& random() override { return random_; }

  CallTile any_tile(DType dtype) override {
    const std::string word = any_word();
    const Tile tile = expression(1, dtype, word);
    CallTile result{tile.expr, dtype, {}};
    for (const char letter : tile.word) result.shape.push_back(call_extent(letter));
    return result;
  }

  CallTile tile(DType dtype, const Shape& shape) override {
    CallTile result{{}, dtype, {}};
    Items whole, offsets;
    RandomParameter parameter = tensor_parameter(dtype, true);
    for (const std::int64_t size : shape) {
      result.shape.push_back({size, Dim{size}, Item(size)});
      whole.push_back(size);
      offsets.push_back(0);
      parameter.extents.push_back(size);
    }
    program_.parameters.push_back(parameter);
    result.expr = load(k_.tensor(fresh("x"), Access::In, dtype), offsets, whole);
    return result;
  }

  Expr scalar_of(DType dtype) override { return scalar(dtype, 1); }
  Expr named(Expr value) override { return k_.let(fresh("v"), std::move(value)); }
  Expr literal_of(DType dtype) override { return any_literal(dtype); }

  CallExtent call_extent(char letter) {
    if (letter == '1') return {1, Dim{1}, Item(1)};
    const Extent& of = extent(letter);
    return {of.size, of.dim, of.name};
  }

  static RandomParameter tensor_parameter(DType dtype, bool is_input) {
    RandomParameter parameter;
    parameter.is_tensor = true;
    parameter.dtype = dtype;
    parameter.is_input = is_input;
    return parameter;
  }

  void store_tile_call() {
    if (random_.chance(10)) k_.synchronise(random_.chance(50) ? Op::BarrierAll : Op::PipeBarrier);
    const MakeCall make = random_.pick(call_makers());
    CallTile result = make(*this);
    // In a variable or not, and read by a loop nest or stored as it is.
    if (random_.chance(50)) result.expr = k_.let(fresh("called"), result.expr);
    if (result.tolerance == Tolerance::Exact && result.dtype != DType::Bool && random_.chance(40))
      result.expr = call(Op::Square, {result.expr});
    RandomParameter parameter = tensor_parameter(result.dtype, false);
    parameter.tolerance = result.tolerance;
    std::vector<Dim> dims;
    Items offsets;
    for (const CallExtent& extent : result.shape) {
      parameter.extents.push_back(extent.size);
      dims.push_back(extent.dim);
      offsets.push_back(0);
    }
    program_.parameters.push_back(parameter);
    const bool adds =
        result.dtype != DType::Bool && result.tolerance == Tolerance::Exact && random_.chance(20);
    const Expr y = k_.tensor(fresh("y"), adds ? Access::InOut : Access::Out, result.dtype, std::move(dims));
    k_.store(result.expr, offsets, y, adds ? Atomic::Add : Atomic::None);
  }

  void counted_loop(int depth) {
    const std::int64_t begin = random_.below(3), count = random_.below(5);
    const bool down = random_.chance(20);
    const std::int64_t step = down ? -1 : 1 + random_.below(2);
    const std::int64_t end = down ? begin - count : begin + count;
    // Parallel, too: what these loops carry and how they end is seen, and they run in order.
    constexpr LoopKind kinds[] = {LoopKind::Sequential, LoopKind::Parallel, LoopKind::Unroll,
                                  LoopKind::Pipeline};
    const LoopKind kind = random_.pick(kinds);
    k_.for_(
        fresh("i"), begin, end, step,
        [&](const Expr& i) {
          scalars_.push_back(i);
          body(depth);
          if (kind != LoopKind::Unroll && random_.chance(30)) {
            const bool leaves = random_.chance(50);
            k_.if_(call(Op::Gt, {i, literal(static_cast<int>(random_.below(4)))}),
                   [&] { leaves ? k_.break_() : k_.continue_(); });
            change(depth);
          }
          scalars_.pop_back();
        },
        kind);
  }

  void branch(int depth) {
    const bool has_else = random_.chance(60);
    k_.if_(
        condition(), [&] { body(depth); },
        has_else ? KernelBuilder::Body([&] { body(depth); }) : KernelBuilder::Body());
  }

  void while_loop(int depth) {
    const Expr n = k_.let(fresh("n"), integer(0));
    k_.while_(
        call(Op::Lt, {n, literal(static_cast<int>(random_.below(4)))}),
        [&] {
          scalars_.push_back(n);
          body(depth);
          scalars_.pop_back();
        },
        [&] { k_.assign(n, n + literal(1)); });
  }

  void block(int depth) {
    k_.block([&](std::int32_t number) {
      body(depth);
      k_.if_(condition(), [&] { k_.leave(number); });
      body(depth);
    });
  }

  /// Row by row through a matrix, by a region or by x[i].
  void row_loop() {
    const DType dtype = any_dtype();
    Items in_offsets, out_offsets;
    const Expr x = tensor("RC", dtype, Access::In, in_offsets);
    const Expr y = tensor("RC", dtype, Access::Out, out_offsets);
    const auto position = [](const Item& offset, const Expr& i) {
      return offset.expression.value.as_int64() == 0 ? Item(i) : Item(i + offset.expression);
    };
    const bool by_index = random_.chance(50);
    k_.for_(
        fresh("i"), 0, extent('R').name, 1,
        [&](const Expr& i) {
          const std::size_t tiles = tiles_.size();
          const Item& columns = extent('C').name;
          const std::string word = by_index ? "C" : "1C";
          const Tile row =
              new_tile({by_index ? load(index(x, position(in_offsets[0], i)), {in_offsets[1]}, {columns})
                                 : load(x, {position(in_offsets[0], i), in_offsets[1]}, {1, columns}),
                        dtype, word});
          Tile result = expression(2, dtype, word);
          if (result.word != word) result = row;
          if (by_index)
            k_.store(result.expr, {out_offsets[1]}, index(y, position(out_offsets[0], i)));
          else
            k_.store(result.expr, {position(out_offsets[0], i), out_offsets[1]}, y);
          tiles_.resize(tiles);
        },
        random_.chance(30) ? LoopKind::Parallel : LoopKind::Sequential);
  }

  /// Reads and writes one tensor.
  void in_place() {
    const DType dtype = any_dtype();
    const std::string word = any_word();
    Items offsets;
    const Expr y = tensor(word, dtype, Access::InOut, offsets);
    const Tile old = new_tile({load(y, offsets, region(word)), dtype, word});
    const Tile changed = expression(2, dtype, word);
    k_.store(changed.word == word ? changed.expr : old.expr, offsets, y);
  }

  RandomOptions options_;
  Random random_;
  KernelBuilder k_;
  RandomProgram program_;
  std::array<Extent, 3> extents_;
  std::vector<Tile> tiles_;    ///< variables in scope
  std::vector<Expr> scalars_;  ///< parameters and captures first, then what scopes define
  std::size_t outer_scalars_ = 0;
  bool all_dtypes_ = false;
  int names_ = 0;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, const RandomOptions& options) {
  return Generator(seed, options).generate();
}

}  // namespace trilith::codegen
