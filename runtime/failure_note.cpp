#include "runtime/failure_note.hpp"

#include "pl/error.hpp"

#include <typeinfo>

namespace pl::detail {
namespace {

/// Of exactly this type, not of one derived from it, which would lose what it adds.
template <class E>
bool note(const Error& error, const std::string& note, std::exception_ptr& result) {
  if (typeid(error) != typeid(E)) return false;
  std::string message = error.what();
  // what() begins with the place, which the constructor puts there again.
  if (error.location().line != 0) message.erase(0, error.location().str().size() + 2);
  result = std::make_exception_ptr(E(message + note, error.location()));
  return true;
}

template <class... E>
void note_first(const Error& error, const std::string& text, std::exception_ptr& result) {
  (void)(note<E>(error, text, result) || ...);
}

}  // namespace

std::exception_ptr with_note(std::exception_ptr failure, const std::string& text) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    note_first<ShapeError, DtypeError, LevelError, CaptureError, ConfigError, PlanError, CommError, UserError,
               InternalError, Error>(error, text, failure);
  } catch (...) {
    return failure;
  }
  return failure;
}

}  // namespace pl::detail
