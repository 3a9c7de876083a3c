// A child process that we talk to line by line: its own process group, memory limit and deadlines, so that a hang, a
// crash or a flood of output costs the caller one answer and no more. The child dies with this process, whatever ends
// it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headway {

struct SubprocessOptions {
    std::vector<std::string> command;                              // [0] is the path of the program
    std::vector<std::pair<std::string, std::string>> environment;  // added to ours
    int64_t memory_limit = 0;                                      // bytes of address space; 0 = none
};

// How a child ended.
struct ExitStatus {
    int code = 0;    // when signal is 0
    int signal = 0;  // that ended it
    bool killed_by_us = false;
    // "exited with code 3", "killed by signal 11 (Segmentation fault)".
    std::string text() const;
};

class Subprocess {
public:
    // UserError when the program cannot be started.
    explicit Subprocess(const SubprocessOptions& options);
    // Kills the group and waits for the child.
    ~Subprocess();
    Subprocess(const Subprocess&) = delete;
    Subprocess& operator=(const Subprocess&) = delete;

    // False when the child no longer reads, or has ended.
    bool write_line(std::string_view line);

    enum class Read { line, end, timeout, too_long, interrupted };
    // The next line of the child's standard output, without its end. Waits at most `seconds`, and stops early when
    // *stop becomes true; a longer line than `limit` is given up.
    Read read_line(std::string& line, double seconds, size_t limit, const std::atomic<bool>* stop = nullptr);

    // Kills the whole group, waits for the child.
    ExitStatus kill();
    // Closes the child's standard input, lets it end by itself for `seconds`, then as kill().
    ExitStatus finish(double seconds);

    // The last line that the child wrote to standard error, escaped, or "".
    std::string last_error_line() const;

    pid_t pid() const { return pid_; }

private:
    bool wait_for_end(double seconds);

    pid_t pid_ = -1;
    int socket_ = -1;  // the child's standard input and output
    int errors_ = -1;  // memory file behind the child's standard error
    bool ended_ = false;
    ExitStatus status_;
    std::string buffer_;
};

}  // namespace headway
