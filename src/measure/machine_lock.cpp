#include "measure/machine_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "measure/clock.h"

namespace headway {
namespace {

constexpr char file_name[] = "/headway-measure.lock";
constexpr int64_t poll_ns = 100'000'000;

// Opens the file of another user as well: in folders with the sticky bit the kernel refuses O_CREAT on it.
int open_in(const std::string& folder, int& error) {
    const std::string path = folder + file_name;
    int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno == ENOENT) {
        file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        // whatever the umask; a failure only means that other users cannot take the lock
        if (file >= 0)
            static_cast<void>(::fchmod(file, 0666));
        else if (errno == EEXIST)
            file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    }
    if (file < 0 && errno == EACCES) file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    error = errno;
    return file;
}

int open_lock_file(const std::vector<std::string>& folders) {
    std::string reasons;
    for (const std::string& folder : folders) {
        int error = 0;
        const int file = open_in(folder, error);
        if (file >= 0) return file;
        reasons += (reasons.empty() ? "" : "; ") + folder + file_name + ": " + std::strerror(error);
    }
    throw UserError("cannot open the measurement lock (" + reasons + "); make one of these folders writable");
}

std::string read_holder(int file) {
    char text[512];
    const ssize_t size = ::pread(file, text, sizeof text, 0);
    return size > 0 ? escaped(trimmed(std::string_view(text, static_cast<size_t>(size)))) : "another process";
}

}  // namespace

std::vector<std::string> MachineLock::usual_folders() {
    std::vector<std::string> folders{"/run/lock", "/tmp"};
    if (const char* own = std::getenv("XDG_RUNTIME_DIR"); own != nullptr && *own != '\0') folders.emplace_back(own);
    return folders;
}

std::optional<MachineLock> MachineLock::try_acquire(std::string_view purpose, const std::vector<std::string>& folders) {
    MachineLock lock(open_lock_file(folders));
    if (::flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK || errno == EINTR) return std::nullopt;
        throw UserError(std::string("cannot take the measurement lock: ") + std::strerror(errno));
    }
    const std::string text = "pid " + std::to_string(::getpid()) + ", " + escaped(purpose) + "\n";
    // the text is a courtesy to those who wait: the lock holds without it
    if (::ftruncate(lock.file_, 0) == 0) static_cast<void>(!::pwrite(lock.file_, text.data(), text.size(), 0));
    return lock;
}

MachineLock MachineLock::acquire(std::string_view purpose, double wait_seconds,
                                 const std::vector<std::string>& folders) {
    const int64_t deadline = clock_ns() + static_cast<int64_t>(wait_seconds * 1e9);
    while (true) {
        if (auto lock = try_acquire(purpose, folders)) return std::move(*lock);
        if (clock_ns() >= deadline)
            throw UserError("another measurement runs on this machine (" + holder(folders) +
                            "); wait for it or stop it");
        const timespec pause{0, poll_ns};
        ::nanosleep(&pause, nullptr);
    }
}

std::string MachineLock::holder(const std::vector<std::string>& folders) {
    const MachineLock probe(open_lock_file(folders));
    if (::flock(probe.file_, LOCK_SH | LOCK_NB) == 0) return "";
    return read_holder(probe.file_);
}

MachineLock::MachineLock(MachineLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

MachineLock& MachineLock::operator=(MachineLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
}

MachineLock::~MachineLock() {
    if (file_ >= 0) ::close(file_);
}

}  // namespace headway
