// Workers: devices, windows, code and resident tensors kept ready for many calls, and host callbacks.
#include "windows.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

using namespace std::chrono_literals;
using support::contains;

using windows::message_of;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 8>;
using Row = pl::Tensor<float, 8>;

auto add_kernel = pl::jit.incore(
    [](Row x, pl::Out<Row> y, pl::Scalar<float> a) { y = pl::store(pl::load(x) + a, {0}, y); });
auto add_device = pl::jit([](auto x, auto y, auto a) { add_kernel(x, y, a); });

pl::RunConfig native(int ranks) {
  pl::RunConfig result = windows::config(ranks);
  result.eager = true;
  return result;
}

/// y = x + 1 on each rank.
auto add_one = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  for (auto r : pl::range(pld::world_size())) add_device(x[r], y[r], 1.0f, pld::device = r);
});

/// Holds a program at its callback until it is opened.
class Gate {
 public:
  void open() {
    open_ = true;
    open_.notify_all();
  }
  void pass() {
    reached_ = true;
    reached_.notify_all();
    open_.wait(false);
  }
  void wait_until_reached() { reached_.wait(false); }

 private:
  std::atomic<bool> open_{false}, reached_{false};
};

pl::Array<float> rows(int ranks, float first = 1) {
  pl::Array<float> result({ranks, 8});
  for (float& element : result) element = first++;
  return result;
}

}  // namespace

TEST_CASE("a worker runs its program again and again") {
  const pl::Array<float> x = rows(2);
  pl::Array<float> y({2, 8});
  const auto program = add_one.compile(x, y, native(2));
  auto worker = program.prepare();
  for (int round = 0; round < 3; ++round) {
    y.fill(0);
    worker(x, y);
    for (int i = 0; i < 16; ++i) CHECK(y.data()[i] == static_cast<float>(i + 2));
  }
}

TEST_CASE("a KV cache stays on its worker between the calls of two programs") {
  // Prefill writes the first half of every rank's cache, decode appends a row and gives the sum of what is there.
  using Cache = pl::Tensor<float, 4, 8>;
  using Caches = pl::Tensor<float, NR, 4, 8>;
  auto write = pl::jit.incore([](Row x, pl::InOut<Cache> cache, pl::Scalar<int> at) {
    cache = pl::store(pl::reshape(pl::load(x), {1, 8}), {at, 0}, cache);
  });
  auto sum = pl::jit.incore([](Cache cache, pl::Out<Row> y) {
    y = pl::store(pl::reshape(pl::col_sum(pl::load(cache)), {8}), {0}, y);
  });
  auto prefill_device = pl::jit([&](auto x, auto cache) {
    write(x, cache, 0);
    write(x, cache, 1);
  });
  auto decode_device = pl::jit([&](auto x, auto cache, auto y) {
    write(x, cache, 2);
    sum(cache, y);
  });
  auto prefill = pl::jit.host([&](Rows x, pl::InOut<Caches> cache) {
    for (auto r : pl::range(pld::world_size())) prefill_device(x[r], cache[r], pld::device = r);
  });
  auto decode = pl::jit.host([&](Rows x, pl::InOut<Caches> cache, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) decode_device(x[r], cache[r], y[r], pld::device = r);
  });
  const pl::Array<float> x = rows(2);
  pl::Array<float> like({2, 4, 8}), y({2, 8}), copy({2, 4, 8});
  const auto prefilled = prefill.compile(x, like, native(2));
  const auto decoded = decode.compile(x, like, y, native(2));

  auto worker = prefilled.prepare({.extra = {&decoded}});
  auto cache = worker.alloc_stacked_tensor<float>({2, 4, 8}, "KV cache");
  worker(x, cache);
  worker.run(decoded, x, cache, y);
  for (int i = 0; i < 16; ++i) CHECK(y.data()[i] == 3 * x.data()[i]);
  worker.copy_stacked_from(cache, copy);
  CHECK(copy(1, 2, 3) == x(1, 3));
  CHECK(copy(1, 3, 3) == 0);
  const pl::Array<float> ones({2, 4, 8}, 1.0f);
  worker.copy_to(cache, ones);
  worker.submit(decoded, x, cache, y).result();
  CHECK(y(0, 0) == 3 + x(0, 0));
}

