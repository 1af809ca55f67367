#include "covary/linalg/parallel.hpp"

#include <cblas.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "covary/error.hpp"

namespace covary {
namespace {

thread_local bool inside_task = false;

// A body knows that it is one, also where it runs on the caller's thread.
struct InsideTask {
  bool before = std::exchange(inside_task, true);
  ~InsideTask() { inside_task = before; }
};

// One parallel_for: workers draw indices from a shared counter.
struct Job {
  Index n;
  const std::function<void(Index)>* body;
  std::atomic<Index> next{0};
  std::mutex failure_mutex;
  Index failed_index = -1;
  std::exception_ptr failure;

  void work() {
    const InsideTask mark;
    for (Index i = next.fetch_add(1); i < n; i = next.fetch_add(1)) {
      try {
        (*body)(i);
      } catch (...) {
        std::lock_guard lock(failure_mutex);
        if (failed_index < 0 || i < failed_index) {
          failed_index = i;
          failure = std::current_exception();
        }
        next.store(n);
      }
    }
  }
};

int cores() { return std::max(1u, std::thread::hardware_concurrency()); }

// Waits a little for what is likely to come at once, as the next of many short regions is: to fall
// asleep and be woken would take as long as the work of some. About 0.1 ms, and as many turns
// again, a millisecond or so, in which the core is anyone's who asks for it.
template <class Happened>
void wait_awake(int turns, const Happened& happened) {
  for (int i = 0; i < turns && !happened(); ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  for (int i = 0; i < turns && !happened(); ++i) std::this_thread::yield();
}

class Pool {
 public:
  // Where threads share a core, one that waits awake would hold up the one it waits for.
  explicit Pool(int helpers) : wanted_(helpers), turns_(helpers < cores() ? 4000 : 0) {
    try {
      for (int t = 0; t < helpers; ++t) workers_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {  // the system gives no more: fewer do the same work
    }
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (auto& w : workers_) w.join();
  }
  void run(Job& job) {
    {
      std::lock_guard lock(mutex_);
      job_ = &job;
      ++generation_;
    }
    wake_.notify_all();
    job.work();
    {
      std::lock_guard lock(mutex_);
      job_ = nullptr;  // nothing is left for those who have not come
    }
    wait_awake(turns_, [this] { return busy_ == 0; });
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }
  int wanted() const { return wanted_; }

 private:
  void serve() {
    unsigned long seen = 0;
    for (;;) {
      wait_awake(turns_, [&] { return generation_ != seen; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      Job* job = job_;
      if (!job) continue;
      ++busy_;
      lock.unlock();
      job->work();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  int wanted_, turns_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> workers_;
  Job* job_ = nullptr;
  // Changed with the mutex held; read without it by those who wait awake.
  std::atomic<unsigned long> generation_{0};
  std::atomic<int> busy_{0};  // workers inside the job
  bool stopping_ = false;
};

int initial_threads() {
  if (const char* text = std::getenv("COVARY_NUM_THREADS")) {
    const int n = std::atoi(text);
    if (n >= 1) return n;
  }
  return cores();
}

struct State {
  std::mutex mutex;  // one parallel region at a time; a second caller runs serially
  std::unique_ptr<Pool> pool;
  std::atomic<int> wanted{initial_threads()};

  State() {
    // A statically linked OpenBLAS may not have set itself up yet. Setting the number of threads
    // would then start one outside its table; asking for the number first makes it count them.
    openblas_get_num_threads();
    openblas_set_num_threads(1);
    // The child of a fork has none of the parent's threads: it forgets the pool (whose memory is
    // left alone, for its destructor would join threads that are not there) and starts anew.
    pthread_atfork(nullptr, nullptr, [] {
      static_cast<void>(instance().pool.release());
      new (&instance().mutex) std::mutex;
      inside_task = false;
    });
  }
  static State& instance() {
    static State* state = new State;  // never destroyed: workers may outlive static destruction
    return *state;
  }
};

// BLAS is held at one thread from before main, so that a direct call is serial too.
const bool blas_is_serial = (State::instance(), true);

}  // namespace

bool inside_parallel() { return inside_task; }

int threads() { return State::instance().wanted; }

void set_threads(int n) {
  if (n < 0 || n > 4096)
    throw InputError("threads must be between 1 and 4096, or 0 for all cores; got " +
                     std::to_string(n));
  State::instance().wanted = n == 0 ? cores() : n;
}

void parallel_for(Index n, const std::function<void(Index)>& body) {
  State& state = State::instance();
  const int wanted = state.wanted;
  std::unique_lock region(state.mutex, std::defer_lock);
  if (n <= 1) {
    if (n == 1) body(0);
    return;
  }
  if (wanted == 1 || inside_task || !region.try_lock()) {
    const InsideTask mark;
    for (Index i = 0; i < n; ++i) body(i);
    return;
  }
  if (!state.pool || state.pool->wanted() != wanted - 1)
    state.pool = std::make_unique<Pool>(wanted - 1);
  Job job{n, &body, {}, {}, -1, {}};
  state.pool->run(job);
  if (job.failure) std::rethrow_exception(job.failure);
}

void parallel_ranges(Index n, const std::function<void(Index, Index)>& body, Index width) {
  parallel_for((n + width - 1) / width,
               [&](Index r) { body(r * width, std::min(n, (r + 1) * width)); });
}

}  // namespace covary
