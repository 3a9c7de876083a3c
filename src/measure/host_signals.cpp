#include "measure/host_signals.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/text.h"
#include "measure/clock.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

// Files of /proc and /sys say that their size is 0, so they are read until they end.
std::optional<std::string> read_text(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (file.bad() || text.empty()) return std::nullopt;
    return text;
}

std::optional<int64_t> number(std::string_view word) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::optional<int64_t> word_as_number(const std::optional<std::string>& text, size_t index) {
    if (!text) return std::nullopt;
    const std::vector<std::string> all = words(*text);
    return index < all.size() ? number(all[index]) : std::nullopt;
}

// The number behind `key` in lines of "key value".
std::optional<int64_t> value_of(const std::optional<std::string>& text, std::string_view key) {
    if (!text) return std::nullopt;
    for (const std::string& line : split(*text, '\n')) {
        const std::vector<std::string> pair = words(line);
        if (pair.size() == 2 && pair[0] == key) return number(pair[1]);
    }
    return std::nullopt;
}

std::vector<std::string> entries(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

HostSignals::HostSignals(std::string root) : root_(std::move(root)), cgroup_stat_(find_cgroup_stat()) {
    const std::string cpus = root_ + "/sys/devices/system/cpu/";
    for (const std::string& cpu : entries(cpus)) {
        const std::string path = cpus + cpu + "/thermal_throttle/core_throttle_count";
        if (word_as_number(read_text(path), 0)) thermal_paths_.push_back(path);
    }
}

// Version 2 has one line "0::/path"; version 1 one line per controller, mounted under the controllers' names. Inside a
// container the path may be the host's, so the mount's own root is tried as well.
std::string HostSignals::find_cgroup_stat() const {
    const std::string mount = root_ + "/sys/fs/cgroup/";
    std::vector<std::string> folders{mount};
    for (const std::string& line : split(read_text(root_ + "/proc/self/cgroup").value_or(""), '\n')) {
        const std::vector<std::string> parts = split(line, ':');
        if (parts.size() != 3) continue;
        const std::vector<std::string> controllers = split(parts[1], ',');
        if (parts[0] == "0") {
            folders.insert(folders.begin(), mount + parts[2] + "/");
        } else if (std::find(controllers.begin(), controllers.end(), "cpu") != controllers.end()) {
            folders.insert(folders.begin(), {mount + parts[1] + parts[2] + "/", mount + "cpu" + parts[2] + "/",
                                             mount + parts[1] + "/", mount + "cpu/"});
        }
    }
    for (const std::string& folder : folders)
        if (value_of(read_text(folder + "cpu.stat"), "nr_throttled")) return folder + "cpu.stat";
    return "";
}

void HostSignals::read_cpu_times(HostCounters& counters) const {
    const std::optional<std::string> text = read_text(root_ + "/proc/stat");
    if (!text) return;
    const std::vector<std::string> fields = words(text->substr(0, text->find('\n')));
    // cpu user nice system idle iowait irq softirq steal; guest time is part of user time
    if (fields.size() < 9 || fields[0] != "cpu") return;
    int64_t total = 0;
    for (size_t i = 1; i <= 8; ++i) total += number(fields[i]).value_or(0);
    counters.steal_ticks = number(fields[8]);
    counters.total_ticks = total;
    counters.busy_ticks =
        total - number(fields[4]).value_or(0) - number(fields[5]).value_or(0) - counters.steal_ticks.value_or(0);
}

void HostSignals::read_process(int pid, HostCounters& counters) const {
    const std::string folder = root_ + "/proc/" + std::to_string(pid);
    const std::vector<std::string> threads = entries(folder + "/task");
    for (const std::string& thread : threads) {
        const std::optional<int64_t> id = number(thread);
        const std::optional<std::string> schedstat = read_text(folder + "/task/" + thread + "/schedstat");
        const auto cpu = word_as_number(schedstat, 0), delay = word_as_number(schedstat, 1);
        if (id && cpu && delay) counters.threads[static_cast<int>(*id)] = {*delay, *cpu, threads.size() == 1};
    }
    const std::optional<std::string> stat = read_text(folder + "/stat");
    if (!stat) return;
    // the program's name in parentheses may hold spaces; major faults are the tenth field behind it
    const size_t name_end = stat->rfind(')');
    if (name_end == std::string::npos) return;
    if (const auto faults = word_as_number(stat->substr(name_end + 1), 9))
        counters.major_faults = counters.major_faults.value_or(0) + *faults;
}

HostCounters HostSignals::counters(std::span<const int> pids) const {
    HostCounters counters;
    read_cpu_times(counters);
    counters.own_cpu_ns = process_cpu_ns();
    for (const int pid : pids) read_process(pid, counters);
    if (!cgroup_stat_.empty()) counters.throttled_periods = value_of(read_text(cgroup_stat_), "nr_throttled");
    counters.swap_ins = value_of(read_text(root_ + "/proc/vmstat"), "pswpin");
    for (const std::string& path : thermal_paths_)
        if (const auto events = word_as_number(read_text(path), 0))
            counters.thermal_events = counters.thermal_events.value_or(0) + *events;
    return counters;
}

HostLoad HostSignals::load() const {
    HostLoad load;
    // "0.20 0.18 0.12 1/80 11206"
    const std::vector<std::string> fields = words(read_text(root_ + "/proc/loadavg").value_or(""));
    if (fields.size() >= 4)
        if (const auto runnable = number(fields[3].substr(0, fields[3].find('/'))))
            load.runnable = static_cast<int>(*runnable);
    // "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234"
    for (const std::string& word : words(read_text(root_ + "/proc/pressure/cpu").value_or("")))
        if (word.starts_with("total=") && !load.pressure_us) load.pressure_us = number(word.substr(6));
    return load;
}

std::vector<std::string> HostSignals::missing() const {
    const int self = ::getpid();
    const HostCounters now = counters(std::span(&self, 1));
    const HostLoad load_now = load();
    std::vector<std::string> names;
    if (!load_now.pressure_us) names.emplace_back("CPU pressure");
    if (!now.throttled_periods) names.emplace_back("cgroup throttling");
    if (!read_text(root_ + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")) names.emplace_back("cpufreq");
    if (entries(root_ + "/sys/bus/event_source/devices/cpu").empty()) names.emplace_back("hardware counters");
    if (!load_now.runnable) names.emplace_back("load average");
    if (now.threads.empty()) names.emplace_back("run-queue delay");
    if (!now.steal_ticks) names.emplace_back("steal time");
    if (!now.swap_ins) names.emplace_back("swapping");
    if (!now.thermal_events) names.emplace_back("thermal throttling");
    return names;
}

}  // namespace headway
