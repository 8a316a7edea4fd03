// runtime/mpi/calls/mpi_calls.cpp -- libtrilith-mpi.so: the table of runtime/mpi/calls.hpp in MPI, and nothing else.
#include "runtime/mpi/calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace {

using pl::detail::MpiCalls;
using pl::detail::MpiRegion;

// MPI counts in int: longer transfers go in pieces.
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

MPI_Comm world = MPI_COMM_NULL;  // a duplicate: our messages never meet those of the user's program
bool started_here = false;
std::vector<MPI_Win> windows;
std::string problem;

struct Sending {
  std::unique_ptr<char[]> data;
  MPI_Request request;
};
std::deque<Sending> sending;

/// Null, or MPI's words for the error.
const char* text_of(int code, const char* function) {
  if (code == MPI_SUCCESS) return nullptr;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  problem = std::string(function) + ": " + std::string(text, static_cast<std::size_t>(length));
  return problem.c_str();
}

const char* start(int* rank, int* size) {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (finalised != 0) return "MPI was finalised by this program";
  if (initialised != 0) {
    // MPI takes calls of one thread then, and that is not this one.
    int provided = 0;
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_MULTIPLE)
      return "this program has called MPI_Init without MPI_THREAD_MULTIPLE; let Trilith start MPI, or call "
             "MPI_Init_thread with MPI_THREAD_MULTIPLE";
  } else {
    int provided = 0;
    // Each process has a thread beside this one. Open MPI, which counts processes alone, would have a call that waits for
    // another process hold its core, which that one's threads may need: for a time slice, or for good where the threads
    // have a real-time priority. What the user has set stays.
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    if (const char* why =
            text_of(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread"))
      return why;
    started_here = true;
  }
  if (const char* why = text_of(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup")) return why;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, rank);
  MPI_Comm_size(world, size);
  return nullptr;
}

void finish() {
  for (Sending& message : sending) MPI_Wait(&message.request, MPI_STATUS_IGNORE);
  sending.clear();
  for (MPI_Win& window : windows) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  windows.clear();
  MPI_Comm_free(&world);
  if (started_here) MPI_Finalize();
}

const char* send(int to, const void* data, std::int64_t bytes) {
  sending.push_back({std::make_unique<char[]>(static_cast<std::size_t>(bytes)), MPI_REQUEST_NULL});
  Sending& message = sending.back();
  std::memcpy(message.data.get(), data, static_cast<std::size_t>(bytes));
  if (bytes > INT32_MAX) return "a message of more than 2 GiB";
  return text_of(
      MPI_Isend(message.data.get(), static_cast<int>(bytes), MPI_BYTE, to, 0, world, &message.request),
      "MPI_Isend");
}

std::int64_t probe(int* from) {
  while (!sending.empty()) {
    int done = 0;
    MPI_Test(&sending.front().request, &done, MPI_STATUS_IGNORE);
    if (done == 0) break;
    sending.pop_front();
  }
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, 0, world, &there, &status) != MPI_SUCCESS || there == 0) return -1;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  *from = status.MPI_SOURCE;
  return bytes;
}

const char* receive(int from, void* data, std::int64_t bytes) {
  return text_of(MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, from, 0, world, MPI_STATUS_IGNORE),
                 "MPI_Recv");
}

const char* broadcast(int root, void* data, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += most_bytes) {
    const auto count = static_cast<int>(std::min(most_bytes, bytes - at));
    if (const char* why =
            text_of(MPI_Bcast(static_cast<char*>(data) + at, count, MPI_BYTE, root, world), "MPI_Bcast"))
      return why;
  }
  return nullptr;
}

const char* create_window(void* base, std::int64_t bytes) {
  MPI_Win window = MPI_WIN_NULL;
  if (const char* why =
          text_of(MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, world, &window), "MPI_Win_create"))
    return why;
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  int* model = nullptr;
  int known = 0;
  MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&model), &known);
  if (known == 0 || *model != MPI_WIN_UNIFIED)
    return "this MPI keeps two copies of a window (MPI_WIN_SEPARATE); Trilith needs MPI_WIN_UNIFIED";
  windows.push_back(window);
  return text_of(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
}

