// runtime/pl/detail/kernel_object.hpp -- a kernel without its C++ type: what dispatch works on.
//
// Private: included by pl/kernel.hpp. One object per kernel and, for a generic lambda, per list of parameter
// types. Thread-safe: any number of threads may call one object.
#pragma once

#include "pl/detail/parameter.hpp"

#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace pl::detail {

class BoundCall;
struct CaptureUnit;
struct Specialisation;
class ContextState;
class KernelWork;
class WrittenRegions;

/// Which parameter a call returned, where it is not an index.
inline constexpr int result_is_stored = -1;   ///< the lambda ran natively and its result is in `result`
inline constexpr int result_is_unknown = -2;  ///< recorded without running: the first parameter of the type

/// A kernel written by hand in a file of its own.
struct ExternalSource {
  std::string file, entry;
  std::source_location where;
};

class KernelObject {
 public:
  struct Definition {
    std::span<const ParameterInfo> parameters;
    const void* closure;
    std::size_t closure_size;
    const std::type_info* closure_type;
    std::vector<const std::type_info*> argument_types;  ///< of a generic lambda; else empty
    std::source_location where;
    const CaptureUnit* unit;
    const ExternalSource* external = nullptr;  ///< instead of a lambda
  };

  explicit KernelObject(Definition definition);
  virtual ~KernelObject();
  KernelObject(const KernelObject&) = delete;
  KernelObject& operator=(const KernelObject&) = delete;

  /// Runs the kernel, natively or compiled, as the calling thread's level and context say. Returns the number
  /// of the parameter that the lambda returns, or one of the constants above. `where`: of the call; line 0 if
  /// unknown.
  int call(const Argument* arguments, void* result, const std::source_location& where);

  /// A specialisation held by a `pl::Compiled`, with the context it belongs to.
  struct Handle {
    std::shared_ptr<ContextState> context;
    const Specialisation* specialisation = nullptr;  ///< owned by the kernel object; null: runs natively
  };
  Handle compile(const Argument* arguments, const std::source_location& where);
  /// As call, for arguments of the handle's signature; ShapeError otherwise.
  int call(const Handle& handle, const Argument* arguments, void* result, const std::source_location& where);
  /// The same call with all its checks done now; the extents, strides and numbers are copied.
  [[nodiscard]] std::shared_ptr<const BoundCall> bind(const Handle& handle, const Argument* arguments,
                                                      const std::source_location& where);

  /// Makes a task of a pl::at body with these values of its captures; false: it must run natively, here.
  [[nodiscard]] bool submit_body(const Argument* arguments, const void* captures,
                                 const std::source_location& where);
  /// Runs one block of a call that was made a task.
  void run(const KernelWork& work, std::int64_t block, std::int64_t blocks) const;
  /// The memory of its tensors, as far as it is the host's.
  void note_regions(const KernelWork& work, WrittenRegions& regions) const;
  /// Holds the kernel as long as it is held itself; null for a kernel that lives for ever.
  [[nodiscard]] std::shared_ptr<const void> keeper() const { return owner_.lock(); }
  void set_owner(std::weak_ptr<const void> owner) { owner_ = std::move(owner); }

  [[nodiscard]] std::string lower(const Argument* arguments);
  [[nodiscard]] std::string emit(std::string_view target, const Argument* arguments);
  [[nodiscard]] std::string name();

 protected:
  /// Calls the lambda itself; `result`, where not null, is the place for what it returns.
  virtual void run_natively(const Argument* arguments, void* result) const = 0;

 private:
  friend class BoundCall;
  friend class KernelDispatch;
  struct State;
  const std::unique_ptr<State> state_;
  std::weak_ptr<const void> owner_;
};

}  // namespace pl::detail
