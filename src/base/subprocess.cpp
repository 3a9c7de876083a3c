#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "base/text.h"

extern char** environ;

namespace headway {
namespace {

// Sanitizers reserve terabytes of address space: a program that they watch cannot start under a limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_limit_memory = false;
#else
constexpr bool can_limit_memory = true;
#endif

double now_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> list;
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    return list;
}

std::vector<std::string> merged_environment(const SubprocessOptions& options) {
    std::vector<std::string> merged;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const bool replaced =
            std::any_of(options.environment.begin(), options.environment.end(), [&](const auto& pair) {
                return text.starts_with(pair.first) && text.substr(pair.first.size()).starts_with('=');
            });
        if (!replaced) merged.emplace_back(text);
    }
    for (const auto& [name, value] : options.environment) merged.push_back(name + "=" + value);
    return merged;
}

// Whatever is open beside standard input, output and error closes at exec, also what a library opened without saying
// so.
void keep_descriptors_from_child() {
    constexpr unsigned first = 3, cloexec = 1u << 2;  // CLOSE_RANGE_CLOEXEC
    if (::syscall(SYS_close_range, first, ~0u, cloexec) == 0) return;
    rlimit most{};  // a kernel before 5.11
    ::getrlimit(RLIMIT_NOFILE, &most);
    constexpr rlim_t longest_walk = 65536;
    for (rlim_t fd = first; fd < std::min(most.rlim_cur, longest_walk); ++fd)
        ::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);
}

// Between fork and exec only calls that are safe there. An errno goes to `report` when exec fails.
[[noreturn]] void become(char* const* command, char* const* environment, int64_t memory_limit, int socket, int errors,
                         int report, pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(socket, 0);
    ::dup2(socket, 1);
    ::dup2(errors, 2);
    keep_descriptors_from_child();
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    if (can_limit_memory && memory_limit > 0) {
        const rlimit limit{static_cast<rlim_t>(memory_limit), static_cast<rlim_t>(memory_limit)};
        ::setrlimit(RLIMIT_AS, &limit);
    }
    ::execve(command[0], command, environment);
    const int error = errno;
    const ssize_t ignored = ::write(report, &error, sizeof error);
    static_cast<void>(ignored);
    ::_exit(127);
}

}  // namespace

std::string ExitStatus::text() const {
    if (signal == 0) return "exited with code " + std::to_string(code);
    return "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

Subprocess::Subprocess(const SubprocessOptions& options) {
    std::vector<std::string> command = options.command, environment = merged_environment(options);
    const std::vector<char*> command_list = pointers(command), environment_list = pointers(environment);
    int sockets[2], report[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 || ::pipe2(report, O_CLOEXEC) != 0)
        throw UserError(std::string("cannot start a worker process: ") + std::strerror(errno));
    errors_ = static_cast<int>(::syscall(SYS_memfd_create, "headway-worker-errors", 1u /* MFD_CLOEXEC */));
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0)
        become(command_list.data(), environment_list.data(), options.memory_limit, sockets[1], errors_, report[1],
               parent);
    const int fork_error = errno;
    ::close(sockets[1]);
    ::close(report[1]);
    socket_ = sockets[0];
    int error = pid_ < 0 ? fork_error : 0;
    if (pid_ > 0 && ::read(report[0], &error, sizeof error) <= 0) error = 0;
    ::close(report[0]);
    if (error != 0) {
        if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
        ::close(socket_);
        if (errors_ >= 0) ::close(errors_);
        throw UserError("cannot start " + options.command[0] + ": " + std::strerror(error));
    }
}

Subprocess::~Subprocess() {
    kill();
    if (errors_ >= 0) ::close(errors_);
}

bool Subprocess::write_line(std::string_view line) {
    std::string text(line);
    text += '\n';
    for (size_t done = 0; done < text.size();) {
        const ssize_t put = ::send(socket_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        done += static_cast<size_t>(put);
    }
    return true;
}

Subprocess::Read Subprocess::read_line(std::string& line, double seconds, size_t limit, const std::atomic<bool>* stop) {
    constexpr double longest_wait = 0.1;  // a stop request is seen after this long at the latest
    const double end = now_seconds() + seconds;
    for (;;) {
        const size_t at = buffer_.find('\n');
        if (at != std::string::npos && at <= limit) {
            line = buffer_.substr(0, at);
            buffer_.erase(0, at + 1);
            return Read::line;
        }
        if (buffer_.size() > limit) return Read::too_long;
        if (stop != nullptr && stop->load()) return Read::interrupted;
        const double left = end - now_seconds();
        if (left <= 0) return Read::timeout;
        pollfd wait{socket_, POLLIN, 0};
        const double slice = stop != nullptr ? std::min(left, longest_wait) : std::min(left, 3600.0);
        const int ready = ::poll(&wait, 1, static_cast<int>(slice * 1000) + 1);
        if (ready <= 0) continue;
        char chunk[4096];
        const ssize_t got = ::recv(socket_, chunk, sizeof chunk, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return Read::end;
        buffer_.append(chunk, static_cast<size_t>(got));
    }
}

bool Subprocess::wait_for_end(double seconds) {
    const double end = now_seconds() + seconds;
    while (!ended_) {
        siginfo_t info{};
        // The child stays a zombie until its group is killed: its number cannot go to another process before that.
        if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_)
            return true;
        if (now_seconds() >= end) return false;
        ::usleep(500);
    }
    return true;
}

ExitStatus Subprocess::kill() {
    if (ended_) return status_;
    status_.killed_by_us = !wait_for_end(0);
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // the child may not have made its group yet
    int state = 0;
    while (::waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
    status_.code = WIFEXITED(state) ? WEXITSTATUS(state) : 0;
    status_.signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    ::close(socket_);
    return status_;
}

ExitStatus Subprocess::finish(double seconds) {
    if (!ended_) {
        ::shutdown(socket_, SHUT_WR);
        wait_for_end(seconds);
    }
    return kill();
}

std::string Subprocess::last_error_line() const {
    constexpr off_t longest = 2000;
    if (errors_ < 0) return "";
    struct stat info {};
    if (::fstat(errors_, &info) != 0) return "";
    const off_t size = info.st_size;
    const off_t begin = std::max<off_t>(0, size - longest);
    std::string tail(static_cast<size_t>(size - begin), '\0');
    const ssize_t got = ::pread(errors_, tail.data(), tail.size(), begin);
    if (got <= 0) return "";
    const std::string_view text = trimmed(std::string_view(tail).substr(0, static_cast<size_t>(got)));
    const size_t newline = text.rfind('\n');
    return escaped(newline == std::string_view::npos ? text : text.substr(newline + 1));
}

}  // namespace headway
