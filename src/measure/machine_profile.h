// What calibration found out about a machine: how noisy paired measurements are on it, what its guards usually read,
// and hence what size of gain so many visits can show. Kept per machine, so that later runs need not learn it again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/components.h"
#include "measure/guards.h"
#include "measure/rounds.h"

namespace headway {

// One visit of an engine against its own copy (engine 1 and engine 0).
struct ControlVisit {
    std::vector<RoundTimes> rounds;
    std::vector<RoundOrder> orders;
};

// For how many visits the resolution is told.
inline constexpr int resolution_visits[] = {4, 8, 12, 16, 32};

struct MachineProfile {
    std::string subject;  // what was run: an engine of another length meets another noise
    double iteration_ms = 0;
    int threads = 0;
    int visits = 0, rounds = 0;
    Components components;           // of paired log ratios
    double lag1 = 0;                 // correlation of a round's ratio with the next one's; near 0 when pairing works
    double control_p = 1;            // sign-flip test of the copy against its original
    double control_mean = 0;         // log speed-up of the copy
    double position_effect = 0;      // log time of the second block of a round over the first; must be near 0
    double position_p = 1;           // sign-flip test of "there is none", a value per visit
    double load_s = 0, block_s = 0;  // cost of one engine of a visit, and of one block
    GuardRules rules;
    double clock_ghz[3] = {}, memory_gb_per_s[3] = {};  // 5 %, 50 % and 95 % of the canaries' readings
    std::vector<std::string> missing_guards;
    std::optional<bool> builder_repeats;  // the default route built twice gave one fingerprint

    int best_rounds() const;
    // The gain that the confirm test finds with 80 % power at a look of so many visits, as a log speed-up.
    double resolution(int visits) const;
};

// Fills in what follows from the visits and the guards' readings. Needs two visits of two rounds.
MachineProfile profile_of(std::span<const ControlVisit> visits, std::span<const RoundReading> readings);

std::string profile_json(const MachineProfile& profile);
// UserError naming what is wrong.
MachineProfile profile_from_json(const std::string& text);

// Where this machine's profile is: a file below $XDG_CACHE_HOME/headway (or ~/.cache/headway) whose name is made of
// the CPU, the number of CPUs, the kernel and the engine's threads. "" when there is no home.
std::string profile_path(int threads);
// Nothing when there is none or it cannot be used: it is then made again.
std::optional<MachineProfile> load_profile(int threads);
// False when it cannot be written: what was learned is then used now and learned again next time.
bool store_profile(const MachineProfile& profile);

}  // namespace headway
