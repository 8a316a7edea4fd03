// A remote store of a tile that is nothing but loaded, with no change of memory in between, sends the elements from where
// they lie; every other one sends a copy of what the load saw.
#include "emitter/ranks.hpp"

#include <functional>
#include <numeric>

using namespace emitter_test;
using namespace pl::abi;

namespace {

/// A kernel of float[4, 6] x and window w. Gives where the data of the first remote store lay: the number of an element of
/// x, 100 + that of one of w, or -1: elsewhere. `elements`: of what was sent.
std::int64_t sent_from(const std::function<void(KernelBuilder&, const Expr& x, const Expr& w)>& body,
                       std::vector<float>& elements, Access access = Access::In, bool strided = false) {
  KernelBuilder k("sends");
  const Expr x = k.tensor("x", access, DType::Float32, shape({4, 6}));
  const Expr w = k.window("w", DType::Float32, shape({4, 6}));
  body(k, x, w);
  TensorSpec spec{{4, 6}};
  if (strided) spec.layout = Layout::InnerDense;
  const Call call(k.take(), {spec, TensorSpec{{4, 6}}});
  std::vector<float> in(48), window(24);
  std::iota(in.begin(), in.end(), 0.0f);
  Ranks ranks;
  std::int64_t from = -1;
  ranks.answer = [&](Remote& request) {
    if (request.operation != remote_store || !elements.empty()) return 0;
    const auto* data = static_cast<const float*>(request.data);
    if (data >= in.data() && data < in.data() + in.size()) from = data - in.data();
    if (data >= window.data() && data < window.data() + window.size()) from = 100 + (data - window.data());
    std::int64_t count = 1;
    for (int axis = 0; axis < request.rank; ++axis) count *= request.shape[axis];
    elements.assign(data, data + count);
    return 0;
  };
  const std::vector<List> strides{{strided ? 12 : 6, 1}, {6, 1}};
  std::vector<Tensor> tensors;
  const std::vector<void*> memory{in.data(), window.data()};
  for (std::size_t i = 0; i < 2; ++i)
    tensors.push_back({memory[i], call.extents[i].data(), strides[i].data()});
  const Args args{tensors.data(), nullptr, 0, 1};
  CHECK(call.entry(&args, &ranks.services) == 0);
  return from;
}

void send(KernelBuilder& k, const Expr& tile, const Expr& w) {
  k.remote(Op::RemoteStore, {tile, w, integer(1), list({})});
}

}  // namespace

TEST_CASE("remote: of a tensor and of dense parts of it the elements are sent from where they lie") {
  for (const Access access : {Access::In, Access::InOut}) {
    std::vector<float> sent;
    CHECK(sent_from([](auto& k, const Expr& x, const Expr& w) { send(k, k.let("t", load(x)), w); }, sent,
                    access) == 0);
    CHECK(sent.size() == 24);
    sent.clear();
    const auto rows = [](auto& k, const Expr& x, const Expr& w) {
      const Expr t = k.let("t", load(x, {1, 0}, {2, 6}));
      const Expr me = k.let("me", remote(Op::CommRank, {w}));
      k.remote(Op::RemoteStore, {t, w, me + literal(1), list({0, 0})});
    };
    CHECK(sent_from(rows, sent, access) == 6);
    CHECK(sent.size() == 12);
    CHECK(sent.front() == 6);
    sent.clear();
    const auto part_of_a_row = [](auto& k, const Expr& x, const Expr& w) {
      k.for_("i", 3, 4, 1, [&](const Expr& i) {
        k.remote(Op::RemoteStore, {k.let("t", load(x, {i, 2}, {1, 3})), w, integer(1), list({0, 0})});
      });
    };
    CHECK(sent_from(part_of_a_row, sent, access) == 20);
    CHECK(sent == std::vector<float>{20, 21, 22});
    sent.clear();
    CHECK(sent_from([](auto& k, const Expr&, const Expr& w) { send(k, k.let("t", load(w)), w); }, sent,
                    access) == 100);
  }
}

TEST_CASE("remote: columns, a strided tensor, a tile that is used again or computed are sent as copies") {
  std::vector<float> sent;
  CHECK(sent_from(
            [](auto& k, const Expr& x, const Expr& w) {
              k.remote(Op::RemoteStore, {k.let("t", load(x, {0, 2}, {4, 2})), w, integer(1), list({0, 0})});
            },
            sent) == -1);
  CHECK(sent == std::vector<float>{2, 3, 8, 9, 14, 15, 20, 21});
  sent.clear();
  CHECK(sent_from([](auto& k, const Expr& x, const Expr& w) { send(k, k.let("t", load(x)), w); }, sent,
                  Access::In, true) == -1);
  CHECK(sent[6] == 12);
  sent.clear();
  const auto twice = [](auto& k, const Expr& x, const Expr& w) {
    const Expr t = k.let("t", load(x));
    send(k, t, w);
    k.store(t * literal(2), {0, 0}, w);
  };
  CHECK(sent_from(twice, sent) == -1);
  sent.clear();
  CHECK(
      sent_from([](auto& k, const Expr& x, const Expr& w) { send(k, k.let("t", load(x) * literal(-1)), w); },
                sent) == -1);
  CHECK(sent[5] == -5);
}

TEST_CASE("remote: what is stored behind the load is not sent") {
  std::vector<float> sent;
  const auto stored = [](auto& k, const Expr& x, const Expr& w) {
    const Expr t = k.let("t", load(x));
    k.store(full(DType::Float32, {4, 6}, literal(9)), {0, 0}, x);
    send(k, t, w);
  };
  CHECK(sent_from(stored, sent, Access::InOut) == -1);
  CHECK(sent[7] == 7);
  sent.clear();
  const auto signalled = [](auto& k, const Expr&, const Expr& w) {
    const Expr t = k.let("t", load(w));
    k.remote(Op::Fence, {});
    send(k, t, w);
  };
  CHECK(sent_from(signalled, sent) == -1);
}
