// samples/language/10_tasks.cpp -- the tasks of a device: what runs at the same time, and what waits.
//
//   ./samples/run language/10_tasks
//
// Shows the task graph (x+x)+(x+x), handles and explicit order, a kernel written in place, and the graph
// (a+b+1)(a+b+2)+(a+b) recorded once and replayed. TRILITH_TRACE=tasks.json shows the cores in Perfetto.
#include "check.hpp"

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;

auto add = pl::jit.incore([](Tensor a, Tensor b, Output c) { c = pl::store(pl::load(a) + pl::load(b), c); });
auto add_number =
    pl::jit.incore([](Tensor a, float number, Output c) { c = pl::store(pl::load(a) + number, c); });

// (1) Each kernel call is a task. The first two touch different memory: they may run at the same time, on two
//     cores. The third reads what both write, and waits for both: nobody has to say so.
auto four_times = pl::jit([](Tensor x, Output y) {
  auto left = pl::create_tensor<float>({x.dim(0)});  // device memory, until the tasks are done
  auto right = pl::create_tensor<float>({x.dim(0)});
  add(x, x, left);
  add(x, x, right);
  add(left, right, y);
});

// (2) Explicit order: submit gives a handle. In a manual scope the handles are the only order there is.
auto chain = pl::jit([](Tensor x, Output y) {
  pl::manual_scope([&] {
    auto first = pl::submit(add_number, x, 1.0f, y);
    auto second = pl::submit(add_number, y, 1.0f, y, pl::deps = {first});
    pl::submit(add_number, y, 1.0f, y, pl::deps = {first, second});
  });
});

// (3) A kernel in place: the tensors and numbers that the lambda names are its arguments.
auto formula = pl::jit([](Tensor a, Tensor b, Output y) {
  auto sum = pl::create_tensor<float>({a.dim(0)});
  auto left = pl::create_tensor<float>({a.dim(0)});
  auto right = pl::create_tensor<float>({a.dim(0)});
  const float one = 1.0f, two = 2.0f;
  add(a, b, sum);
  pl::at(pl::Level::core_group, [&] { left = pl::store(pl::load(sum) + one, left); });
  pl::at(pl::Level::core_group, [&] { right = pl::store(pl::load(sum) + two, right); });
  pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(left) * pl::load(right) + pl::load(sum), y); });
});

void expect(const char* what, const pl::Array<float>& y, double value) {
  samples::check(what, y, [&](auto) { return value; }, 0);
}

int main() {
  return samples::run([] {
    pl::Array<float> a({1024}, 2.0f), b({1024}, 3.0f), y({1024});

    four_times(a, y);
    expect("(x+x)+(x+x) = 8", y, 8);
    chain(a, y);
    expect("2+1+1+1 = 5", y, 5);
    formula(a, b, y);
    expect("(2+3+1)(2+3+2)+(2+3) = 47", y, 47);

    // (4) A graph runs the lambda once and replays its tasks, here on other memory each time.
    pl::Graph graph(formula);
    for (const double x : {0, 1, 2}) {
      pl::Array<float> number({1024}, static_cast<float>(x)), result({1024});
      graph(number, b, result);
      expect("replayed", result, (x + 3 + 1) * (x + 3 + 2) + (x + 3));
    }
    std::cout << graph.recordings() << " recording, " << graph.replays() << " replays\n";
  });
}
