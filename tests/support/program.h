// Runs the headway program as a user does, for tests of what it says and how it ends.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/subprocess.h"

namespace headway {

struct ProgramRun {
    int code = -1;                   // minus the signal that ended it
    std::vector<std::string> lines;  // of both streams
    std::string text() const {
        std::string all;
        for (const std::string& line : lines) all += line + "\n";
        return all;
    }
};

// Runs `headway ARGUMENTS` through the shell, so that both streams come in one, in at most `memory` bytes of address
// space.
inline ProgramRun run_program(const std::string& arguments, int64_t memory = int64_t{4} << 30) {
    constexpr double hanging = 600;  // seconds; no test is about how fast a machine is
    Subprocess child({.command = {"/bin/sh", "-c", std::string("exec " HEADWAY_PROGRAM " ") + arguments + " 2>&1"},
                      .environment = {},
                      .memory_limit = memory});
    ProgramRun run;
    std::string line;
    while (child.read_line(line, hanging, size_t{1} << 20) == Subprocess::Read::line) run.lines.push_back(line);
    const ExitStatus status = child.finish(hanging);
    run.code = status.signal != 0 ? -status.signal : status.code;
    return run;
}

// With `{}` in `arguments` standing for the folder.
inline std::string in_folder(std::string arguments, const std::string& folder) {
    for (size_t at; (at = arguments.find("{}")) != std::string::npos;) arguments.replace(at, 2, folder);
    return arguments;
}

inline void write_bytes(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace headway
