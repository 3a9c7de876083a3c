// Random graphs under random routes against the interpreter.
//
// usage: random_graphs [--seed S] [--seconds N | --graphs N] [--keep-going]
//
// Runs from seed S on for N seconds or graphs. A failure is printed with its seed, then shrunk and printed as a text
// that can be dropped into tests/random_graphs/found; the program ends with code 1 at the first one, or, with
// --keep-going, at the end. A seed gives the same graphs and routes on every machine with the same targets.
#include <chrono>
#include <cstdio>
#include <cstring>

#include "generate.h"
#include "isolate.h"
#include "shrink.h"

namespace headway::testing {
namespace {

constexpr unsigned graph_seconds = 120;  // a graph takes some ten milliseconds, also under a sanitizer under one second
constexpr uint64_t batch = 25;

struct Options {
    uint64_t seed = 1, graphs = 0;
    double seconds = 0;
    bool keeps_going = false;
};

struct Finding {
    uint64_t seed = 0;
    Trial trial;
    std::string text;
};

// Numbers and names differ while a graph shrinks; of a message the first words tell which one it is.
std::string kind_of_failure(const std::string& text) {
    const std::string kind = text.substr(0, text.find(':'));
    return kind == "refused" || kind == "broken" ? text.substr(0, kind.size() + 14) : kind;
}

std::string isolated_failure(const Trial& trial, const Catalogue& catalogue) {
    const Answer answer = isolated(graph_seconds, [&](const Writer& write) { write(failure_of(trial, catalogue)); });
    return answer.end.empty() ? answer.text : "crash: " + answer.end;
}

// Runs seeds [first, last) in one child; the child says which seed and way it is at, so that a crash is placed.
bool run_batch(uint64_t first, uint64_t last, const Catalogue& catalogue, uint64_t& at, Finding& finding) {
    const Answer answer = isolated(graph_seconds, [&](const Writer& write) {
        for (uint64_t seed = first; seed < last; ++seed) {
            write("@" + std::to_string(seed) + "\n");
            const Cases cases = random_cases(seed, catalogue);
            const Expectation expectation(cases.problem, catalogue);
            for (size_t k = 0; k < cases.ways.size(); ++k) {
                write("." + std::to_string(k) + "\n");
                const std::string text = expectation.failure(cases.ways[k]);
                if (text.empty()) continue;
                write("!" + text + "\n");
                return;
            }
        }
    });
    const size_t seed_at = answer.text.rfind('@'), failure = answer.text.rfind("\n!");
    if (answer.end.empty() && failure == std::string::npos) return false;
    at = std::stoull(answer.text.substr(seed_at + 1));
    finding.seed = at;
    finding.text = failure == std::string::npos ? "crash: " + answer.end : answer.text.substr(failure + 2);
    const size_t way = answer.text.rfind("\n.");
    // Without a way it was making the graph, or its reference, that failed.
    const Answer again = isolated(graph_seconds, [&](const Writer&) { random_cases(at, catalogue); });
    if (!again.end.empty()) {
        finding.text = "generator: " + again.end;
        return true;
    }
    const Cases cases = random_cases(at, catalogue);
    const bool placed = way != std::string::npos && way > seed_at;
    finding.trial = {cases.problem, placed ? cases.ways[std::stoull(answer.text.substr(way + 2))] : cases.ways[0]};
    return true;
}

void report(const Finding& finding, const Catalogue& catalogue) {
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(finding.seed), finding.text.c_str());
    if (finding.trial.way.target.empty()) return;
    const std::string kind = kind_of_failure(isolated_failure(finding.trial, catalogue));
    if (kind.empty()) {
        std::printf("it does not fail a second time\n");
        return;
    }
    const Trial small = shrunk(
        finding.trial, [&](const Trial& trial) { return kind_of_failure(isolated_failure(trial, catalogue)) == kind; },
        catalogue, 2500);
    std::printf("%s\n%s\n", isolated_failure(small, catalogue).c_str(), print_trial(small).c_str());
    std::fflush(stdout);
}

int run(const Options& options) {
    const Catalogue catalogue;
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    uint64_t seed = options.seed, findings = 0;
    while (options.graphs > 0 ? seed < options.seed + options.graphs : elapsed() < options.seconds) {
        const uint64_t last = options.graphs > 0 ? std::min(seed + batch, options.seed + options.graphs) : seed + batch;
        uint64_t at = 0;
        Finding finding;
        if (!run_batch(seed, last, catalogue, at, finding)) {
            seed = last;
            continue;
        }
        ++findings;
        report(finding, catalogue);
        seed = at + 1;
        if (!options.keeps_going) break;
    }
    std::printf("%llu graphs from seed %llu in %.0f s: %llu findings\n",
                static_cast<unsigned long long>(seed - options.seed), static_cast<unsigned long long>(options.seed),
                elapsed(), static_cast<unsigned long long>(findings));
    return findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace headway::testing

int main(int count, char** arguments) {
    headway::testing::Options options;
    for (int k = 1; k < count; ++k) {
        const std::string name = arguments[k];
        const bool has_value = k + 1 < count;
        if (name == "--keep-going")
            options.keeps_going = true;
        else if (name == "--seed" && has_value)
            options.seed = std::strtoull(arguments[++k], nullptr, 10);
        else if (name == "--graphs" && has_value)
            options.graphs = std::strtoull(arguments[++k], nullptr, 10);
        else if (name == "--seconds" && has_value)
            options.seconds = std::strtod(arguments[++k], nullptr);
        else {
            std::fprintf(stderr, "usage: random_graphs [--seed S] [--seconds N | --graphs N] [--keep-going]\n");
            return 2;
        }
    }
    return headway::testing::run(options);
}
