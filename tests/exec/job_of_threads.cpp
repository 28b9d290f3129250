#include "job_of_threads.hpp"

#include <exception>
#include <mutex>
#include <thread>

namespace stagecraft {

void run_ranks(std::int32_t ranks, const TransportOptions& options, const std::function<void(Transport&)>& body) {
  InProcessJob job(ranks, options);
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      at::set_num_threads(1);
      try {
        body(job.transport(rank));
      } catch (const std::exception& error) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!first) first = std::current_exception();
        job.transport(rank).abort(error.what(), StopCause::failed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace stagecraft
