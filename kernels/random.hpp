// Random numbers that are the same on every platform.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

// A bijection of 64 bits that looks random: the output function of splitmix64 (Steele, Lea and Flood, 2014).
inline uint64_t scrambled(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

class Random {
  public:
    Random(uint64_t seed, uint64_t stream) : state_(scrambled(seed) ^ scrambled(~stream)) {}

    uint64_t bits() { return scrambled(state_ += 0x9E3779B97F4A7C15u); }

    uint32_t below(uint32_t bound) { return static_cast<uint32_t>((bits() >> 32) * bound >> 32); }

    // In [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

    // Box and Muller (1958), in double: what the mathematical libraries of two platforms disagree in is gone
    // once the number is rounded to float.
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

  private:
    uint64_t state_;
};