TEST_CASE("a resident tensor is refused by another worker and by a program without its worker") {
  const pl::Array<float> x = rows(2);
  pl::Array<float> y({2, 8});
  const auto program = add_one.compile(x, y, native(2));
  auto first = program.prepare(), second = program.prepare();
  auto resident = first.alloc_tensor<float>({2, 8}, "the input");
  first(resident, y);
  std::string message = message_of([&] { second(resident, y); });
  CHECK(contains(message, "worker_test.cpp"));
  CHECK(contains(message, "argument 1 is the resident tensor \"the input\" (float[2, 8], allocated at "));
  CHECK(contains(message, "of another worker; use it with the worker that allocated it"));
  message = message_of([&] { program(resident, y); });
  CHECK(contains(message, "the program was called without its worker"));
  CHECK(contains(message_of([&] { second.copy_from(resident, y); }), "belongs to another worker"));
  CHECK(contains(message_of([&] { second.free_tensor(resident); }), "belongs to another worker"));
  CHECK(contains(message_of([&] { (void)second.submit(resident, y); }), "of another worker"));
}

TEST_CASE("a resident tensor that was freed, or whose worker is gone, is refused") {
  const pl::Array<float> x = rows(2);
  pl::Array<float> y({2, 8});
  const auto program = add_one.compile(x, y, native(2));
  auto worker = program.prepare();
  auto resident = worker.alloc_tensor<float>({2, 8});
  worker.copy_to(resident, x);
  worker.free_tensor(resident);
  std::string message = message_of([&] { worker(resident, y); });
  CHECK(contains(message, "the resident tensor (float[2, 8], allocated at "));
  CHECK(contains(message, "was freed at "));
  CHECK(contains(message_of([&] { worker.free_tensor(resident); }), "was freed at "));
  auto other = worker.alloc_tensor<float>({2, 8});
  worker.close();
  CHECK(contains(message_of([&] { (void)other.view(); }), "was closed at "));
  message = message_of([&] { worker(x, y); });
  CHECK(contains(message, "a worker was used after it was closed at "));
  CHECK(contains(message_of([&] { (void)worker.alloc_tensor<float>({1}); }), "was closed at "));
  worker.close();  // again does nothing
}

TEST_CASE("copies of resident tensors want equal shapes, and shards where they are asked for") {
  const pl::Array<float> x = rows(2);
  pl::Array<float> y({2, 8}), small({2, 7});
  const auto program = add_one.compile(x, y, native(2));
  auto worker = program.prepare();
  auto resident = worker.alloc_tensor<float>({2, 8});
  const std::string message = message_of([&] { worker.copy_to(resident, small); });
  CHECK(contains(message, "a copy between the resident tensor (float[2, 8], allocated at "));
  CHECK(contains(message, "both have one shape"));
  CHECK(contains(message_of([&] { worker.copy_from(resident, small); }), "float[2, 7]"));
  CHECK(contains(message_of([&] { worker.copy_stacked_from(resident, y); }),
                 "which has no shards; use copy_from"));
  CHECK(contains(message_of([&] { worker.copy_from(resident, x.view()); }), "read only"));
  CHECK(contains(message_of([&] { (void)worker.alloc_stacked_tensor<float>({3, 8}); }),
                 "a stacked tensor of [3, 8] for 2 ranks; its first extent is the number of ranks"));
}

TEST_CASE("a worker refuses programs that it was not prepared with, and of other devices") {
  const pl::Array<float> x = rows(2);
  pl::Array<float> y({2, 8});
  const auto one = add_one.compile(x, y, native(2));
  const auto two = add_one.compile(x, y, native(2));
  auto worker = one.prepare();
  CHECK(contains(message_of([&] { worker.run(two, x, y); }),
                 "a program that it was not prepared with; list it: prepare({.extra = {&other}})"));
  pl::RunConfig elsewhere = native(2);
  elsewhere.distributed.device_ids = {4, 7};
  const auto three = add_one.compile(x, y, elsewhere);
  CHECK(contains(message_of([&] { (void)one.prepare({.extra = {&two, &three}}); }),
                 "extra program 2 was compiled for devices {4, 7} and the worker's program for {0, 1}"));
  CHECK(contains(message_of([&] { (void)one.prepare({.max_in_flight = 0}); }), "max_in_flight is 0"));
}

