// Where a few threads wait for each other thousands of times a second.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "interrupts.hpp"

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
        for (int spins = 0; spins < SPINS; ++spins) {
            if (round_.load(std::memory_order_acquire) != round) return;
            relax();
        }
        round_.wait(round, std::memory_order_acquire);
    }

  private:
    static constexpr int SPINS = 4000;  // tens of microseconds: being woken takes longer

    static void relax() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    const int n_threads_;
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<unsigned> round_{0};
};

// Threads that meet so often that they help only while all of them run. On a busy machine they would wait for their turns
// most of the time: one thread works alone for a while when that was faster, longer each time that company did not pay.
class Company {
  public:
    explicit Company(size_t n_threads) : n_threads_(n_threads) {}

    // Call `work(thread, threads, barrier)`, each time as much to do, on all threads, or on this one alone.
    template <typename Work>
    void work(Work&& work) {
        const size_t threads = turns_alone_ > 0 ? 1 : n_threads_;
        Barrier barrier(static_cast<int>(threads));
        const auto began = std::chrono::steady_clock::now();
        on_threads(threads, [&](size_t thread) { work(thread, threads, barrier); });
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
        if (threads < n_threads_) {
            seconds_alone_ = passed.count();
            --turns_alone_;
        } else if (threads > 1) {
            const bool pays = passed.count() < seconds_alone_;
            patience_ = pays ? SHORT_WHILE : std::min(2 * patience_, LONG_WHILE);
            turns_alone_ = pays ? 0 : patience_;
        }
    }

  private:
    static constexpr int SHORT_WHILE = 2, LONG_WHILE = 1024;
    const size_t n_threads_;
    double seconds_alone_ = 0;
    int turns_alone_ = 1, patience_ = SHORT_WHILE;
};
