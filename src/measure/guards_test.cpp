#include "measure/guards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "measure/machine_facts.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

// A root folder with made-up /proc and /sys.
class FakeRoot {
public:
    FakeRoot() {
        std::string name = (fs::temp_directory_path() / "guards.XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~FakeRoot() { fs::remove_all(path_); }
    void write(const std::string& name, const std::string& text) const {
        fs::create_directories(fs::path(path_ + name).parent_path());
        std::ofstream(path_ + name) << text;
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

void write_full_machine(const FakeRoot& root) {
    root.write("/proc/stat", "cpu  100 0 50 800 10 0 5 35 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
    root.write("/proc/42/task/42/schedstat", "1000 500 3\n");
    root.write("/proc/42/task/43/schedstat", "900 200 3\n");
    root.write("/proc/42/stat", "42 (a (b) c) S 1 42 42 0 -1 4194304 120 0 7 0 1 1 0 0\n");
    root.write("/proc/self/cgroup", "0::/user/job\n");
    root.write("/sys/fs/cgroup/user/job/cpu.stat", "usage_usec 5\nnr_periods 4\nnr_throttled 3\nthrottled_usec 99\n");
    root.write("/proc/vmstat", "pswpin 6\npswpout 7\n");
    root.write("/proc/loadavg", "0.20 0.18 0.12 3/80 11206\n");
    root.write("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0 total=9\n");
    root.write("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "2\n");
    root.write("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "5\n");
}

TEST(HostSignals, ReadsEveryCounter) {
    const FakeRoot root;
    write_full_machine(root);
    const HostSignals signals(root.path());
    const int pid = 42;
    const HostCounters counters = signals.counters(std::span(&pid, 1));
    EXPECT_EQ(counters.steal_ticks, 35);
    EXPECT_EQ(counters.total_ticks, 1000);
    ASSERT_EQ(counters.threads.size(), 2u);
    EXPECT_EQ(counters.threads.at(42).cpu_ns, 1000);
    EXPECT_EQ(counters.threads.at(42).run_delay_ns, 500);
    EXPECT_EQ(counters.threads.at(43).run_delay_ns, 200);
    EXPECT_FALSE(counters.threads.at(43).alone);
    EXPECT_EQ(counters.busy_ticks, 155);
    EXPECT_EQ(counters.major_faults, 7);
    EXPECT_EQ(counters.throttled_periods, 3);
    EXPECT_EQ(counters.thermal_events, 7);
    EXPECT_EQ(counters.swap_ins, 6);
    EXPECT_EQ(signals.load().runnable, 3);
    EXPECT_EQ(signals.load().pressure_us, 1234);
}

TEST(HostSignals, FindsThrottlingInVersionOneAndInContainers) {
    const FakeRoot one;
    one.write("/proc/self/cgroup", "5:memory:/x\n3:cpu,cpuacct:/x/y\n");
    one.write("/sys/fs/cgroup/cpu,cpuacct/x/y/cpu.stat", "nr_periods 1\nnr_throttled 8\nthrottled_time 3\n");
    EXPECT_EQ(HostSignals(one.path()).counters({}).throttled_periods, 8);
    const FakeRoot container;
    container.write("/proc/self/cgroup", "0::/host/only/path\n");
    container.write("/sys/fs/cgroup/cpu.stat", "nr_throttled 9\n");
    EXPECT_EQ(HostSignals(container.path()).counters({}).throttled_periods, 9);
}

TEST(HostSignals, ListsWhatIsMissing) {
    const FakeRoot empty;
    EXPECT_EQ(
        HostSignals(empty.path()).missing(),
        (std::vector<std::string>{"CPU pressure", "cgroup throttling", "cpufreq", "hardware counters", "load average",
                                  "run-queue delay", "steal time", "swapping", "thermal throttling"}));
    const FakeRoot root;
    write_full_machine(root);
    root.write("/proc/" + std::to_string(::getpid()) + "/task/7/schedstat", "1 2 3\n");
    EXPECT_EQ(HostSignals(root.path()).missing(), (std::vector<std::string>{"cpufreq", "hardware counters"}));
}

TEST(HostSignals, BrokenFilesAreMissingSignals) {
    const FakeRoot root;
    root.write("/proc/stat", "cpu 1 2\n");
    root.write("/proc/loadavg", "x\n");
    root.write("/proc/42/stat", "42 no parenthesis\n");
    root.write("/proc/42/task/oops/schedstat", "nothing\n");
    root.write("/proc/pressure/cpu", "");
    const HostSignals signals(root.path());
    const int pid = 42;
    const HostCounters counters = signals.counters(std::span(&pid, 1));
    EXPECT_FALSE(counters.steal_ticks || counters.major_faults || counters.throttled_periods);
    EXPECT_TRUE(counters.threads.empty());
    EXPECT_FALSE(signals.load().runnable || signals.load().pressure_us);
}

TEST(Guards, EachCounterDropsTheRound) {
    HostCounters quiet;
    quiet.threads[1].alone = quiet.threads[2].alone = true;
    quiet.major_faults = quiet.throttled_periods = quiet.thermal_events = quiet.swap_ins = 1;
    const int64_t round = 100'000'000;
    EXPECT_EQ(counter_fault(quiet, quiet, round, 2), std::nullopt);
    HostCounters after = quiet;
    after.throttled_periods = 2;
    EXPECT_EQ(counter_fault(quiet, after, round, 2), "cgroup throttling");
    after = quiet, after.thermal_events = 2;
    EXPECT_EQ(counter_fault(quiet, after, round, 2), "thermal throttling");
    after = quiet, after.swap_ins = 2;
    EXPECT_EQ(counter_fault(quiet, after, round, 2), "swapping");
    after = quiet, after.major_faults = 2;
    EXPECT_EQ(counter_fault(quiet, after, round, 2), "page fault from disk");
    after = quiet, after.threads[2].run_delay_ns = 400'000;
    EXPECT_EQ(counter_fault(quiet, after, round, 2), std::nullopt);
    after.threads[2].run_delay_ns = 600'000;
    EXPECT_EQ(counter_fault(quiet, after, round, 2), "run-queue delay of 1.2 % of a block");
    after = quiet, after.threads[3].run_delay_ns = 600'000;
    EXPECT_EQ(counter_fault(quiet, after, round, 2), std::nullopt) << "a new thread has no reading before";
}

// Threads of one engine that wait for each other are its own speed; those that wait for others' tasks are disturbed.
TEST(Guards, AnEngineIsNotDisturbedByItsOwnThreads) {
    HostCounters before;
    before.busy_ticks = 100;
    before.threads[1] = before.threads[2] = {};
    HostCounters after = before;
    after.busy_ticks = 140;  // 400 ms
    after.own_cpu_ns = 10'000'000;
    after.threads[1] = {.run_delay_ns = 90'000'000, .cpu_ns = 200'000'000};
    after.threads[2] = {.run_delay_ns = 0, .cpu_ns = 190'000'000};
    EXPECT_EQ(foreign_cpu_ns(before, after), 0);
    EXPECT_EQ(counter_fault(before, after, 200'000'000, 2), std::nullopt);
    after.threads[2].cpu_ns = 140'000'000;  // somebody else had 50 ms, a tick of them in doubt
    EXPECT_EQ(foreign_cpu_ns(before, after), 40'000'000);
    EXPECT_EQ(counter_fault(before, after, 200'000'000, 2), "run-queue delay of 40.0 % of a block");
    after.busy_ticks.reset();
    EXPECT_EQ(counter_fault(before, after, 200'000'000, 2), "run-queue delay of 90.0 % of a block") << "unknown";
}

TEST(Guards, AbsentCountersSayNothing) {
    HostCounters full;
    full.steal_ticks = full.total_ticks = full.major_faults = full.throttled_periods = full.thermal_events = 1;
    EXPECT_EQ(counter_fault({}, full, 1000, 1), std::nullopt);
    EXPECT_EQ(counter_fault(full, {}, 1000, 1), std::nullopt);
    EXPECT_EQ(steal_share({}, full), 0);
}

TEST(Guards, StealShare) {
    HostCounters before, after;
    before.steal_ticks = 5, before.total_ticks = 100;
    after.steal_ticks = 25, after.total_ticks = 300;
    EXPECT_DOUBLE_EQ(steal_share(before, after), 0.1);
    EXPECT_EQ(steal_share(before, before), 0);
}

TEST(Guards, Quiet) {
    EXPECT_TRUE(is_quiet({1, std::nullopt}));
    EXPECT_FALSE(is_quiet({2, std::nullopt}));
    EXPECT_TRUE(is_quiet({})) << "an unknown load cannot be waited for";
}

TEST(Guards, CanaryWatchJudgesAgainstTheSession) {
    CanaryWatch watch("clock rate", 0.03);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(watch.record(i == 2 ? 1.0 : 3.6), std::nullopt);
    EXPECT_EQ(watch.record(3.65), std::nullopt);
    EXPECT_EQ(watch.record(3.24), "clock rate 10.0 % below the session's");
    EXPECT_EQ(watch.record(3.96), "clock rate 10.0 % above the session's");
}

// 50 ms blocks that lose 3 ms each: too little for the 10 ms ticks of /proc/stat, enough for the block's own account.
TEST(Guards, AStolenBlockDropsItsRound) {
    const FakeRoot root;
    const HostSignals signals(root.path());
    Canaries canaries;
    HostGuard guard(signals, canaries, {1, 2}, GuardRules{});
    guard.begin_round();
    guard.block_lost(0, 50'000'000);
    EXPECT_EQ(guard.end_round(100'000'000), std::nullopt);
    guard.begin_round();
    guard.block_lost(3'000'000, 50'000'000);
    guard.block_lost(0, 50'000'000);
    EXPECT_EQ(guard.end_round(100'000'000), "CPU taken away for 6.0 % of a block");
    EXPECT_DOUBLE_EQ(guard.readings().back().lost, 0.06);
}

TEST(Guards, RulesAreFittedToWhatIsUsual) {
    EXPECT_EQ(fitted_rules({}).most_run_delay, GuardRules{}.most_run_delay);
    std::vector<RoundReading> readings(20);
    EXPECT_EQ(fitted_rules(readings).most_clock_change, GuardRules{}.most_clock_change);
    for (RoundReading& round : readings) round.clock_change = -0.1, round.run_delay = 0.001;
    EXPECT_DOUBLE_EQ(fitted_rules(readings).most_clock_change, 0.2) << "twice what nine of ten rounds show";
    EXPECT_EQ(fitted_rules(readings).most_run_delay, GuardRules{}.most_run_delay) << "never stricter than the default";
    for (RoundReading& round : readings) round.run_delay = 0.9;
    EXPECT_DOUBLE_EQ(fitted_rules(readings).most_run_delay, 0.1) << "a busy process is no peculiarity of the machine";
}

TEST(Guards, CanaryGivesAPossibleClockRate) {
    const double ghz = canary_ghz();
    EXPECT_GT(ghz, 0.05);
    EXPECT_LT(ghz, 10);
}

TEST(MachineFacts, AreReadAndPrinted) {
    const FakeRoot root;
    root.write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some \"CPU\" 9\nflags\t\t: fpu avx2 hypervisor\n");
    root.write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    const MachineFacts facts = read_machine_facts(root.path());
    EXPECT_EQ(facts.cpu, "Some \"CPU\" 9");
    EXPECT_TRUE(facts.virtual_machine);
    EXPECT_EQ(facts.governor, "powersave");
    EXPECT_GT(facts.cpus, 0);
    EXPECT_GT(facts.clock_resolution_ns, 0);
    EXPECT_NE(machine_json(facts).find(R"("cpu":"Some \"CPU\" 9")"), std::string::npos);
    EXPECT_NE(machine_json(facts).find(R"("missing_guards":["CPU pressure",)"), std::string::npos);
}

}  // namespace
}  // namespace headway