TEST_CASE("a submitted call is done when it says so, and its result throws what it threw") {
  const pl::Array<float> x = rows(1);
  pl::Array<float> y({1, 8});
  Gate gate;
  bool fails = false;
  auto host = pl::jit.host([&](Rows in, pl::Out<Rows> out) {
    for (auto r : pl::range(pld::world_size())) add_device(in[r], out[r], 1.0f, pld::device = r);
    pl::host_callback([&] {
      gate.pass();
      if (fails) throw std::runtime_error("the callback is unwell");
    });
  });
  const auto program = host.compile(x, y, native(1));
  auto worker = program.prepare();
  auto call = worker.submit(x, y);
  CHECK_FALSE(call.wait(20ms));
  CHECK_FALSE(call.done());
  gate.open();
  call.result();
  CHECK(call.done());
  CHECK(call.wait(0ms));
  CHECK(y(0, 0) == 2);
  fails = true;
  auto failing = worker.submit(x, y);
  CHECK_THROWS_WITH_AS(failing.result(), "the callback is unwell", std::runtime_error);
  CHECK_THROWS_AS(failing.result(), std::runtime_error);  // as often as it is asked
  fails = false;
  worker(x, y);
}

TEST_CASE("submitted calls run in order, no more in flight than asked for, and close finishes them") {
  const pl::Array<float> x = rows(1);
  pl::Array<float> y({1, 8});
  Gate gate;
  std::atomic<int> begun{0};
  auto host = pl::jit.host([&](Rows in, pl::InOut<Rows> out) {
    pl::host_callback([&] {
      ++begun;
      gate.pass();
    });
    for (auto r : pl::range(pld::world_size())) add_device(in[r], out[r], 1.0f, pld::device = r);
  });
  const auto program = host.compile(x, y, native(1));
  std::vector<pl::SubmittedCall> calls;
  std::atomic<int> submitted{0};
  {
    auto worker = program.prepare({.max_in_flight = 2});
    std::thread submitter([&] {
      for (int i = 0; i < 5; ++i) {
        calls.push_back(worker.submit(x, y));
        ++submitted;
      }
    });
    gate.wait_until_reached();
    std::this_thread::sleep_for(30ms);
    CHECK(submitted == 2);
    CHECK(begun == 1);
    gate.open();
    submitter.join();
  }  // the worker goes with calls in flight
  CHECK(begun == 5);
  for (const pl::SubmittedCall& call : calls) CHECK(call.done());
}

TEST_CASE("a rank that throws leaves the worker usable, and persistent windows are zero again") {
  auto count = pl::jit.incore([](pld::DistributedTensor<float, 8> w, pl::Out<Row> y, pl::Scalar<int> bad) {
    w = pl::store(pl::load(w) + 1.0f, {0}, w);
    y = pl::store(pl::load(w), {0}, y);
    pld::barrier(w);
    if (bad != 0 && pld::rank(w) == 1) pld::remote_store(pl::load(w), w, {.peer = bad});
    pld::barrier(w);
  });
  auto device = pl::jit([&](auto w, auto y, auto bad) { count(w, y, bad); });
  int bad = 0;
  auto host = pl::jit.host([&](pl::Out<Rows> y) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({8}), {8});
    for (auto r : pl::range(pld::world_size())) device(w, y[r], bad, pld::device = r);
  });
  pl::Array<float> y({2, 8});
  const auto program = host.compile(y, native(2));
  SUBCASE("kept") {
    auto worker = program.prepare({.persistent = true});
    for (int round = 1; round < 4; ++round) {
      worker(y);
      for (const float element : y) CHECK(element == static_cast<float>(round));
    }
    bad = 7;
    CHECK(
        contains(message_of([&] { worker(y); }), "pld::remote_store: peer 7 of a window that 2 ranks share"));
    bad = 0;
    worker(y);
    CHECK(y(1, 7) == 1);
  }
  SUBCASE("zero between calls") {
    auto worker = program.prepare({.persistent = true, .zero_windows = true});
    for (int round = 1; round < 4; ++round) worker(y);
    CHECK(y(0, 0) == 1);
  }
  SUBCASE("of each call") {
    auto worker = program.prepare();
    for (int round = 1; round < 4; ++round) worker(y);
    CHECK(y(0, 0) == 1);
  }
}

