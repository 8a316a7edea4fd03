// Faults of queues and events: what would wait for ever, what is left over, what is used when it is not the kernel's.
#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

namespace {

template <class Body>
Outcome with_queue(Body body, std::int64_t buffers = 1) {
  return run({}, [&] {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> queue;
    pipe.InitBuffer(queue, buffers, 256);
    body(queue);
  });
}

}  // namespace

TEST_CASE("what would wait for ever is a fault") {
  check_fault(with_queue([](auto& queue) {
                auto first = queue.template AllocTensor<float>();
                FAULTS(queue.template AllocTensor<float>());
                queue.FreeTensor(first);
              }),
              "AllocTensor would wait for ever: all 1 buffers");
  check_fault(with_queue([](auto& queue) { FAULTS(queue.template DeQue<float>()); }), "the queue is empty");
  check_fault(on_tiles([](Tiles) { FAULTS(WaitFlag<HardEvent::V_S>(0)); }),
              "nothing has set event 0 of HardEvent::V_S");
}

TEST_CASE("a queue that holds as many tensors as it is deep takes no more") {
  check_fault(with_queue(
                  [](auto& queue) {
                    auto first = queue.template AllocTensor<float>(),
                         second = queue.template AllocTensor<float>();
                    queue.EnQue(first);
                    FAULTS(queue.EnQue(second));
                  },
                  2),
              "which is its depth");
}

TEST_CASE("a tensor that is not freed is a fault") {
  check_fault(with_queue([](auto& queue) { FAULTS(queue.template AllocTensor<float>()); }),
              "was not freed (AllocTensor");
}

TEST_CASE("a tensor is used after DeQue and before FreeTensor") {
  check_fault(with_queue([](auto& queue) {
                auto tile = queue.template AllocTensor<float>();
                Duplicate(tile, 0.0f, 64);
                queue.EnQue(tile);
                FAULTS(Duplicate(tile, 0.0f, 64));
              }),
              "DeQue first");
  check_fault(with_queue([](auto& queue) {
                auto tile = queue.template AllocTensor<float>();
                queue.FreeTensor(tile);
                FAULTS(Duplicate(tile, 0.0f, 64));
              }),
              "was given back by FreeTensor");
  check_fault(with_queue([](auto& queue) {
                auto tile = queue.template AllocTensor<float>();
                Duplicate(tile, 0.0f, 64);
                PipeBarrier<PIPE_ALL>();
                FAULTS(Adds(tile, tile, 1.0f, 64));
              }),
              "has not been through its queue");
}

TEST_CASE("a tensor goes back to the queue that it came from") {
  check_fault(on_tiles([](Tiles t) {
                TQue<TPosition::VECIN, 1> queue;
                t.pipe.InitBuffer(queue, 1, 256);
                FAULTS(queue.FreeTensor(t.a));
              }),
              "the tensor is not of this queue");
}

TEST_CASE("a queue without InitBuffer, a second pipe and none are faults") {
  check_fault(on_tiles([](Tiles) {
                TQue<TPosition::VECIN, 1> queue;
                FAULTS(queue.AllocTensor<float>());
              }),
              "a queue that InitBuffer was not called for");
  check_fault(on_tiles([](Tiles) {
                faulting_line = __LINE__ + 1;
                const TPipe second;
              }),
              "a second TPipe");
  check_fault(run({}, [] { FAULTS(GetTPipePtr()); }), "has made no TPipe");
}

TEST_CASE("events are set once, waited for, and numbered 0 to 5") {
  check_fault(on_tiles([](Tiles) {
                SetFlag<HardEvent::V_S>(0);
                FAULTS(SetFlag<HardEvent::V_S>(0));
              }),
              "was set already");
  check_fault(on_tiles([](Tiles) { FAULTS(SetFlag<HardEvent::V_S>(3)); }), "set and never waited for");
  check_fault(on_tiles([](Tiles) { FAULTS(SetFlag<HardEvent::V_S>(6)); }), "ids are 0 to 5");
}

TEST_CASE("AllocEventID keeps an id from others") {
  CHECK(on_tiles([](Tiles t) {
          const auto first = t.pipe.AllocEventID<HardEvent::V_S>();
          CHECK(t.pipe.FetchEventID(HardEvent::V_S) != first);
          t.pipe.ReleaseEventID<HardEvent::V_S>(first);
          CHECK(t.pipe.FetchEventID(HardEvent::V_S) == first);
        }).message == "");
  check_fault(on_tiles([](Tiles t) { FAULTS(t.pipe.ReleaseEventID<HardEvent::V_S>(2)); }),
              "was not given by AllocEventID");
}

TEST_CASE("the kernel names the cores that it is launched on") {
  check_fault(run({}, [] { FAULTS(KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY)); }), "names other cores");
}

TEST_CASE("a queue does not take an event that the kernel has set") {
  check_fault(with_queue([](auto& queue) {
                auto tile = queue.template AllocTensor<float>();
                Duplicate(tile, 0.0f, 64);
                SetFlag<HardEvent::MTE2_V>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_V));
                FAULTS(queue.EnQue(tile));
              }),
              "which SetFlag of");
}

TEST_CASE("there are 6 ids of an event") {
  check_fault(on_tiles([](Tiles t) {
                for (int i = 0; i < 7; ++i) FAULTS(t.pipe.AllocEventID<HardEvent::V_S>());
              }),
              "all ids of HardEvent::V_S are taken");
}
