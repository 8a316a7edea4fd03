// The kernel library on the model of Ascend hardware against the simulator: every kernel, in float and in the 16-bit floats.
// What the hardware has no lowering for is named here, with the reason.
#include "kernels/kernels.hpp"
#include "kernels/support.hpp"

#include <array>
#include <functional>
#include <string>

using namespace kernels_test;

namespace {

template <class T>
using Out = pl::Out<pl::Tensor<T>>;

pl::RunConfig on(const char* platform) {
  pl::RunConfig config = support::cached();
  config.platform = platform;
  return config;
}

/// Runs a kernel on both and compares; `call` gets the result's tensor.
template <class T, class Call>
void agree(const std::string& what, const pl::Index& shape, double error, const Call& call) {
  CAPTURE(what);
  pl::Array<T> expected(shape), given(shape);
  {
    pl::Context context(on("a2a3sim"));
    const pl::ContextScope scope(context);
    call(expected);
  }
  pl::Context context(on("a2a3model"));
  const pl::ContextScope scope(context);
  call(given);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double want = wide(expected.data()[i]), got = wide(given.data()[i]);
    if (want == got || std::abs(want - got) <= error * (1 + std::abs(want))) continue;
    FAIL_CHECK("element ", i, ": got ", got, ", expected ", want);
    return;
  }
}

/// What the model's emitter says of a kernel that it refuses; "" where it runs.
std::string refusal_of(const std::function<void()>& call) {
  pl::Context context(on("a2a3model"));
  const pl::ContextScope scope(context);
  return support::message_of<pl::Error>(call);
}

template <class T>
constexpr double loose = sizeof(T) == 2 ? 2e-2 : 2e-5;

template <class T>
void elements() {
  const auto x = filled<T>({6, 75}), up = filled<T>({6, 75}, 2);
  const auto slope = filled<T>({75}, 3);
  const auto each = [&](const char* what, const auto& kernel) {
    agree<T>(what, {6, 75}, loose<T>, [&](auto& y) { kernel(x, y); });
  };
  each("relu", pl::kernels::relu<T>);
  each("silu", pl::kernels::silu<T>);
  each("gelu", pl::kernels::gelu<T>);
  each("gelu_tanh", pl::kernels::gelu_tanh<T>);
  agree<T>("lrelu", {6, 75}, loose<T>, [&](auto& y) { pl::kernels::lrelu<T>(x, y, 0.1f); });
  agree<T>("prelu", {6, 75}, loose<T>, [&](auto& y) { pl::kernels::prelu<T>(x, slope, y); });
  agree<T>("swiglu", {6, 75}, loose<T>, [&](auto& y) { pl::kernels::swiglu<T>(x, up, y); });
  agree<T>("geglu", {6, 75}, loose<T>, [&](auto& y) { pl::kernels::geglu<T>(x, up, y); });
}

template <class T>
void rows() {
  const auto x = filled<T>({5, 130}), gamma = filled<T>({130}, 2), beta = filled<T>({130}, 3);
  const pl::Index shape{5, 130};
  agree<T>("softmax", shape, loose<T>, [&](auto& y) { pl::kernels::softmax<T>(x, y); });
  agree<T>("log_softmax", shape, loose<T>, [&](auto& y) { pl::kernels::log_softmax<T>(x, y); });
  agree<T>("layernorm", shape, 5 * loose<T>,
           [&](auto& y) { pl::kernels::layernorm<T>(x, gamma, beta, y, 1e-3f); });
  agree<T>("rmsnorm", shape, 5 * loose<T>, [&](auto& y) { pl::kernels::rmsnorm<T>(x, gamma, y, 1e-3f); });
  agree<T>("transpose", {130, 5}, 0, [&](auto& y) { pl::kernels::transpose<T>(x, y); });
  agree<T>("cumsum", shape, loose<T>, [&](auto& y) { pl::kernels::cumsum<T>(x, y); });
  agree<std::int32_t>("argmax", {5, 1}, 0, [&](auto& y) { pl::kernels::argmax<T>(x, y); });
  agree<T>("top_k", {5, 7}, 0, [&](auto& y) {
    pl::Array<std::int32_t> indices({5, 7});
    pl::kernels::top_k<T>(x, y, indices, 7);
  });
  agree<std::int32_t>("top_k, indices", {5, 7}, 0, [&](auto& y) {
    pl::Array<T> values({5, 7});
    pl::kernels::top_k<T>(x, values, y, 7);
  });
  pl::Array<std::int32_t> ids({9}), targets({5, 1});
  for (int i = 0; i < 9; ++i) ids(i) = (3 * i + 1) % 5;
  for (int i = 0; i < 5; ++i) targets(i, 0) = 20 * i;
  agree<T>("embedding", {9, 130}, 0, [&](auto& y) { pl::kernels::embedding<T>(x, ids, y); });
  agree<float>("cross_entropy", {5, 1}, loose<T>,
               [&](auto& y) { pl::kernels::cross_entropy<T>(x, targets, y); });
  const auto cosine = filled<float>({5, 65}, 4), sine = filled<float>({5, 65}, 5);
  agree<T>("rope", shape, loose<T>, [&](auto& y) { pl::kernels::rope<T>(x, cosine, sine, y); });
  agree<std::int8_t>("quantise", shape, 0, [&](auto& q) {
    pl::Array<float> scale({5, 1});
    pl::kernels::quantise<T>(x, q, scale);
  });
  pl::Array<std::int8_t> q(shape);
  for (std::size_t i = 0; i < q.size(); ++i)
    q.data()[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 255) - 127);
  const auto scale = filled<float>({5, 1}, 6);
  agree<T>("dequantise", shape, loose<T>, [&](auto& y) { pl::kernels::dequantise<T>(q, scale, y); });
}

