#include "codegen/ascendc/collective.hpp"

#include "codegen/ascendc/collective_functions.hpp"
#include "codegen/ascendc/lowering.hpp"
#include "codegen/ascendc/remote_functions.hpp"
#include "codegen/error.hpp"
#include "codegen/message.hpp"
#include "codegen/remote.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

constexpr std::int64_t most_elements = 4096;  ///< at a time

std::string number(std::int64_t value) { return std::to_string(value); }

/// Elements of a window that lie side by side.
struct Region {
  VariableId tensor = no_variable;
  int window = 0;
  DType dtype = DType::Float32;
  Address at;
  std::vector<std::int64_t> shape;
  std::int64_t count = 1;
  bool is_dense = true;

  /// In bytes.
  [[nodiscard]] std::string offset() const {
    if (at.is_constant()) return number(at.constant * bytes_of(dtype));
    return "(" + at.text() + ") * " + number(bytes_of(dtype));
  }
  [[nodiscard]] std::string text() const {
    std::string list;
    for (const std::int64_t extent : shape) list += (list.empty() ? "" : ", ") + number(extent);
    return std::string(name_of(dtype)) + "[" + list + "]";
  }
};

class Collective {
 public:
  Collective(Context& context, const Statement& statement)
      : c_(context), statement_(statement), call_(statement.value), roles_(remote_operands(call_)) {}

  void emit() {
    refuse_what_has_no_form();
    const Region data = region(roles_.window, roles_.offsets, roles_.shape, false);
    if (call_.op != Op::Barrier) require_dense(data);
    const std::string root = rank_operand(roles_.peer, data, call_.op == Op::SendRecv ? "from" : "root"),
                      to = rank_operand(roles_.to, data, "to");
    if (has_rows(call_.op)) require_rows(data);
    const Region counts = roles_.counts.given() ? counts_of(data) : Region{};
    const std::string meeting = meet(data),
                      moves = call_.op == Op::AllToAllV ? counted(data, counts) : body(data, root, to);
    c_.signal("{\n" + meeting + moves + "}", std::move(touches_), told(data));
  }

 private:
  [[nodiscard]] const Expr& operand(int role) const { return call_.operands[static_cast<std::size_t>(role)]; }
  [[nodiscard]] std::string title() const { return "pld::" + std::string(name_in_pld(call_.op)); }
  [[nodiscard]] std::string ranks(const Region& data) const {
    return "static_cast<int64_t>(WindowAt(windows, " + number(data.window) + ").ranks)";
  }

  void refuse_what_has_no_form() const {
    const DType dtype = c_.kernel.variables[operand(roles_.window).variable].type.dtype;
    if (const std::string reason = refusal(call_.op, dtype); !reason.empty())
      c_.refuse(title(), dtype, reason, statement_.location);
  }

  Region region(int window, int offsets, int shape, bool signals) {
    Region result;
    result.tensor = operand(window).variable;
    result.window = c_.window_of(result.tensor, signals);
    const TensorInfo& tensor = c_.tensors.at(result.tensor);
    result.dtype = tensor.dtype;
    const std::vector<Expr>&at = operand(offsets).operands, &lengths = operand(shape).operands;
    for (std::size_t axis = at.size(); axis-- > 0;) {
      const std::int64_t extent = lengths[axis].is_constant() ? lengths[axis].value.as_int64() : -1;
      if (extent < 0)
        throw pl::UserError("AscendC: " + title() + " of a part of a window whose extent " +
                                c_.kernel.variables[lengths[axis].variable].name +
                                " is computed when the kernel runs; give it constant extents",
                            c_.place(statement_.location));
      result.is_dense = result.is_dense && (extent == 1 || tensor.strides[axis].is(result.count));
      result.count *= extent;
      result.shape.insert(result.shape.begin(), extent);
    }
    result.at = c_.address_in(tensor, at, result.shape, call_);
    return result;
  }

  void require_dense(const Region& data) const {
    if (!data.is_dense && data.count != 0)
      throw pl::ShapeError(title() + " of " + data.text() +
                               ", a part of a window that is not dense; give the window or whole rows of it",
                           c_.place(statement_.location));
  }
  /// The first axis that the view has not dropped has a row for each rank.
  void require_rows(const Region& data) {
    const auto axis = static_cast<std::size_t>(call_.attributes.axis);
    const std::string rows = number(data.shape[axis]);
    c_.fault_if(rows + " != " + ranks(data), fault_shape, statement_.location,
                title() + " of " + data.text() + " among " + message::expected_word +
                    " ranks; its first extent is the number of ranks, one row each",
                rows, ranks(data));
  }
  std::string rank_operand(int role, const Region& data, const char* what) {
    if (role < 0) return "-1";
    const std::string rank = c_.index(operand(role));
    c_.check_peer(rank, data.window, title() + " " + what, statement_.location);
    return rank;
  }

