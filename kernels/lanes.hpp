// Arithmetic on rows of floats in blocks of LANES: plain loops that a compiler turns into vector instructions.
// Everything is inlined into its caller, so that it is compiled for the caller's instruction set (MULTIVERSION).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#if defined(_MSC_VER)
#define INLINE __forceinline
#define ALWAYS_INLINE
#define RESTRICT __restrict
#define PREFETCH(address)
#else
#define INLINE inline __attribute__((always_inline))
#define ALWAYS_INLINE __attribute__((always_inline))
#define RESTRICT __restrict__
#define PREFETCH(address) __builtin_prefetch(address)
#endif

constexpr size_t LANES = 16;

struct alignas(64) Block {
    float lane[LANES] = {};
};

// e^x to 3e-7 of itself, for |x| below 87; beyond, the value there.
INLINE float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    const float shifted = x * 1.44269504f + 12582912.0f;
    const float power = shifted - 12582912.0f;
    float rest = x - power * 0.693359375f;
    rest = rest + power * 2.12194440e-4f;
    float value = 1.0f / 720;
    value = value * rest + 1.0f / 120;
    value = value * rest + 1.0f / 24;
    value = value * rest + 1.0f / 6;
    value = value * rest + 0.5f;
    value = value * rest + 1.0f;
    value = value * rest + 1.0f;
    return std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) << 23) + std::bit_cast<uint32_t>(value));
}

// e^x to a rounding, for x from -700 to 0; below, the value there.
INLINE double exponential(double x) {
    x = x < -700.0 ? -700.0 : x;
    const double shifted = x * 1.4426950408889634 + 6755399441055744.0;
    const double power = shifted - 6755399441055744.0;
    double rest = x - power * 0.693147180369123816490;
    rest = rest - power * 1.90821492927058770002e-10;
    double value = 1.0 / 479001600;
    value = value * rest + 1.0 / 39916800;
    value = value * rest + 1.0 / 3628800;
    value = value * rest + 1.0 / 362880;
    value = value * rest + 1.0 / 40320;
    value = value * rest + 1.0 / 5040;
    value = value * rest + 1.0 / 720;
    value = value * rest + 1.0 / 120;
    value = value * rest + 1.0 / 24;
    value = value * rest + 1.0 / 6;
    value = value * rest + 0.5;
    value = value * rest + 1.0;
    value = value * rest + 1.0;
    return std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) << 52) + std::bit_cast<uint64_t>(value));
}

// The hyperbolic tangent to 2e-7.
INLINE float hyperbolic_tangent(float x) {
    const float decay = exponential(-2.0f * std::fabs(x));
    return std::copysign((1.0f - decay) / (1.0f + decay), x);
}

// sqrt(x) to a rounding: a first guess from the exponent's bits and three steps of Newton, since the square root of a
// processor would wait for the same unit as the division that follows it.
INLINE float square_root(float x) {
    const float half = 0.5f * x;
    float inverse = std::bit_cast<float>(0x5F375A86u - (std::bit_cast<uint32_t>(x) >> 1));
    inverse = inverse * (1.5f - half * inverse * inverse);
    inverse = inverse * (1.5f - half * inverse * inverse);
    inverse = inverse * (1.5f - half * inverse * inverse);
    return x * inverse;
}

INLINE void fill_zero(float* RESTRICT to, size_t width) {
    for (size_t i = 0; i < width; i += LANES)
        for (size_t l = 0; l < LANES; ++l) to[i + l] = 0;
}

INLINE void copy(float* RESTRICT to, const float* RESTRICT from, size_t width) {
    for (size_t i = 0; i < width; i += LANES)
        for (size_t l = 0; l < LANES; ++l) to[i + l] = from[i + l];
}

INLINE void add(float* RESTRICT to, const float* RESTRICT from, size_t width) {
    for (size_t i = 0; i < width; i += LANES)
        for (size_t l = 0; l < LANES; ++l) to[i + l] += from[i + l];
}

// a += scale * from_a and b += scale * from_b, in one pass.
INLINE void add_both_scaled(float scale, float* RESTRICT a, const float* RESTRICT from_a, float* RESTRICT b,
                            const float* RESTRICT from_b, size_t width) {
    for (size_t i = 0; i < width; i += LANES) {
        for (size_t l = i; l < i + LANES; ++l) a[l] += scale * from_a[l];
        for (size_t l = i; l < i + LANES; ++l) b[l] += scale * from_b[l];
    }
}

// The products of two long rows' columns of the given width, `stride` apart and together `length` long, summed over
// blocks but not yet over lanes.
INLINE void multiply(const float* RESTRICT a, const float* RESTRICT b, size_t width, size_t length, size_t stride,
                     float* RESTRICT lanes) {
    float sum[LANES] = {};
    for (size_t begin = 0; begin < length; begin += stride)
        for (size_t i = begin; i < begin + width; i += LANES)
            for (size_t l = 0; l < LANES; ++l) sum[l] += a[i + l] * b[i + l];
    for (size_t l = 0; l < LANES; ++l) lanes[l] = sum[l];
}

INLINE void add_pairs(const float* RESTRICT from, size_t n_pairs, float* RESTRICT to) {
    for (size_t i = 0; i < n_pairs; i += LANES)
        for (size_t l = 0; l < LANES; ++l) to[i + l] = from[2 * (i + l)] + from[2 * (i + l) + 1];
}

// The sums over lanes of `count` blocks, `count` rounded up to whole blocks; `spare` has half the room of `lanes`.
INLINE void sum_lanes(float* RESTRICT lanes, float* RESTRICT spare, size_t count, float* RESTRICT sums) {
    const size_t rounded = (count + LANES - 1) / LANES * LANES;
    add_pairs(lanes, rounded * 8, spare);
    add_pairs(spare, rounded * 4, lanes);
    add_pairs(lanes, rounded * 2, spare);
    add_pairs(spare, rounded, sums);
}
