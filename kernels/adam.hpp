// Adam (Kingma and Ba, 2015) with decoupled weight decay, paid for only where there are gradients.
//
// Dense Adam moves every parameter at every step, also those whose gradient is zero: their moments decay by constant
// factors. What such a parameter moves in the steps a, ..., t-1 after its last gradient at step a is, with the
// moments m and v as they were after step a, b1 and b2 their decays, r = sqrt(b2),
//     sum over i of c_i b1^(i-a) m / (r^(i-a) sqrt(v) + e_i),   c_i = rate_i sqrt(1-b2^i) / (1-b1^i),  e_i = eps sqrt(1-b2^i)
// The sum needs no loop over parameters: with q = b1 / r it is A m / (sqrt(v) + E) up to the square of the small
// change of r^(i-a) where b1^(i-a) is not yet zero (below a float's rounding of the parameter), where
//     A = sum of c_i q^(i-a)  and  A E = sum of c_i e_i (q / r)^(i-a).
// Both sums are differences of sums to the end of the schedule, which are known before the first step.
#pragma once

#include "lanes.hpp"

#include <cmath>
#include <vector>

struct AdamOptions {
    double weight_decay = 0;
    double first_decay = 0.9;
    double second_decay = 0.999;
    double epsilon = 1e-8;
};

// What a parameter without a gradient since a given step has to catch up with.
struct Arrears {
    float shrink, move, soften;
};

// The part of `count` steps of Adam that no parameter enters.
class AdamSteps {
  public:
    AdamSteps(const double* rates, size_t count, size_t steps_before, const AdamOptions& options)
        : options_(options), first_power_(count + 2), second_power_(count + 2), move_power_(count + 2),
          soften_power_(count + 2), shrink_(count + 2, 1.0), move_(count + 2, 0.0), soften_(count + 2, 0.0) {
        const double root = std::sqrt(options.second_decay);
        const double move_ratio = options.first_decay / root, soften_ratio = move_ratio / root;
        for (size_t gap = 0; gap < count + 2; ++gap) {
            const double power = static_cast<double>(gap);
            first_power_[gap] = static_cast<float>(std::pow(options.first_decay, power));
            second_power_[gap] = static_cast<float>(std::pow(options.second_decay, power));
            move_power_[gap] = std::pow(move_ratio, power);
            soften_power_[gap] = std::pow(soften_ratio, power);
        }
        for (size_t i = 0; i < count; ++i) shrink_[i + 2] = shrink_[i + 1] * (1 - rates[i] * options.weight_decay);
        for (size_t i = count; i-- > 0;) {
            const double number = static_cast<double>(steps_before + i + 1);
            const double second = std::sqrt(1 - std::pow(options.second_decay, number));
            const double rate = rates[i] * second / (1 - std::pow(options.first_decay, number)) / shrink_[i + 2];
            move_[i + 1] = rate + move_ratio * move_[i + 2];
            soften_[i + 1] = rate * options.epsilon * second + soften_ratio * soften_[i + 2];
        }
        move_[0] = move_ratio * move_[1];
        soften_[0] = soften_ratio * soften_[1];
    }

    // Steps are numbered from 1; step 0 is all that came before, and has been paid.
    Arrears arrears(size_t last, size_t now) const {
        const double shrink = shrink_[now];
        const double move = shrink * (move_[last] - move_power_[now - last] * move_[now]);
        const double soften = shrink * (soften_[last] - soften_power_[now - last] * soften_[now]);
        return {static_cast<float>(shrink / shrink_[last]), static_cast<float>(move),
                static_cast<float>(move > 0 ? soften / move : options_.epsilon)};
    }

    float first_power(size_t gap) const { return first_power_[gap]; }
    float second_power(size_t gap) const { return second_power_[gap]; }
    float first_share() const { return static_cast<float>(1 - options_.first_decay); }
    float second_share() const { return static_cast<float>(1 - options_.second_decay); }

  private:
    AdamOptions options_;
    std::vector<float> first_power_, second_power_;
    std::vector<double> move_power_, soften_power_, shrink_, move_, soften_;
};

// Rows of parameters, cut to a range of dimensions, and their moments. Rows that always receive gradients together
// form a group.
class AdamRows {
  public:
    struct Group {
        size_t first, length;  // in floats
    };

    AdamRows(std::vector<Group> groups, size_t n_floats)
        : groups_(std::move(groups)), last_(groups_.size(), 0), values_(n_floats / LANES), first_(n_floats / LANES),
          second_(n_floats / LANES) {}

    float* values() { return values_.data()->lane; }
    float* first_moments() { return first_.data()->lane; }
    float* second_moments() { return second_.data()->lane; }

    // Bring a group's values to what dense Adam would show before step `now`; returns the number of steps since its
    // last gradient, and 0 when called again for the same step.
    INLINE size_t touch(size_t group, size_t now, const AdamSteps& steps) {
        const size_t gap = now - last_[group];
        if (gap) catch_up(groups_[group], steps.arrears(last_[group], now));
        last_[group] = now;
        return gap;
    }

    // Take a gradient into the moments of the floats from `begin`, `gap` steps after the last one.
    INLINE void take(size_t begin, size_t length, const float* RESTRICT gradient, const AdamSteps& steps, size_t gap) {
        float* RESTRICT first = first_moments() + begin;
        float* RESTRICT second = second_moments() + begin;
        const float keep_first = steps.first_power(gap), keep_second = steps.second_power(gap);
        const float first_share = steps.first_share(), second_share = steps.second_share();
        for (size_t i = 0; i < length; i += LANES)
            for (size_t l = i; l < i + LANES; ++l) {
                const float slope = gradient[l];
                first[l] = keep_first * first[l] + first_share * slope;
                second[l] = keep_second * second[l] + second_share * slope * slope;
            }
    }

    // Pay everything owed before step `now`, and start to number steps again.
    INLINE void settle(size_t now, const AdamSteps& steps) {
        for (size_t group = 0; group < groups_.size(); ++group) {
            catch_up(groups_[group], steps.arrears(last_[group], now));
            decay(groups_[group], steps, now - 1 - last_[group]);
            last_[group] = 0;
        }
    }

  private:
    INLINE void catch_up(Group group, Arrears owed) {
        float* RESTRICT value = values() + group.first;
        const float* RESTRICT first = first_moments() + group.first;
        const float* RESTRICT second = second_moments() + group.first;
        for (size_t i = 0; i < group.length; i += LANES)
            for (size_t l = i; l < i + LANES; ++l)
                value[l] = owed.shrink * value[l] - owed.move * first[l] / (square_root(second[l]) + owed.soften);
    }

    INLINE void decay(Group group, const AdamSteps& steps, size_t gap) {
        float* RESTRICT first = first_moments() + group.first;
        float* RESTRICT second = second_moments() + group.first;
        const float keep_first = steps.first_power(gap), keep_second = steps.second_power(gap);
        for (size_t i = 0; i < group.length; i += LANES)
            for (size_t l = i; l < i + LANES; ++l) {
                first[l] *= keep_first;
                second[l] *= keep_second;
            }
    }

    std::vector<Group> groups_;
    std::vector<size_t> last_;
    std::vector<Block> values_, first_, second_;
};
