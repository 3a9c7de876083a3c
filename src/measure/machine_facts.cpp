#include "measure/machine_facts.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "measure/clock.h"
#include "measure/host_signals.h"

namespace headway {
namespace {

// The text behind "key :" in /proc/cpuinfo, of the first CPU.
std::string cpuinfo(const std::string& root, std::string_view key) {
    std::ifstream file(root + "/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const size_t colon = line.find(':');
        if (colon != std::string::npos && trimmed(std::string_view(line).substr(0, colon)) == key)
            return std::string(trimmed(std::string_view(line).substr(colon + 1)));
    }
    return "";
}

int allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                         : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

MachineFacts read_machine_facts(const std::string& root) {
    MachineFacts facts;
    facts.cpu = cpuinfo(root, "model name");
    facts.cpus = allowed_cpus();
    facts.virtual_machine = (" " + cpuinfo(root, "flags") + " ").find(" hypervisor ") != std::string::npos;
    facts.memory_bytes = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    utsname system{};
    if (::uname(&system) == 0) facts.kernel = system.release;
    std::ifstream governor(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    std::getline(governor, facts.governor);
    facts.clock_resolution_ns = clock_resolution_ns();
    facts.missing_guards = HostSignals(root).missing();
    return facts;
}

std::string machine_json(const MachineFacts& facts) {
    const nlohmann::ordered_json json{{"cpu", facts.cpu},
                                      {"cpus", facts.cpus},
                                      {"virtual_machine", facts.virtual_machine},
                                      {"memory_bytes", facts.memory_bytes},
                                      {"kernel", facts.kernel},
                                      {"governor", facts.governor},
                                      {"clock_resolution_ns", facts.clock_resolution_ns},
                                      {"missing_guards", facts.missing_guards}};
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace headway
