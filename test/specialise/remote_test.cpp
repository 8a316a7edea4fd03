// Operations on windows, specialised: regions in the coordinates of the parameter, what is refused, and that nothing
// that touches memory crosses one.
#include "codegen/remote.hpp"
#include "codegen/error.hpp"
#include "codegen/interpreter.hpp"
#include "codegen/json.hpp"
#include "signatures.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

Expr number(std::int64_t value) { return constant(Constant::of(value)); }

/// x: float[8], y: out float[8], w: window float[4, 8], s: window int32[4], b: window bool[8], n: int64.
struct Kit {
  KernelBuilder k{"remote"};
  Expr x = k.tensor("x", Access::In, DType::Float32, {{8}});
  Expr y = k.tensor("y", Access::Out, DType::Float32, {{8}});
  Expr w = k.window("w", DType::Float32, {{4}, {8}});
  Expr s = k.window("s", DType::Int32, {{4}});
  Expr b = k.window("b", DType::Bool, {{8}});
  Expr n = k.scalar("n", DType::Int64);
  Expr none = list({});
};

Kernel made(const std::function<void(Kit&)>& make) {
  Kit kit;
  make(kit);
  return kit.k.take();
}

Signature all() {
  return signature({floats({8}), floats({8}), floats({4, 8}), tensor_argument(DType::Int32, {4}),
                    tensor_argument(DType::Bool, {8}), scalar_argument(DType::Int64)});
}

std::string text(const std::function<void(Kit&)>& make) { return body_text(specialise(made(make), all())); }

template <class Error>
std::string refused(const std::function<void(Kit&)>& make) {
  return message_of<Error>(made(make), all());
}

Attributes adding() {
  Attributes attributes;
  attributes.atomic = Atomic::Add;
  return attributes;
}

}  // namespace

TEST_CASE("remote: views become offsets on the window, and what is left out becomes the whole of it") {
  CHECK(text([](Kit& t) {
          const Expr tile = t.k.let("tile", load(t.x));
          t.k.remote(Op::RemoteStore, {tile, index(t.w, t.n), t.n + number(1), t.none});
          t.k.remote(Op::RemotePut, {index(t.w, number(3)), t.n, t.x, t.none, t.none, t.none}, adding());
          t.k.remote(Op::RemoteGet, {t.y, index(t.w, number(1)), number(0), list({2}), list({4}), list({3})});
          const Expr theirs = t.k.let("theirs", remote(Op::RemoteLoad, {slice(t.w, {1, 2}, {2, 4}), number(0),
                                                                        list({1, 1}), list({1, 2})}));
          const Expr whole = t.k.let("whole", remote(Op::RemoteLoad, {t.w, number(0), t.none, t.none}));
          t.k.remote(Op::RemoteStore, {theirs, t.w, number(1), list({0, 0})}, adding());
          t.k.remote(Op::RemoteStore, {whole, t.w, number(1), t.none});
        }) == R"(tile: float[8] = load x[0 : 8]
remote_store w[n, 0] of n + 1 = tile
put w[3, 0 : 1, 8] of n += x[0]
get y[4] = w[1, 2 : 1, 3] of 0
theirs: float[1, 2] = remote_load w[2, 3 : 1, 2] of 0
whole: float[4, 8] = remote_load w[0, 0 : 4, 8] of 0
remote_store w[0, 0] of 1 += theirs
remote_store w[0, 0] of 1 = whole
)");
  CHECK(text([](Kit& t) {
          const Expr rank = t.k.let("rank", remote(Op::CommRank, {t.w}));
          const Expr size = t.k.let("size", remote(Op::CommSize, {t.s}));
          Attributes set, equal, ring;
          set.notify = NotifyOp::Set;
          equal.compare = WaitCmp::Eq;
          ring.reduce = ReduceOp::Max;
          ring.algorithm = Algorithm::Ring;
          t.k.remote(Op::Notify, {t.s, rank, list({size}), number(1)});
          t.k.remote(Op::Notify, {t.s, number(0), t.none, t.n}, set);
          t.k.remote(Op::Wait, {t.s, t.none, number(1)});
          t.k.remote(Op::Wait, {slice(t.s, {2}, {2}), list({1}), t.n}, equal);
          t.k.remote(Op::DeferWait, {t.s, list({2}), t.n});
          t.k.remote(Op::Fence, {});
          t.k.remote(Op::Barrier, {t.w, t.none, t.none});
          t.k.remote(Op::Allreduce, {index(t.w, t.n), t.none, t.none}, ring);
          t.k.remote(Op::Broadcast, {t.w, t.none, t.none, number(2)});
        }) == R"(rank = comm_rank(w)
size = comm_size(s)
notify s[cast<int64, trunc>(size)] of cast<int64, trunc>(rank) += 1
notify s[0] of 0 = n
wait s[0] >= 1
wait s[3] == n
defer_wait s[2] >= n
fence
barrier w[0, 0 : 4, 8]
allreduce w[n, 0 : 1, 8], max, ring
broadcast w[0, 0 : 4, 8] from 2
)");
}

