#include "isolate.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/error.h"

namespace headway::testing {
namespace {

void write_all(int descriptor, const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = write(descriptor, text.data() + done, text.size() - done);
        if (count <= 0) _exit(3);
        done += static_cast<size_t>(count);
    }
}

}  // namespace

Answer isolated(unsigned seconds, const std::function<void(const Writer&)>& work) {
    std::array<int, 2> ends{};
    HEADWAY_CHECK(pipe(ends.data()) == 0);
    const pid_t child = fork();
    HEADWAY_CHECK(child >= 0);
    if (child == 0) {
        close(ends[0]);
        alarm(seconds);
        try {
            work([&](const std::string& text) { write_all(ends[1], text); });
        } catch (const std::exception& error) {
            std::fprintf(stderr, "random_graphs: %s\n", error.what());
            _exit(4);
        }
        _exit(0);
    }
    close(ends[1]);
    Answer answer;
    std::array<char, 4096> buffer{};
    for (ssize_t count; (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
        answer.text.append(buffer.data(), static_cast<size_t>(count));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        answer.end = "killed by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
    else if (WEXITSTATUS(status) != 0)
        answer.end = "exited with code " + std::to_string(WEXITSTATUS(status));
    return answer;
}

}  // namespace headway::testing