  /// A cell of int32 for each rank.
  Region cells_of(const CellOperands& operands, const Region& data, const std::string& what) {
    const Region cells = region(operands.window, operands.offsets, operands.shape, what == "signal");
    touches_.push_back({c_.tensors.at(cells.tensor).object, true});
    c_.fault_if(number(cells.is_dense ? cells.count : 0) + " < " + ranks(data), fault_shape,
                statement_.location,
                title() + ": ." + what + " is " + cells.text() + (cells.is_dense ? "" : " strided") +
                    " among " + message::expected_word + " ranks; give one cell for each rank, side by side",
                number(cells.count), ranks(data));
    return cells;
  }

  /// The first axis that the view has not dropped is that of ranks, the one behind it that of items.
  [[nodiscard]] std::int64_t room_for_items(const Region& data) const {
    const auto axis = static_cast<std::size_t>(call_.attributes.axis) + 1;
    if (axis >= data.shape.size())
      throw pl::ShapeError(title() + " of " + data.text() + "; give a window of {ranks, most items, …}",
                           c_.place(statement_.location));
    return data.shape[axis];
  }

  /// Counts of items, none larger than a row has room for.
  Region counts_of(const Region& data) {
    const std::int64_t room = room_for_items(data);
    const Region counts = cells_of(roles_.counts, data, "counts");
    c_.function("BadCount", bad_count_function);
    const std::string bad = c_.names.fresh("bad_count");
    const ObjectId own = c_.tensors.at(counts.tensor).object,
                   held = c_.scratch(32 * WindowArgument::most_ranks);
    c_.open("{", false);
    c_.call("const BadCount " + bad + "(" + counts.at.of(Context::name(own)) + ", " + ranks(data) + ", " +
                number(room) + ", " + Context::name(held) + ".ReinterpretCast<int32_t>());",
            {{own, false}, {held, true}});
    c_.fault_if(bad + ".found", fault_peer, statement_.location,
                title() + ": " + message::given_word + " items for rank " + message::expected_word +
                    " from rank " + message::length_word + ", and a row of " + data.text() +
                    " has room for " + number(room),
                bad + ".given", bad + ".peer",
                "static_cast<int64_t>(WindowAt(windows, " + number(data.window) + ").rank)");
    c_.close();
    return counts;
  }

  std::string counted(const Region& data, const Region& counts) {
    const std::int64_t room = room_for_items(data),
                       items = data.shape[static_cast<std::size_t>(call_.attributes.axis)];
    const std::int64_t row = items == 0 ? 0 : data.count / items, item = room == 0 ? 0 : row / room;
    const std::string type = type_name(stored_as(data.dtype));
    const std::int64_t bytes =
        std::min(most_elements, round_up(std::max<std::int64_t>(row, 1), 64)) * bytes_of(data.dtype);
    const auto elements = [&] { return buffer(bytes) + ".ReinterpretCast<" + type + ">()"; };
    const auto cells = [&] {
      return buffer(32 * WindowArgument::most_ranks) + ".ReinterpretCast<int32_t>()";
    };
    c_.function("ExchangeItems", counted_function);
    const std::string here = elements(), there = elements(), sent = cells(), received = cells();
    return "  ExchangeItems<" + type + ">(meeting, WindowAt(windows, " + number(counts.window) + "), " +
           counts.offset() + ", " + data.offset() + ", " + number(row) + ", " + number(item) + ", " + here +
           ", " + there + ", " + sent + ", " + received + ");\n";
  }

  [[nodiscard]] WindowCall told(const Region& data) const {
    const auto known = [&](int role) {
      return role >= 0 && operand(role).is_constant() ? std::optional(operand(role).value.as_int64())
                                                      : std::nullopt;
    };
    return {.op = call_.op,
            .tensor = c_.tensors.at(data.tensor).index,
            .dtype = data.dtype,
            .elements = data.count,
            .offset =
                data.at.is_constant() ? std::optional(data.at.constant * bytes_of(data.dtype)) : std::nullopt,
            .root = known(roles_.peer),
            .to = known(roles_.to),
            .reduction = is_reduction(call_.op) ? static_cast<int>(call_.attributes.reduce) +
                                                      4 * static_cast<int>(call_.attributes.algorithm)
                                                : 0,
            .signal = signal_};
  }

