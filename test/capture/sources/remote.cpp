// Kernels that use windows, in every form of their operations.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

constexpr auto N = pl::dynamic("N");

auto ring = pl::jit.incore([](pl::Tensor<float, N> x, pl::Out<pl::Tensor<float, N>> y,
                              pld::DistributedTensor<float, N> data,
                              pld::DistributedTensor<std::int32_t, 4> signal) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::load(x), data, {.peer = next});
  pld::notify(signal, {.peer = next});
  pld::wait(signal);
  y = pl::store(pl::load(data), y);
});

auto options = pl::jit.incore([](pld::DistributedTensor<float, 4, 8> w,
                                 pld::DistributedTensor<std::int32_t, 2, 4> s, pl::Tensor<float, 8> x,
                                 pl::Out<pl::Tensor<float, 8>> y, pl::Scalar<int> r) {
  pld::notify(s, {.peer = r + 1, .offsets = {1, r}, .value = 3, .op = pld::NotifyOp::Set});
  pld::wait(s, {.offsets = {0, r}, .expected = r, .cmp = pld::WaitCmp::Eq});
  pld::wait(s[1], {.offsets = {2}, .expected = 5});
  pld::remote_store(pl::load(x), w[r], {.peer = 0, .offsets = {0}, .atomic = pl::Atomic::Add});
  auto tile = pld::remote_load(w, {.peer = r, .offsets = {1, 0}, .shape = {1, 8}});
  pld::remote_store(tile * 2.f, w, {.peer = 1, .offsets = {2, 0}});
  pld::put(w[0], {.peer = r, .src = x});
  pld::put(w, {.peer = r, .src = w, .dst_offsets = {1, 0}, .src_offsets = {0, 0}, .shape = {2, 4}, .atomic = pl::Atomic::Add});
  pld::get(y, w[2], {.peer = 1});
  pld::get(y, w[2], {.peer = 1, .src_offsets = {0}, .dst_offsets = {4}, .shape = {4}});
  pld::fence();
});

auto collectives = pl::jit.incore([](pld::DistributedTensor<float, 4, 8> w, pl::Scalar<int> r) {
  pld::barrier(w);
  pld::allreduce(w);
  pld::allreduce(w[1], {.op = pld::ReduceOp::Max, .algorithm = pld::Algorithm::Ring});
  pld::broadcast(w.slice({0, 2}, {4, 2}), {.root = r});
  pld::broadcast(w);
  pld::allgather(w);
  pld::reduce_scatter(w, {.op = pld::ReduceOp::Min});
  pld::all_to_all(w);
});

auto rooted = pl::jit.incore([](pld::DistributedTensor<float, 4, 2, 4> w, pld::DistributedTensor<std::int32_t, 4> counts,
                                pld::DistributedTensor<std::int32_t, 2, 4> cells, pl::Scalar<int> r) {
  pld::reduce(w, {.root = r, .op = pld::ReduceOp::Prod});
  pld::reduce(w);
  pld::scatter(w, {.root = 1});
  pld::gather(w[0], {.root = r});
  pld::send_recv(w, {.from = r, .to = 0});
  pld::all_to_all_v(w, counts);
  pld::all_to_all_v(w, counts, {.signal = cells[1]});
});

auto given = pl::jit.incore([](pld::DistributedTensor<float, 4, 8> w, pld::DistributedTensor<std::int32_t, 4> s,
                               pld::DistributedTensor<std::int32_t, 2, 4> t, pl::Scalar<int> r) {
  pld::barrier(w, {.signal = s});
  pld::allreduce(w, {.algorithm = pld::Algorithm::Mesh, .signal = t[r]});
  pld::broadcast(w, {.root = r, .signal = t.slice({1, 0}, {1, 4})});
  pld::send_recv(w, {.from = 0, .to = r, .signal = s});
  pld::gather(w, {.signal = {}});
  const pld::Signal same = s;
  pld::gather(w, {.root = 2, .signal = same});
});

int next_of(pld::CommCtx ctx, int by) { return (pld::rank(ctx) + by) % pld::nranks(ctx); }
auto shift = pl::jit.inline_([](auto window, const pl::Tile<float>& tile, int by) {
  pld::remote_store(tile, window, {.peer = next_of(pld::get_comm_ctx(window), by)});
});

auto helpers = pl::jit.incore([](pl::Tensor<float> x, pld::DistributedTensor<float> w) {
  auto ctx = pld::get_comm_ctx(w);
  auto tile = pl::load(w);
  shift(w, pl::load(x), 1);
  w = pl::store(tile, w);
  if (pld::rank(ctx) == 0 && pld::nranks(ctx) > 1) pld::barrier(w);
});

int counted(pld::DistributedTensor<std::int32_t, 4> s) {
  pld::wait(s);
  return 1;
}
auto order = pl::jit.incore([](pld::DistributedTensor<std::int32_t, 4> s, pl::Out<pl::Tensor<std::int32_t, 4>> y) {
  pld::remote_store(pl::load(s), s, {.peer = counted(s)});
  y = pl::store(pl::load(s) + pld::remote_load(s, {.peer = 0}), y);
});
