// The facts about a machine that a result must carry to be compared with another one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway {

struct MachineFacts {
    std::string cpu;  // model name
    int cpus = 0;     // this process may run on
    bool virtual_machine = false;
    int64_t memory_bytes = 0;
    std::string kernel;
    std::string governor;  // of CPU 0, "" when unknown
    int64_t clock_resolution_ns = 0;
    std::vector<std::string> missing_guards;
};

// `root` is put before /proc and /sys.
MachineFacts read_machine_facts(const std::string& root = "");
std::string machine_json(const MachineFacts& facts);

}  // namespace headway