TEST_CASE("remote: collectives with a root, two ranks, counts and cells for their signal") {
  const auto program = [](Kit& t) {
    Attributes product;
    product.reduce = ReduceOp::Prod;
    t.k.remote(Op::CommReduce, {t.w, t.none, t.none, t.n}, product);
    t.k.remote(Op::CommScatter, {t.w, t.none, t.none, number(1)});
    t.k.remote(Op::CommGather, {index(t.w, number(2)), t.none, t.none, t.n});
    t.k.remote(Op::SendRecv, {t.w, t.none, t.none, number(0), t.n});
    t.k.remote(Op::AllToAllV, {t.w, t.none, t.none, t.s, t.none, t.none});
    t.k.remote(Op::Barrier, {t.w, t.none, t.none, slice(t.s, {1}, {2}), t.none, t.none});
    t.k.remote(Op::AllToAllV, {t.w, t.none, t.none, slice(t.s, {0}, {2}), t.none, t.none,
                               slice(t.s, {2}, {2}), t.none, t.none});
  };
  CHECK(text(program) == R"(comm_reduce w[0, 0 : 4, 8] to n, prod
comm_scatter w[0, 0 : 4, 8] from 1
comm_gather w[2, 0 : 1, 8] to n
send_recv w[0, 0 : 4, 8] from 0 to n
all_to_all_v w[0, 0 : 4, 8], counts s[0 : 4]
barrier w[0, 0 : 4, 8], signal s[1 : 2]
all_to_all_v w[0, 0 : 4, 8], counts s[0 : 2], signal s[2 : 2]
)");
  const Kernel kernel = made(program);
  for (const Kernel& one : {kernel, specialise(kernel, all())}) CHECK(kernel_from_json(to_json(one)) == one);
}

TEST_CASE("remote: cells of a collective that are none, and rows that are missing") {
  const auto barrier = [](const Expr Kit::* cells) {
    return [=](Kit& t) { t.k.remote(Op::Barrier, {t.w, t.none, t.none, t.*cells, t.none, t.none}); };
  };
  CHECK(refused<pl::UserError>(barrier(&Kit::y)) ==
        "kernel.cpp:2:3: barrier: y is no window; declare it pld::DistributedTensor<...>");
  CHECK(refused<pl::DtypeError>(barrier(&Kit::w)) ==
        "kernel.cpp:2:3: barrier: the cells of w are float and must be int32; declare it "
        "pld::DistributedTensor<std::int32_t, ...>");
  CHECK(refused<pl::DtypeError>([](Kit& t) {
          t.k.remote(Op::AllToAllV, {t.w, t.none, t.none, t.w, t.none, t.none});
        }).find("all_to_all_v: the cells of w are float") != std::string::npos);
  CHECK(refused<pl::DtypeError>([](Kit& t) { t.k.remote(Op::CommReduce, {t.b, t.none, t.none, t.n}); }) ==
        "kernel.cpp:2:3: reduce: bools cannot be added; use a window of another dtype");
  CHECK(refused<pl::ShapeError>([](Kit& t) {
          t.k.remote(Op::CommScatter, {index(t.s, number(0)), t.none, t.none, t.n});
        }) == "kernel.cpp:2:3: scatter: the window s has no rows; it needs one for each rank");
  CHECK(refused<pl::CommError>(
            [](Kit& t) { t.k.remote(Op::SendRecv, {t.w, t.none, t.none, t.n, number(-1)}); }) ==
        "kernel.cpp:2:3: send_recv: there is no rank -1; ranks count from 0 to pld::nranks(window) - 1");
}

