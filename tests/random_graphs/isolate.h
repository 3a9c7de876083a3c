// Work in a child process: a crash or a hang of it is an answer like any other.
#pragma once

#include <functional>
#include <string>

namespace headway::testing {

struct Answer {
    std::string text;  // all that the work wrote, also before a crash
    std::string end;   // "" or "killed by signal 11 (Segmentation fault)"; a hang ends with SIGALRM
};

using Writer = std::function<void(const std::string&)>;

// Forks; the calling process must have one thread only.
Answer isolated(unsigned seconds, const std::function<void(const Writer&)>& work);

}  // namespace headway::testing
