// Rounds: one block of every engine of a heat, in an order that gives each engine each position equally often.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"

namespace headway {

// Engines are numbered from 0; engine 0 is the reference.
using RoundOrder = std::vector<int>;

// Orders for `rounds` rounds of `engines` engines. Per group of N rounds a fresh random permutation is rotated (a
// cyclic Latin square); for two engines that is AB BA or BA AB by coin.
std::vector<RoundOrder> round_orders(int engines, int rounds, Rng& rng);

// Time of one block for each engine, by engine number.
using RoundTimes = std::vector<int64_t>;

// ln(t_ref/t_e) of one engine in each round: positive is faster than the reference. Times are positive.
std::vector<double> paired_log_ratios(std::span<const RoundTimes> rounds, int engine);

// What one visit says about an engine: the median of its paired log ratios.
double visit_value(std::span<const RoundTimes> rounds, int engine);

// Rounds in which an engine and the reference took the same time to the tick: many of them mean a too coarse clock.
int tied_rounds(std::span<const RoundTimes> rounds, int engine);

}  // namespace headway
