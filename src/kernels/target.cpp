#include "kernels/target.h"

#include <cpuid.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "kernels/cpu/providers/onednn/library.h"

namespace headway {
namespace {

constexpr std::string_view isa_names[] = {"baseline", "avx2", "avx512"};

Isa isa_from_string(std::string_view word) {
    for (size_t i = 0; i < std::size(isa_names); ++i)
        if (isa_names[i] == word) return static_cast<Isa>(i);
    throw UserError("unknown instruction set '" + escaped(word) + "': use baseline, avx2 or avx512");
}

Isa widest_isa() {
    if (runs_here(Isa::avx512)) return Isa::avx512;
    return runs_here(Isa::avx2) ? Isa::avx2 : Isa::baseline;
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

int64_t number_or(std::string_view text, int64_t fallback) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end != text.data() ? value : fallback;
}

// "512K" or "32M" as sysfs writes cache sizes.
int64_t size_or(std::string_view text, int64_t fallback) {
    const int64_t value = number_or(text, -1);
    if (value <= 0) return fallback;
    if (text.ends_with('K')) return value << 10;
    if (text.ends_with('M')) return value << 20;
    return value;
}

void read_cache_sizes(Target& target) {
    for (int index = 0; index < 8; ++index) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        const std::string type = first_line(folder + "type");
        if (type.empty() || type == "Instruction") continue;
        const std::string size = first_line(folder + "size");
        const int64_t level = number_or(first_line(folder + "level"), 0);
        if (level == 1) target.l1_bytes = size_or(size, target.l1_bytes);
        if (level == 2) target.l2_bytes = size_or(size, target.l2_bytes);
        if (level == 3) target.l3_bytes = size_or(size, target.l3_bytes);
    }
}

// Whole CPUs that a quota of `quota` per `period` microseconds pays for; 0 = no limit.
int64_t cpus_of_quota(int64_t quota, int64_t period) {
    return quota > 0 && period > 0 ? std::max<int64_t>(1, (quota + period - 1) / period) : 0;
}

// The tightest quota of this process's control groups, version 2 (each ancestor counts) or 1; 0 = no limit.
int64_t cgroup_cpus() {
    int64_t limit = 0;
    const auto tighten = [&limit](int64_t cpus) {
        if (cpus > 0) limit = limit == 0 ? cpus : std::min(limit, cpus);
    };
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        if (!line.starts_with("0::")) continue;
        std::string path = line.substr(3);
        while (true) {
            const std::vector<std::string> parts = split(first_line("/sys/fs/cgroup" + path + "/cpu.max"), ' ');
            if (parts.size() == 2) tighten(cpus_of_quota(number_or(parts[0], 0), number_or(parts[1], 0)));
            const size_t slash = path.rfind('/');
            if (path.empty() || slash == std::string::npos) break;
            path.resize(slash);
        }
    }
    const std::string first_version = "/sys/fs/cgroup/cpu/cpu.cfs_";
    tighten(cpus_of_quota(number_or(first_line(first_version + "quota_us"), 0),
                          number_or(first_line(first_version + "period_us"), 0)));
    return limit;
}

int allowed_threads() {
    int64_t threads = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) threads = CPU_COUNT(&set);
    const int64_t quota = cgroup_cpus();
    if (quota > 0) threads = std::min(threads, quota);
    return static_cast<int>(std::max<int64_t>(1, threads));
}

constexpr int64_t largest_cache = int64_t{1} << 40;
constexpr int64_t most_threads = 4096;

int64_t field_number(std::string_view name, std::string_view value, int64_t lowest, int64_t highest) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < lowest || number > highest)
        throw UserError("target: " + std::string(name) + "=" + escaped(value) + " is not a number from " +
                        std::to_string(lowest) + " to " + std::to_string(highest));
    return number;
}

void set_field(Target& target, std::string_view name, std::string_view value) {
    const auto flag = [&] { return field_number(name, value, 0, 1) != 0; };
    const auto cache = [&] { return field_number(name, value, 1, largest_cache); };
    if (name == "isa")
        target.isa = isa_from_string(value);
    else if (name == "vnni")
        target.avx512_vnni = flag();
    else if (name == "bf16")
        target.avx512_bf16 = flag();
    else if (name == "fp16")
        target.avx512_fp16 = flag();
    else if (name == "fma512")
        target.fma512 = static_cast<int>(field_number(name, value, 1, 2));
    else if (name == "l1")
        target.l1_bytes = cache();
    else if (name == "l2")
        target.l2_bytes = cache();
    else if (name == "l3")
        target.l3_bytes = cache();
    else if (name == "threads")
        target.threads = static_cast<int>(field_number(name, value, 1, most_threads));
    else if (name == "onednn")
        target.onednn = std::string(value);
    else
        throw UserError("target: unknown field '" + escaped(name) +
                        "'; known are isa, vnni, bf16, fp16, fma512, l1, l2, l3, threads, onednn");
}

// Clang 14 does not know the word "f16c".
bool has_f16c() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace

std::string_view to_string(Isa isa) { return isa_names[static_cast<size_t>(isa)]; }

bool runs_here(Isa isa) {
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    if (isa == Isa::baseline) return true;
    if (isa == Isa::avx2) return avx2;
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

std::string missing_field(const Target& built, const Target& here) {
    if (built.isa > here.isa) return "isa=" + std::string(to_string(built.isa));
    if (built.avx512_vnni && !here.avx512_vnni) return "vnni=1";
    if (built.avx512_bf16 && !here.avx512_bf16) return "bf16=1";
    if (built.avx512_fp16 && !here.avx512_fp16) return "fp16=1";
    return "";
}

Target Target::native() {
    Target target;
    target.isa = widest_isa();
    if (target.isa == Isa::avx512) {
        target.avx512_vnni = __builtin_cpu_supports("avx512vnni");
        target.avx512_bf16 = __builtin_cpu_supports("avx512bf16");
        // Zen 4 runs a 512-bit operation in its 256-bit units in two steps.
        if (__builtin_cpu_is("amdfam19h")) target.fma512 = 1;
    }
    read_cache_sizes(target);
    target.threads = allowed_threads();
    target.onednn = onednn_version();
    return target;
}

Target Target::parse(std::string_view text) {
    text = trimmed(text);
    if (text == "native") return native();
    Target target;
    if (text.find('=') == std::string_view::npos) {
        target.isa = isa_from_string(text);
        return target;
    }
    std::string flat(text);
    std::replace_if(
        flat.begin(), flat.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    for (const std::string& part : split(flat, ' ')) {
        if (part.empty()) continue;
        const size_t equals = part.find('=');
        if (equals == std::string::npos) throw UserError("target: '" + escaped(part) + "' is not name=value");
        set_field(target, std::string_view(part).substr(0, equals), std::string_view(part).substr(equals + 1));
    }
    return target;
}

std::string Target::text() const {
    const auto field = [](const char* name, int64_t value) {
        return std::string(" ") + name + "=" + std::to_string(value);
    };
    return "isa=" + std::string(to_string(isa)) + field("vnni", avx512_vnni) + field("bf16", avx512_bf16) +
           field("fp16", avx512_fp16) + field("fma512", fma512) + field("l1", l1_bytes) + field("l2", l2_bytes) +
           field("l3", l3_bytes) + field("threads", threads) + " onednn=" + onednn;
}

}  // namespace headway
