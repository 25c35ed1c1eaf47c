// Where a few threads wait for each other thousands of times a second.
#pragma once

#include <atomic>

class Barrier {
  public:
    explicit Barrier(int n_threads) : n_threads_(n_threads) {}

    // Spins first, since the others are a microsecond away, and sleeps when they are not running at all.
    void wait() {
        if (n_threads_ == 1) return;
        const unsigned round = round_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            round_.notify_all();
            return;
        }
        for (int spins = 0; spins < 4000; ++spins)
            if (round_.load(std::memory_order_acquire) != round) return;
        round_.wait(round, std::memory_order_acquire);
    }

  private:
    const int n_threads_;
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<unsigned> round_{0};
};