template <class T>
void products() {
  const auto a = filled<T>({17, 40}), b = filled<T>({40, 33}, 2);
  const auto bias = filled<float>({33}, 3);
  const pl::Index shape{17, 33};
  const double error = sizeof(T) == 2 ? 2e-2 : 1e-4;
  agree<T>("matmul", shape, error, [&](auto& y) { pl::kernels::matmul<T>(a, b, y); });
  agree<T>("linear", shape, error, [&](auto& y) { pl::kernels::linear<T>(a, b, bias, y); });
  agree<T>("linear_relu", shape, error, [&](auto& y) { pl::kernels::linear_relu<T>(a, b, bias, y); });
  agree<T>("linear_silu", shape, error, [&](auto& y) { pl::kernels::linear_silu<T>(a, b, bias, y); });
  agree<T>("linear_gelu", shape, error, [&](auto& y) { pl::kernels::linear_gelu<T>(a, b, bias, y); });
  const auto many = filled<T>({2, 5, 40});
  agree<T>("batched_matmul", {2, 5, 33}, error, [&](auto& y) { pl::kernels::batched_matmul<T>(many, b, y); });
}

}  // namespace

TEST_CASE("on the model of the hardware, activations of the library agree with the simulator") {
  elements<float>();
  elements<pl::half>();
  elements<pl::bfloat16>();
}

TEST_CASE("on the model of the hardware, kernels of the library along rows agree with the simulator") {
  rows<float>();
  rows<pl::half>();
  rows<pl::bfloat16>();
}

TEST_CASE("on the model of the hardware, products of the library agree with the simulator") {
  products<float>();
  products<pl::half>();
  products<pl::bfloat16>();
}

TEST_CASE(
    "on the model of the hardware, attention agrees with the simulator, also where blocks do not divide the "
    "lengths") {
  for (const auto& [queries, keys] : {std::pair<std::int64_t, std::int64_t>{5, 5}, {64, 128}, {70, 130}}) {
    const auto q = filled<float>({2, queries, 24}), k = filled<float>({2, keys, 24}, 2),
               v = filled<float>({2, keys, 24}, 3);
    const pl::Index shape{2, queries, 24};
    agree<float>("attention", shape, 1e-4, [&](auto& y) { pl::kernels::attention<float>(q, k, v, y, 0.2f); });
    agree<float>("causal_attention", shape, 1e-4,
                 [&](auto& y) { pl::kernels::causal_attention<float>(q, k, v, y, 0.2f); });
  }
  constexpr std::int64_t batch = 3, heads = 2, depth = 8, page = 4, pages = 9, most = 3;
  const auto q = filled<float>({batch, heads, depth}), k = filled<float>({pages, page, heads, depth}, 2),
             v = filled<float>({pages, page, heads, depth}, 3);
  pl::Array<std::int32_t> table({batch, most}), lengths({batch});
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < most; ++i) table(b, i) = static_cast<std::int32_t>((5 * b + 2 * i) % pages);
    lengths(b) = static_cast<std::int32_t>(std::array{1, 4, 7}[static_cast<std::size_t>(b)]);
  }
  agree<float>("paged_attention", {batch, heads, depth}, 1e-4,
               [&](auto& y) { pl::kernels::paged_attention<float>(q, k, v, table, lengths, y, 0.25f); });
}

TEST_CASE(
    "on the model of the hardware, split_k_matmul agrees with the simulator, also where blocks have parts of "
    "several lengths, or none") {
  const auto a = filled<float>({17, 40}), b = filled<float>({40, 33}, 2);
  for (const std::int32_t parts : {3, 43})
    agree<float>("split_k_matmul", {17, 33}, 1e-4, [&](auto& c) {
      pl::kernels::split_k_matmul<float>(a.view(), b.view(), Out<float>(c.view()), parts);
    });
  const auto narrow_a = filled<pl::half>({5, 300}), narrow_b = filled<pl::half>({300, 9}, 2);
  agree<pl::half>("split_k_matmul of half", {5, 9}, 2e-2, [&](auto& c) {
    pl::kernels::split_k_matmul<pl::half>(narrow_a.view(), narrow_b.view(), Out<pl::half>(c.view()), 4);
  });
}

TEST_CASE("the hardware has no double: kernels of the library say so with the line of their load") {
  const auto x = filled<double>({3, 8});
  pl::Array<double> y({3, 8});
  const std::string message = refusal_of([&] { pl::kernels::softmax<double>(x, y); });
  CAPTURE(message);
  CHECK(support::contains(message, "softmax.hpp:"));
  CHECK(support::contains(
      message, "AscendC: load of double cannot be emitted: the vector unit of this class has no double"));
}

TEST_CASE("on the model of the hardware, a step of Adam changes its tensors in place") {
  const auto g = filled<float>({3, 40}, 2);
  for (const int changed : {0, 1, 2})
    agree<float>("adam_step, tensor " + std::to_string(changed), {3, 40}, 2e-5, [&](auto& result) {
      pl::Array<float> p = filled<float>({3, 40}), m({3, 40}, 0.25f), v({3, 40}, 0.5f);
      pl::kernels::adam_step<float>(p, g, m, v, 1e-3f, 0.9f, 0.999f, 1e-8f, 0.1f, 0.001f);
      result = changed == 0 ? p : changed == 1 ? m : v;
    });
}

TEST_CASE("on the model of the hardware, kernels may write over what they read") {
  agree<float>("gelu in place", {6, 75}, 2e-5, [&](auto& y) {
    y = filled<float>({6, 75});
    pl::kernels::gelu<float>(y, y);
  });
  agree<float>("softmax in place", {5, 130}, 2e-5, [&](auto& y) {
    y = filled<float>({5, 130});
    pl::kernels::softmax<float>(y, y);
  });
}
