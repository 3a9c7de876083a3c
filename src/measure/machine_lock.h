// One measurement at a time on a machine, whoever runs it: a lock file in a place that all users share. Held by RAII
// and given up by the kernel when the process dies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

class MachineLock {
public:
    // Folders that are tried in turn: /run/lock, /tmp, $XDG_RUNTIME_DIR. The first that can hold the file is used.
    static std::vector<std::string> usual_folders();

    // `purpose` is told to those who wait. Nothing when another process has it; UserError when no folder can hold the
    // file.
    static std::optional<MachineLock> try_acquire(std::string_view purpose,
                                                  const std::vector<std::string>& folders = usual_folders());
    // Waits; UserError naming the holder when the time is over.
    static MachineLock acquire(std::string_view purpose, double wait_seconds,
                               const std::vector<std::string>& folders = usual_folders());
    // "pid 123, tune model.onnx", or "" when nobody has it.
    static std::string holder(const std::vector<std::string>& folders = usual_folders());

    MachineLock(MachineLock&& other) noexcept;
    MachineLock& operator=(MachineLock&& other) noexcept;
    ~MachineLock();

private:
    explicit MachineLock(int file) : file_(file) {}
    int file_ = -1;
};

}  // namespace headway
