#include "workers/channel.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace headway {

Channel::Channel() : in_(::fcntl(0, F_DUPFD_CLOEXEC, 3)), out_(::fcntl(1, F_DUPFD_CLOEXEC, 3)) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(null, 0);
    ::close(null);
    ::dup2(2, 1);
}

bool Channel::read_line(std::string& line) {
    for (;;) {
        const size_t at = buffer_.find('\n');
        if (at != std::string::npos) {
            line = buffer_.substr(0, at);
            buffer_.erase(0, at + 1);
            return true;
        }
        char chunk[4096];
        const ssize_t got = ::read(in_, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        buffer_.append(chunk, static_cast<size_t>(got));
    }
}

bool Channel::write_line(std::string line) {
    line += '\n';
    for (size_t done = 0; done < line.size();) {
        const ssize_t put = ::write(out_, line.data() + done, line.size() - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        done += static_cast<size_t>(put);
    }
    return true;
}

}  // namespace headway