TEST_CASE("remote: text of both stages survives JSON, with every attribute and the window's mark") {
  const Kernel kernel = made([](Kit& t) {
    Attributes all;
    all.notify = NotifyOp::Set;
    all.compare = WaitCmp::Eq;
    all.reduce = ReduceOp::Prod;
    all.algorithm = Algorithm::Mesh;
    all.atomic = Atomic::Add;
    t.k.remote(Op::Notify, {t.s, t.n, t.none, number(1)}, all);
    t.k.remote(Op::Fence, {});
    const Expr tile = t.k.let("tile", remote(Op::RemoteLoad, {t.w, t.n, t.none, t.none}));
    t.k.remote(Op::RemoteStore, {tile, t.w, t.n, t.none});
  });
  for (const Kernel& one : {kernel, specialise(kernel, all())}) {
    const std::string json = to_json(one);
    CHECK(kernel_from_json(json) == one);
    CHECK(json.find("\"window\":true") != std::string::npos);
  }
  CHECK(to_text(kernel).find("w: window tensor<float>[4, 8]") != std::string::npos);
  // What does not use windows is written as before.
  KernelBuilder plain("plain");
  static_cast<void>(plain.tensor("x", Access::InOut, DType::Float32));
  CHECK(to_json(plain.take()).find("window") == std::string::npos);
}

TEST_CASE("remote: nothing is dropped, moved or merged across a request") {
  CHECK(text([](Kit& t) {
          t.k.let("unused", remote(Op::RemoteLoad, {t.w, t.n, t.none, t.none}));
          t.k.let("unused_rank", remote(Op::CommRank, {t.w}));
          const Expr before = t.k.let("before", load(t.s));
          const Expr kept = t.k.local("kept", Type::tile(DType::Int32));
          t.k.if_(
              t.n > number(0),
              [&] {
                const Expr first = t.k.let("first", load(t.s));
                t.k.remote(Op::Wait, {t.s, t.none, number(1)});
                t.k.assign(kept, first);
              },
              [&] { t.k.assign(kept, before); });
          t.k.store(kept, {0}, t.s);
        }) == R"(unused: float[4, 8] = remote_load w[0, 0 : 4, 8] of n
before: int32[4] = load s[0 : 4]
if n > 0
  first: int32[4] = load s[0 : 4]
  wait s[0] >= 1
  kept: int32[4] = first
else
  kept = before
store s[0] = kept
)");
}

TEST_CASE("remote: which kernels use windows and which may wait") {
  const auto plain = [](const auto& make) { return made(make); };
  CHECK(uses_windows(plain([](Kit&) {})));
  CHECK_FALSE(may_wait(plain([](Kit& t) { t.k.remote(Op::Notify, {t.s, t.n, t.none, number(1)}); })));
  CHECK_FALSE(may_wait(plain([](Kit& t) { t.k.remote(Op::Fence, {}); })));
  CHECK(may_wait(plain(
      [](Kit& t) { t.k.if_(t.n > number(0), [&] { t.k.remote(Op::Wait, {t.s, t.none, number(1)}); }); })));
  for (const Op op : {Op::Barrier, Op::Allreduce, Op::Allgather, Op::ReduceScatter, Op::AllToAll})
    CHECK(may_wait(plain([&](Kit& t) { t.k.remote(op, {t.w, t.none, t.none}); })));
  for (const Op op : {Op::Broadcast, Op::CommReduce, Op::CommScatter, Op::CommGather})
    CHECK(may_wait(plain([&](Kit& t) { t.k.remote(op, {t.w, t.none, t.none, t.n}); })));
  CHECK(may_wait(plain([](Kit& t) { t.k.remote(Op::SendRecv, {t.w, t.none, t.none, t.n, t.n}); })));
  KernelBuilder k("none");
  static_cast<void>(k.tensor("x", Access::InOut, DType::Float32));
  CHECK_FALSE(uses_windows(k.take()));
}