MPI_Win& window_of(int number) { return windows[static_cast<std::size_t>(number)]; }

/// A region as one MPI datatype, or as a plain run of bytes.
class Layout {
 public:
  explicit Layout(const MpiRegion& region) {
    bytes_ = region.element_bytes;
    for (int axis = 0; axis < region.axes; ++axis) bytes_ *= region.shape[axis];
    if (bytes_ == 0) return;
    std::int64_t run = region.element_bytes;
    int axis = region.axes - 1;
    // Inner axes that lie side by side are one run.
    for (; axis >= 0; --axis) {
      if (region.shape[axis] == 1) continue;
      if (region.strides[axis] * region.element_bytes != run) break;
      run *= region.shape[axis];
    }
    if (axis < 0) return;
    MPI_Type_contiguous(static_cast<int>(run), MPI_BYTE, &type_);
    for (; axis >= 0; --axis) {
      if (region.shape[axis] == 1) continue;
      MPI_Datatype outer = MPI_DATATYPE_NULL;
      MPI_Type_create_hvector(static_cast<int>(region.shape[axis]), 1,
                              region.strides[axis] * region.element_bytes, type_, &outer);
      MPI_Type_free(&type_);
      type_ = outer;
    }
    MPI_Type_commit(&type_);
  }
  ~Layout() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  /// Calls transfer(place in the dense copy, bytes there, displacement, count, datatype) once or in pieces.
  template <class Transfer>
  const char* each(const MpiRegion& region, const char* function, const Transfer& transfer) const {
    if (bytes_ == 0) return nullptr;
    if (type_ != MPI_DATATYPE_NULL) {
      if (bytes_ > most_bytes) return "a strided transfer of more than 1 GiB; move rows of it one by one";
      return text_of(transfer(std::int64_t{0}, static_cast<int>(bytes_), region.displacement, 1, type_),
                     function);
    }
    for (std::int64_t at = 0; at < bytes_; at += most_bytes) {
      const auto count = static_cast<int>(std::min(most_bytes, bytes_ - at));
      if (const char* why = text_of(transfer(at, count, region.displacement + at, count, MPI_BYTE), function))
        return why;
    }
    return nullptr;
  }

 private:
  std::int64_t bytes_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

const char* put(int window, int rank, const MpiRegion* to, const void* dense) {
  const Layout layout(*to);
  const char* const why = layout.each(
      *to, "MPI_Put", [&](std::int64_t at, int bytes, MPI_Aint displacement, int count, MPI_Datatype type) {
        return MPI_Put(static_cast<const char*>(dense) + at, bytes, MPI_BYTE, rank, displacement, count, type,
                       window_of(window));
      });
  return why != nullptr ? why : text_of(MPI_Win_flush_local(rank, window_of(window)), "MPI_Win_flush_local");
}

const char* get(int window, int rank, const MpiRegion* from, void* dense) {
  const Layout layout(*from);
  const char* const why = layout.each(
      *from, "MPI_Get", [&](std::int64_t at, int bytes, MPI_Aint displacement, int count, MPI_Datatype type) {
        return MPI_Get(static_cast<char*>(dense) + at, bytes, MPI_BYTE, rank, displacement, count, type,
                       window_of(window));
      });
  return why != nullptr ? why : text_of(MPI_Win_flush_local(rank, window_of(window)), "MPI_Win_flush_local");
}

const char* signal(int window, int rank, std::int64_t displacement, std::int32_t value, bool add,
                   std::int32_t* before) {
  const char* const why = text_of(MPI_Fetch_and_op(&value, before, MPI_INT32_T, rank, displacement,
                                                   add ? MPI_SUM : MPI_REPLACE, window_of(window)),
                                  "MPI_Fetch_and_op");
  return why != nullptr ? why : text_of(MPI_Win_flush(rank, window_of(window)), "MPI_Win_flush");
}

const char* flush(int window, int rank) {
  return text_of(MPI_Win_flush(rank, window_of(window)), "MPI_Win_flush");
}

constexpr MpiCalls calls = {start,         finish, send, probe,  receive, broadcast,
                            create_window, put,    get,  signal, flush};

}  // namespace

extern "C" __attribute__((visibility("default"))) const MpiCalls* trilith_mpi_calls() { return &calls; }
