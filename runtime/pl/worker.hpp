// runtime/pl/worker.hpp -- pl::Worker: devices, windows, code and resident tensors kept ready for many calls.
//
//   auto prefill = prefill_orch.compile(x, cache_like, y, config);
//   auto decode = decode_orch.compile(token, cache_like, y, config);
//   auto worker = prefill.prepare({.extra = {&decode}});
//   auto cache = worker.alloc_stacked_tensor<float>({ranks, 128, 64}, "KV cache");   // shard i lives on rank i
//   worker(x, cache, y);                                    // the program it was prepared from
//   worker.run(decode, token, cache, y);                    // another one of the same devices
//   auto call = worker.submit(x, cache, y);                 // returns at once
//   if (!call.wait(std::chrono::seconds(1))) …
//   call.result();                                          // throws what the call threw
//
// Calls, copies and frees run one after the other in the order they were asked for. A call that throws leaves the
// worker usable; its persistent windows are zero again. `close`, and the destructor, finish what was submitted first.
// Tensors are views: what is not resident must live until its call has ended. Thread-safe, but not for moving and
// closing; not to be used from a host callback of its own (LevelError).
#pragma once

#include "pl/array.hpp"
#include "pl/detail/program.hpp"
#include "pl/host_callback.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pl {

template <class F, class... P>
class CompiledProgram;

namespace detail {

class Resident;
class Submission;
class WorkerState;
struct KeptForRuns;

/// Any compiled program, by its address.
class AnyProgram {
 public:
  template <class F, class... P>
  AnyProgram(const CompiledProgram<F, P...>* program)  // NOLINT(google-explicit-constructor): stands for it
      : program_(program->shared()) {}
  [[nodiscard]] const std::shared_ptr<Program>& program() const { return program_; }

 private:
  std::shared_ptr<Program> program_;
};

}  // namespace detail

struct PrepareOptions {
  std::vector<detail::AnyProgram> extra = {};  ///< further programs for `run`: `.extra = {&other}`
  bool persistent = false;    ///< windows keep their contents from call to call, for each program its own
  bool zero_windows = false;  ///< persistent windows are zero at the start of each call
  std::chrono::milliseconds startup_timeout = std::chrono::seconds(30);  ///< for all devices to answer
  HostCallbacks callbacks = {};  ///< of `pl::host_callback("name", …)`
  int max_in_flight = 16;        ///< `submit` waits while so many calls are not done
};

/// Memory that a worker keeps on its devices, until `free_tensor` or the end of the worker. Copies share it. It stands
/// for a tensor in this worker's calls; another worker's and a program's own refuse it (PlanError).
template <class T>
class ResidentTensor {
 public:
  explicit ResidentTensor(std::shared_ptr<detail::Resident> resident) : resident_(std::move(resident)) {}
  /// Throws PlanError where it has been freed. `where`: unknown where it becomes an argument by itself.
  [[nodiscard]] Tensor<T> view(std::source_location where = {}) const;
  /// For a stacked tensor: the shard of rank `index`.
  [[nodiscard]] Tensor<T> operator[](const Extent& index) const { return view(index.where)[index]; }
  [[nodiscard]] const std::shared_ptr<detail::Resident>& resident() const { return resident_; }

 private:
  std::shared_ptr<detail::Resident> resident_;
};

/// A call that was submitted. Copies share it; it may outlive its worker.
class SubmittedCall {
 public:
  explicit SubmittedCall(std::shared_ptr<detail::Submission> submission)
      : submission_(std::move(submission)) {}
  [[nodiscard]] bool done() const;
  /// Waits for so long at most; false: it is not done yet.
  [[nodiscard]] bool wait(std::chrono::milliseconds timeout) const;
  /// Waits for it and throws what it threw.
  void result() const;

 private:
  std::shared_ptr<detail::Submission> submission_;
};

namespace detail {

[[nodiscard]] std::shared_ptr<WorkerState> make_worker(const std::shared_ptr<Program>& program,
                                                       const PrepareOptions& options,
                                                       const std::source_location& where);
/// Checks the call where it is made, then runs `job` when it is its turn.
using WorkerJob = std::function<void(KeptForRuns&)>;
void call_on(WorkerState& worker, const Program& program, const ProgramArguments& with, const WorkerJob& job,
             const std::source_location& where);
[[nodiscard]] std::shared_ptr<Submission> submit_to(WorkerState& worker, const Program& program,
                                                    const ProgramArguments& with, WorkerJob job,
                                                    const std::source_location& where);
void close(WorkerState& worker, const std::source_location& where);
[[nodiscard]] std::shared_ptr<Resident> allocate(WorkerState& worker, DType dtype, const Index& dims,
                                                 bool stacked, std::string name,
                                                 const std::source_location& where);
void release(WorkerState& worker, const std::shared_ptr<Resident>& resident,
             const std::source_location& where);
enum class CopyKind : std::uint8_t { To, From, StackedFrom };
void copy(WorkerState& worker, const std::shared_ptr<Resident>& resident, const ViewRef& other, CopyKind kind,
          const std::source_location& where);
/// The extents live as long as the tensor.
[[nodiscard]] ViewRef view_of(const Resident& resident, const std::source_location& where);

}  // namespace detail