TEST_CASE("persistent windows are the same in every call, or an error with both sizes") {
  auto nothing = pl::jit.incore([](pld::DistributedTensor<float> w, pl::Out<Row> y) {
    y = pl::store(pl::full<float>({8}, static_cast<float>(pld::nranks(w))), {0}, y);
  });
  auto device = pl::jit([&](auto w, auto y) { nothing(w, y); });
  std::int64_t size = 8;
  auto host = pl::jit.host([&](pl::Out<Rows> y) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({size}), {size});
    for (auto r : pl::range(pld::world_size())) device(w, y[r], pld::device = r);
  });
  pl::Array<float> y({2, 8});
  const auto program = host.compile(y, native(2));
  auto worker = program.prepare({.persistent = true});
  worker(y);
  size = 9;
  const std::string message = message_of([&] { worker(y); });
  CHECK(contains(message,
                 "a persistent window was allocated with 36 bytes a rank; in the worker's call before it was "
                 "window 0 (32 bytes a rank"));
  CHECK(contains(message, "or prepare without .persistent"));
}

TEST_CASE("a host callback sees what was dispatched before it and is seen by what comes after") {
  const pl::Array<float> x = rows(3);
  for (const int threads : {0, 1, 3}) {
    pl::Array<float> y({3, 8}), z({3, 8});
    pl::RunConfig with = native(3);
    with.distributed.num_sub_workers = threads;
    std::thread::id thread;
    auto host = pl::jit.host([&](Rows in, pl::Out<Rows> middle, pl::Out<Rows> out) {
      for (auto r : pl::range(pld::world_size())) add_device(in[r], middle[r], 1.0f, pld::device = r);
      pl::host_callback(
          [&](pl::Tensor<float> now, int factor) {
            thread = std::this_thread::get_id();
            for (int i = 0; i < 24; ++i) now.data()[i] *= static_cast<float>(factor);
          },
          middle, 10);
      for (auto r : pl::range(pld::world_size())) add_device(middle[r], out[r], 1.0f, pld::device = r);
    });
    host(x, y, z, with);
    CHECK((thread == std::this_thread::get_id()) == (threads == 0));
    for (int i = 0; i < 24; ++i) CHECK(z.data()[i] == (x.data()[i] + 1) * 10 + 1);
  }
}

TEST_CASE("callbacks that share no tensor run at once on sub-workers, others one by one") {
  pl::Array<float> x = rows(1), y({1, 8});
  pl::RunConfig with = native(1);
  with.distributed.num_sub_workers = 2;
  Gate first;
  auto apart = pl::jit.host([&](pl::InOut<Rows> in, pl::InOut<Rows> out) {
    for (auto r : pl::range(pld::world_size())) add_device(in[r], out[r], 1.0f, pld::device = r);
    pl::host_callback([&](const pl::Tensor<float>&) { first.pass(); }, in);
    pl::host_callback(
        [&](const pl::Tensor<float>&) {
          first.wait_until_reached();
          first.open();
        },
        out);
  });
  apart(x, y, with);
  std::atomic<int> inside{0}, most{0};
  auto together = pl::jit.host([&](pl::InOut<Rows> in, pl::InOut<Rows> out) {
    for (auto r : pl::range(pld::world_size())) add_device(in[r], out[r], 1.0f, pld::device = r);
    for (int i = 0; i < 4; ++i)
      pl::host_callback(
          [&](const pl::Tensor<float>&) {
            most = std::max(most.load(), ++inside);
            std::this_thread::sleep_for(5ms);
            --inside;
          },
          out);
  });
  together(x, y, with);
  CHECK(most == 1);
}