TEST_CASE("remote: a tensor that is no window, and cells that are no int32") {
  CHECK(refused<pl::UserError>([](Kit& t) { t.k.remote(Op::Barrier, {t.y, t.none, t.none}); }) ==
        "kernel.cpp:2:3: barrier: y is no window; declare it pld::DistributedTensor<...>");
  CHECK(refused<pl::DtypeError>([](Kit& t) { t.k.remote(Op::DeferWait, {t.w, t.none, t.n}); }) ==
        "kernel.cpp:2:3: defer_wait: the cells of w are float and must be int32; declare it "
        "pld::DistributedTensor<std::int32_t, ...>");
  CHECK(refused<pl::DtypeError>([](Kit& t) { t.k.remote(Op::Wait, {t.w, t.none, t.n}); }) ==
        "kernel.cpp:2:3: wait: the cells of w are float and must be int32; declare it "
        "pld::DistributedTensor<std::int32_t, ...>");
  CHECK(refused<pl::DtypeError>([](Kit& t) { t.k.remote(Op::Allreduce, {t.b, t.none, t.none}); }) ==
        "kernel.cpp:2:3: allreduce: bools cannot be added; use a window of another dtype");
}

TEST_CASE("remote: a peer, a value or a region that cannot be is refused on a line that surely runs") {
  CHECK(refused<pl::CommError>([](Kit& t) { t.k.remote(Op::Notify, {t.s, number(-1), t.none, t.n}); }) ==
        "kernel.cpp:2:3: notify: there is no rank -1; ranks count from 0 to pld::nranks(window) - 1");
  CHECK(refused<pl::CommError>([](Kit& t) {
          t.k.remote(Op::Wait, {t.s, t.none, number(std::int64_t{1} << 31)});
        }) == "kernel.cpp:2:3: wait: 2147483648 is no value of a cell, which is an int32");
  CHECK(refused<pl::ShapeError>([](Kit& t) { t.k.remote(Op::Wait, {t.s, list({4}), t.n}); }) ==
        "kernel.cpp:2:3: wait: offset 4 with extent 1 on axis 0 is not inside the tensor, whose extent is 4; "
        "make the region smaller or move it inside");
  CHECK(refused<pl::ShapeError>([](Kit& t) { t.k.remote(Op::Notify, {t.s, t.n, list({0, 0}), t.n}); }) ==
        "kernel.cpp:2:3: notify: the tensor has rank 1, but 2 offsets and a shape of rank 1 are given; give "
        "one of "
        "each for every axis");
  CHECK(refused<pl::ShapeError>([](Kit& t) {
          t.k.let("t", remote(Op::RemoteLoad, {t.w, t.n, list({3, 0}), list({2, 8})}));
        }).find("remote_load: offset 3 with extent 2 on axis 0") != std::string::npos);
  CHECK(refused<pl::ShapeError>([](Kit& t) {
          t.k.remote(Op::RemoteGet, {t.y, index(t.w, t.n), t.n, list({0}), list({5}), list({4})});
        }).find("get: offset 5 with extent 4 on axis 0") != std::string::npos);
  // On a line that may never run it is the host's to say.
  CHECK(refused<pl::UserError>([](Kit& t) {
          t.k.if_(t.n > number(0), [&] { t.k.remote(Op::Notify, {t.s, number(-1), list({9}), t.n}); });
        }) == "");
}

TEST_CASE("remote: tiles and tensors that are not like the window") {
  CHECK(refused<pl::DtypeError>(
            [](Kit& t) { t.k.remote(Op::RemoteStore, {load(t.s), index(t.w, t.n), t.n, t.none}); }) ==
        "kernel.cpp:2:3: remote_store: the tile is int32 and the window w is float; convert the tile with "
        "pl::cast<float>(...)");
  CHECK(refused<pl::ShapeError>([](Kit& t) { t.k.remote(Op::RemoteStore, {t.n, t.s, t.n, t.none}); }) ==
        "kernel.cpp:2:3: remote_store: a scalar is no tile; make one of the shape to be written with "
        "pl::full<T>({...}, value)");
  CHECK(
      refused<pl::ShapeError>(
          [](Kit& t) { t.k.remote(Op::RemotePut, {t.w, t.n, t.x, t.none, t.none, t.none}); }) ==
      "kernel.cpp:2:3: put: x is float[8] and the window w float[4, 8]; both must have one rank: take a part "
      "with x[i]");
  CHECK(refused<pl::DtypeError>([](Kit& t) {
          t.k.remote(Op::RemotePut, {t.s, t.n, t.x, t.none, t.none, t.none});
        }) == "kernel.cpp:2:3: put: x is float[8] and the window s int32[4]; both must have one dtype");
  CHECK(refused<pl::ShapeError>([](Kit& t) {
          t.k.remote(Op::RemotePut, {index(t.w, t.n), t.n, t.x, list({0}), t.none, t.none});
        }) ==
        "kernel.cpp:2:3: put: dst_offsets, src_offsets and shape belong together; give all of them or none, "
        "which means the whole tensor");
  CHECK(refused<pl::UserError>([](Kit& t) {
          t.k.remote(Op::RemoteGet, {t.x, index(t.w, t.n), t.n, t.none, t.none, t.none});
        }) == "kernel.cpp:2:3: get: x is read-only; declare it pl::Out<...> or pl::InOut<...>");
  CHECK(refused<pl::ShapeError>([](Kit& t) {
          t.k.remote(Op::AllToAll, {index(t.s, number(0)), t.none, t.none});
        }) == "kernel.cpp:2:3: all_to_all: the window s has no rows; it needs one for each rank");
}