template <class T>
Tensor<T> ResidentTensor<T>::view(std::source_location where) const {
  return Tensor<T>(detail::view_of(*resident_, where), where);
}

/// See the head of this file. Made by `compiled.prepare(…)`.
template <class F, class... P>
class Worker {
  template <class A>
  using Parameter = detail::deduced_t<std::remove_cvref_t<A>>;

 public:
  Worker(const CompiledProgram<F, P...>& program, const PrepareOptions& options,
         const std::source_location& where)
      : program_(program), state_(detail::make_worker(program.shared(), options, where)) {}

  /// Runs the program it was prepared from; returns when all ranks have finished.
  void operator()(detail::Given<P>... arguments,
                  std::source_location where = std::source_location::current()) const {
    program_.run_on(*state_, where, arguments.value()...);
  }
  /// Runs another program, one of `.extra`.
  template <class G, class... Q, class... A>
    requires(sizeof...(A) == sizeof...(Q))
  void run(const CompiledProgram<G, Q...>& program, A&&... arguments) const {
    program.run_on(*state_, std::source_location{},
                   detail::to_parameter<Q>(arguments, std::source_location{})...);
  }
  /// As a call, but returns at once, or when fewer than `max_in_flight` calls are not done.
  [[nodiscard]] SubmittedCall submit(detail::Given<P>... arguments,
                                     std::source_location where = std::source_location::current()) const {
    return SubmittedCall(program_.submit_to(*state_, where, arguments.value()...));
  }
  template <class G, class... Q, class... A>
    requires(sizeof...(A) == sizeof...(Q))
  [[nodiscard]] SubmittedCall submit(const CompiledProgram<G, Q...>& program, A&&... arguments) const {
    return SubmittedCall(program.submit_to(*state_, std::source_location{},
                                           detail::to_parameter<Q>(arguments, std::source_location{})...));
  }

  /// A resident tensor, all zero. `name`: for messages.
  template <class T>
  [[nodiscard]] ResidentTensor<T> alloc_tensor(
      const Index& dims, std::string name = "",
      std::source_location where = std::source_location::current()) const {
    return ResidentTensor<T>(
        detail::allocate(*state_, trilith::codegen::dtype_of<T>, dims, false, std::move(name), where));
  }
  /// One with a shard for every rank: dims[0] is the number of ranks, shard `t[i]` lives on rank i.
  template <class T>
  [[nodiscard]] ResidentTensor<T> alloc_stacked_tensor(
      const Index& dims, std::string name = "",
      std::source_location where = std::source_location::current()) const {
    return ResidentTensor<T>(
        detail::allocate(*state_, trilith::codegen::dtype_of<T>, dims, true, std::move(name), where));
  }
  /// Gives the memory back, behind the calls that were made before.
  template <class T>
  void free_tensor(const ResidentTensor<T>& tensor,
                   std::source_location where = std::source_location::current()) const {
    detail::release(*state_, tensor.resident(), where);
  }
  /// Writes `from`, of the same shape, into the resident tensor.
  template <class T>
  void copy_to(const ResidentTensor<T>& tensor, const Tensor<T>& from,
               std::source_location where = std::source_location::current()) const {
    detail::copy(*state_, tensor.resident(), from.view(), detail::CopyKind::To, where);
  }
  template <class T>
  void copy_to(const ResidentTensor<T>& tensor, const Array<T>& from,
               std::source_location where = std::source_location::current()) const {
    copy_to(tensor, from.view(), where);
  }
  /// Reads the resident tensor into `to`, behind the calls that were made before.
  template <class T>
  void copy_from(const ResidentTensor<T>& tensor, const Tensor<T>& to,
                 std::source_location where = std::source_location::current()) const {
    detail::copy(*state_, tensor.resident(), to.view(), detail::CopyKind::From, where);
  }
  template <class T>
  void copy_from(const ResidentTensor<T>& tensor, Array<T>& to,
                 std::source_location where = std::source_location::current()) const {
    copy_from(tensor, to.view(), where);
  }
  /// The same for all shards of a stacked tensor at once.
  template <class T>
  void copy_stacked_from(const ResidentTensor<T>& tensor, const Tensor<T>& to,
                         std::source_location where = std::source_location::current()) const {
    detail::copy(*state_, tensor.resident(), to.view(), detail::CopyKind::StackedFrom, where);
  }
  template <class T>
  void copy_stacked_from(const ResidentTensor<T>& tensor, Array<T>& to,
                         std::source_location where = std::source_location::current()) const {
    copy_stacked_from(tensor, to.view(), where);
  }
  /// Finishes what was submitted, then gives everything back. What comes later is refused (LevelError).
  void close(std::source_location where = std::source_location::current()) const {
    detail::close(*state_, where);
  }

 private:
  CompiledProgram<F, P...> program_;
  std::shared_ptr<detail::WorkerState> state_;
};

}  // namespace pl