TEST_CASE("a callback by name is the worker's, and is missed where there is none") {
  const pl::Array<float> x = rows(2);
  pl::Array<float> y({2, 8});
  auto host = pl::jit.host([&](Rows in, pl::Out<Rows> out) {
    for (auto r : pl::range(pld::world_size())) add_device(in[r], out[r], 1.0f, pld::device = r);
    pl::host_callback("loss", out);
  });
  const auto program = host.compile(x, y, native(2));
  float seen = 0;
  auto worker = program.prepare({.callbacks = {{"loss", [&](std::span<const pl::Tensor<>> tensors) {
                                                  REQUIRE(tensors.size() == 1);
                                                  seen = static_cast<const float*>(tensors[0].data())[15];
                                                }}}});
  worker(x, y);
  CHECK(seen == 17);
  CHECK(contains(message_of([&] { (void)program.prepare({.callbacks = {{"lose", {}}}}); }),
                 ".callbacks has \"lose\"; give one of that name"));
  CHECK(contains(message_of([&] { (void)program.prepare(); }),
                 "the program calls the host callback \"loss\" at "));
  const std::string message = message_of([&] { program(x, y); });
  CHECK(contains(message, "worker_test.cpp"));
  CHECK(contains(message, "the host callback \"loss\" was called and none of that name was given"));
}

TEST_CASE("a callback elsewhere, and a worker used in its own callback, are refused") {
  CHECK(contains(
      message_of([] { pl::host_callback([] {}); }),
      "pl::host_callback was called outside a host orchestrator; elsewhere call the function itself"));
  const pl::Array<float> x = rows(1);
  pl::Array<float> y({1, 8});
  std::function<void()> inside;
  auto host = pl::jit.host([&](Rows in, pl::Out<Rows> out) {
    for (auto r : pl::range(pld::world_size())) add_device(in[r], out[r], 1.0f, pld::device = r);
    pl::host_callback([&] { inside(); });
  });
  for (const int threads : {0, 1}) {
    pl::RunConfig with = native(1);
    with.distributed.num_sub_workers = threads;
    const auto program = host.compile(x, y, with);
    auto worker = program.prepare();
    auto resident = worker.alloc_tensor<float>({1, 8});
    inside = [&] { worker(x, y); };
    CHECK(contains(message_of([&] { worker(x, y); }),
                   "a worker was asked to run a program in a host callback of its own"));
    inside = [&] { (void)worker.submit(x, y); };
    CHECK(contains(message_of([&] { worker(x, y); }), "run a program in a host callback"));
    inside = [&] { worker.close(); };
    CHECK(contains(message_of([&] { worker(x, y); }), "close in a host callback"));
    inside = [&] { worker.copy_from(resident, y); };
    CHECK(contains(message_of([&] { worker(x, y); }), "copy a tensor in a host callback"));
    inside = [&] { worker.free_tensor(resident); };
    CHECK(contains(message_of([&] { worker(x, y); }), "free a tensor in a host callback"));
    inside = [] {};
    worker(x, y);
  }
}

TEST_CASE("devices that do not answer in time are named") {
  const pl::Array<float> x = rows(2);
  pl::Array<float> y({2, 8});
  Gate gate;
  auto busy_device = pl::jit([&](auto in, auto out) {
    gate.pass();
    add_kernel(in, out, 1.0f);
  });
  bool ready = false;
  auto busy = pl::jit.host([&](Rows in, pl::Out<Rows> out) {
    add_device(in[0], out[0], 1.0f, pld::device = 0);
    if (ready)
      busy_device(in[1], out[1], pld::device = 1);
    else
      add_device(in[1], out[1], 1.0f, pld::device = 1);
  });
  const auto program = busy.compile(x, y, native(2));
  ready = true;
  std::thread runner([&] { program(x, y); });
  gate.wait_until_reached();
  const std::string message = message_of([&] { (void)program.prepare({.startup_timeout = 30ms}); });
  gate.open();
  runner.join();
  CHECK(contains(message, "devices {1} did not answer within 30 ms"));
  auto worker = program.prepare({.startup_timeout = 10s});
  worker(x, y);
}
