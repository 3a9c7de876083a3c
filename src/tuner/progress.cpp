#include "tuner/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace headway {
namespace {

constexpr double terminal_interval_s = 0.2;
constexpr double plain_interval_s = 10;

std::string minutes(double seconds) {
    const auto whole = static_cast<int>(seconds);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(const Budget& budget) : budget_(budget), terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear_line(); }

void Progress::phase(const std::string& name) {
    phase_ = name;
    show();
}

void Progress::update(int trials, int engines, double best_speedup) {
    trials_ = trials;
    engines_ = engines;
    best_ = best_speedup;
    if (budget_.spent() - shown_at_ >= (terminal_ ? terminal_interval_s : plain_interval_s)) show();
}

void Progress::say(const std::string& text) {
    clear_line();
    std::fprintf(stderr, "%s\n", text.c_str());
}

void Progress::show() {
    if (!terminal_ && !begun_) return;
    shown_at_ = budget_.spent();
    const std::string best =
        best_ > 1 ? fmt::format("best so far {:.2f}x (unconfirmed)", best_) : std::string("best so far: the default");
    const std::string line = fmt::format("{}: {} trials, {} distinct engines, {}, {} left", phase_, trials_, engines_,
                                         best, minutes(budget_.left()));
    if (terminal_)
        std::fprintf(stderr, "\r\033[K%s", line.c_str());
    else
        std::fprintf(stderr, "%s\n", line.c_str());
    std::fflush(stderr);
}

void Progress::clear_line() {
    if (terminal_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace headway