  /// Declares the meeting.
  std::string meet(const Region& data) {
    c_.function("Notify", notify_function);
    c_.function("Meeting", meeting_functions);
    const ObjectId word = c_.scratch(32);
    touches_.push_back({c_.tensors.at(data.tensor).object, true});
    touches_.push_back({word, true});
    std::string cells;
    if (roles_.signal.given()) {
      const Region signal = cells_of(roles_.signal, data, "signal");
      signal_ = signal.text();
      cells = "WindowAt(windows, " + number(signal.window) + "), " + signal.offset() + ", ";
    }
    return "  Meeting meeting(WindowAt(windows, " + number(data.window) + "), " + cells +
           Context::name(word) + ".ReinterpretCast<int32_t>());\n";
  }

  std::string body(const Region& data, const std::string& root, const std::string& to) {
    if (call_.op == Op::Barrier) return "  meeting.Meet();\n  meeting.Leave();\n";
    if (data.count == 0) return "  meeting.Meet();\n  meeting.Meet();\n  meeting.Leave();\n";
    const std::string type = type_name(stored_as(data.dtype)), at = data.offset();
    const std::string count = number(data.count), row = "(" + count + " / meeting.ranks)";
    if (is_reduction(call_.op)) {
      const std::string sum = data.dtype == DType::Int32 ? "int32_t" : "float";
      const std::int64_t size = std::min(most_elements, round_up(data.count, 64));
      const std::string kinds =
          "<" + type + ", " + sum + ", " + number(static_cast<int>(call_.attributes.reduce)) + ">";
      c_.function("ReduceParts", reduce_functions);
      const std::string room =
          "ReduceRoom<" + type + ", " + sum + ">(" + buffer(size * 12) + ", " + number(size) + ")";
      if (call_.op == Op::ReduceScatter) {
        c_.function("ReduceScatter", reduce_scatter_function);
        return "  ReduceScatter" + kinds + "(meeting, " + at + ", " + row + ", " + room + ");\n";
      }
      if (call_.op == Op::Allreduce && call_.attributes.algorithm == Algorithm::Ring) {
        c_.function("ReduceByRing", ring_function);
        return "  ReduceByRing" + kinds + "(meeting, " + at + ", " + count + ", " + room + ");\n";
      }
      const std::string targets = call_.op == Op::Allreduce ? "0, meeting.ranks" : root + ", 1";
      return "  ReduceByMesh" + kinds + "(meeting, " + at + ", " + count + ", " + targets + ", " + room +
             ");\n";
    }
    const std::int64_t bytes = std::min(most_elements, round_up(data.count, 64)) * bytes_of(data.dtype);
    const auto room = [&] { return buffer(bytes) + ".ReinterpretCast<" + type + ">()"; };
    if (call_.op == Op::AllToAll) {
      c_.function("ExchangeRows", exchange_function);
      const std::string here = room(), there = room();
      return "  ExchangeRows<" + type + ">(meeting, " + at + ", " + row + ", " + here + ", " + there + ");\n";
    }
    c_.function("MovePart", move_function);
    if (call_.op == Op::Broadcast || call_.op == Op::SendRecv) {
      c_.function("SendPart", send_function);
      return "  SendPart<" + type + ">(meeting, " + at + ", " + count + ", " + root + ", " + to + ", " +
             room() + ");\n";
    }
    c_.function("GatherRows", gather_functions);
    return std::string(call_.op == Op::CommScatter ? "  ScatterRows<" : "  GatherRows<") + type +
           ">(meeting, " + at + ", " + row + ", " + (call_.op == Op::Allgather ? "-1" : root) + ", " +
           room() + ");\n";
  }

  /// Names memory of the unified buffer.
  std::string buffer(std::int64_t bytes) {
    const ObjectId object = c_.scratch(bytes);
    touches_.push_back({object, true});
    return Context::name(object);
  }

  Context& c_;
  const Statement& statement_;
  const Expr& call_;
  RemoteOperands roles_;
  std::vector<Touch> touches_;
  std::string signal_;
};

}  // namespace

void lower_collective(Context& context, const Statement& statement) { Collective(context, statement).emit(); }

}  // namespace trilith::codegen::ascendc