TEST_CASE("remote: the interpreter has no other ranks, and says so at the line") {
  const Kernel kernel = made([](Kit& t) { t.k.remote(Op::Fence, {}); });
  std::vector<float> memory(32);
  std::vector<std::int32_t> cells(4);
  bool flags[8] = {};
  const std::vector<Argument> arguments = {TensorView{DType::Float32, memory.data(), {8}, {1}},
                                           TensorView{DType::Float32, memory.data(), {8}, {1}},
                                           TensorView{DType::Float32, memory.data(), {4, 8}, {8, 1}},
                                           TensorView{DType::Int32, cells.data(), {4}, {1}},
                                           TensorView{DType::Bool, flags, {8}, {1}},
                                           Value::scalar(std::int64_t{0})};
  try {
    interpret(kernel, arguments, {});
    FAIL("expected an error");
  } catch (const pl::UserError& error) {
    CHECK(std::string(error.what()) ==
          "kernel.cpp:2:3: 'fence' needs other ranks: run the kernel in a pl::jit.host program, with one "
          "device a "
          "rank");
  }
}

TEST_CASE("remote: the rules of the verifier, each broken once") {
  const Kernel good = specialise(made([](Kit& t) {
                                   t.k.remote(Op::Wait, {t.s, t.none, t.n});
                                   const Expr tile =
                                       t.k.let("tile", remote(Op::RemoteLoad, {t.w, t.n, t.none, t.none}));
                                   t.k.remote(Op::RemoteStore, {tile, t.w, t.n, t.none});
                                 }),
                                 all());
  const auto broken = [&](const std::function<void(Kernel&)>& change) {
    Kernel kernel = good;
    change(kernel);
    return broken_rule(kernel);
  };
  CHECK(broken([](Kernel&) {}) == "");
  CHECK(broken([](Kernel& kernel) { kernel.parameters[3].window = false; }) ==
        "'wait' of a tensor that is no window");
  CHECK(broken([](Kernel& kernel) { kernel.parameters[0].window = true; }) ==
        "a window that is no inout tensor");
  CHECK(broken([](Kernel& kernel) { kernel.body[0].value.operands[1].operands.clear(); }) ==
        "a list of 0 instead of 1");
  CHECK(broken([](Kernel& kernel) { kernel.body[0].value.operands[2] = constant(Constant::of(true)); }) ==
        "a peer or value that is no int64");
  CHECK(broken([](Kernel& kernel) { kernel.body[1].value.operands[3].operands[1] = number(7); }) ==
        "a shape list that is not the tile's shape");
  CHECK(broken([](Kernel& kernel) { kernel.body[2].value.operands[1] = kernel.body[0].value.operands[0]; }) ==
        "a list of 2 instead of 1");
  CHECK(broken([](Kernel& kernel) { kernel.body[2].value.operands[0] = kernel.body[0].value.operands[2]; }) ==
        "'remote_store' of int64 to float[4, 8]");
  CHECK(broken([](Kernel& kernel) { kernel.body[1].kind = StatementKind::Evaluate; }) ==
        "'remote_load' as a statement");
  CHECK(broken([](Kernel& kernel) {
          kernel.body[0].kind = StatementKind::Assign;
          kernel.body[0].variable = kernel.body[1].variable;
        }) == "'wait' as a value");
  CHECK(broken([](Kernel& kernel) {
          Expr negated = call(Op::Neg, {kernel.body[1].value});
          kernel.body[1].value = std::move(negated);
        }) == "a 'remote_load' inside 'neg'");
}
