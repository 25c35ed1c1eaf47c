// How long work learns that it is to stop, and the threads that share it.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

constexpr std::chrono::milliseconds PATIENCE{50};

// What ends the work of a thread whose caller has failed.
struct Stopped {};

// In a thread that works for another one: whether that one has failed.
inline thread_local const std::atomic<bool>* stop_sign = nullptr;

// For work to call between two pieces of it, with or without the lock of the interpreter: throws what Python's signal
// handlers raise, such as KeyboardInterrupt. Python handles signals in its main thread; in any other nothing happens.
inline void check_interrupt() {
    using Clock = std::chrono::steady_clock;
    thread_local Clock::time_point next{};
    if (stop_sign != nullptr) {
        if (stop_sign->load(std::memory_order_relaxed)) throw Stopped{};
        return;
    }
    if (const auto now = Clock::now(); now >= next) {
        next = now + PATIENCE;
        nanobind::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
}

// The same in a loop that reaches multiples of 2^16 about once a millisecond.
inline void check_interrupt_at(size_t i) {
    if (i % 65536 == 0) check_interrupt();
}

// Run `work(thread)` on as many threads, the caller's among them. The first exception is passed on, and stops the others
// at their next `check_interrupt`.
template <typename Work>
void on_threads(size_t n_threads, Work&& work) {
    if (n_threads <= 1) return work(0);
    std::atomic<bool> stop{false};
    std::exception_ptr failure;
    std::mutex guard;
    std::condition_variable finished;
    size_t running = n_threads - 1;
    const auto attempt = [&](auto&& piece) {
        try {
            piece();
        } catch (const Stopped&) {
        } catch (...) {
            const std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
            stop = true;
        }
    };
    std::vector<std::thread> threads;
    for (size_t thread = 1; thread < n_threads; ++thread) {
        threads.emplace_back([&, thread] {
            stop_sign = &stop;
            attempt([&] { work(thread); });
            const std::lock_guard<std::mutex> lock(guard);
            --running;
            finished.notify_one();
        });
    }
    attempt([&] { work(0); });
    const auto all_done = [&] {
        std::unique_lock<std::mutex> lock(guard);
        return finished.wait_for(lock, PATIENCE, [&] { return running == 0; });
    };
    while (!all_done()) attempt([] { check_interrupt(); });
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// Call `work(i)` for every i below `count`. Which thread takes which i never changes what `work(i)` computes, so
// results do not depend on `n_threads`.
template <typename Work>
void parallel_for(size_t count, int n_threads, Work&& work) {
    std::atomic<size_t> next{0};
    on_threads(std::min<size_t>(std::max(n_threads, 1), count), [&](size_t) {
        for (size_t i; (i = next.fetch_add(1)) < count;) {
            check_interrupt();
            work(i);
        }
    });
}
