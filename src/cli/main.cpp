// The headway program: parses the command line, runs one subcommand and turns its end into an exit code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <new>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/command.h"

namespace headway {
namespace {

constexpr const char* version_text = "headway 0.1.0";

int complain(int code, const std::string& message) {
    std::string line = message;
    // one line, and nothing that a terminal obeys: most messages repeat something from a file
    for (char& c : line) {
        const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
        if (is_control) c = c == '\n' || c == '\t' ? ' ' : '?';
    }
    std::cout.flush();
    std::fprintf(stderr, "headway: %s\n", line.c_str());
    return code;
}

// CLI11's words for a bad command line, with the nearest subcommand where one is misspelt.
std::string usage_error(const CLI::ParseError& error, const Registry<Command>& commands, int argc, char** argv) {
    std::string text = error.what();
    if (argc > 1 && argv[1][0] != '-' && commands.find(argv[1]) == nullptr) {
        text = "no command '" + escaped(argv[1]) + "'";
        const std::string nearest = nearest_name(argv[1], commands.names());
        if (!nearest.empty()) text += "; did you mean '" + nearest + "'?";
        return text;
    }
    return text + " (see headway " + (argc > 1 && argv[1][0] != '-' ? std::string(argv[1]) + " " : "") + "--help)";
}

int run(int argc, char** argv) {
    const Registry<Command> commands = declared<Command>();
    CLI::App app("Finds, for one ONNX model on one machine, the fastest engine whose outputs stay inside a tolerance.",
                 "headway");
    app.set_version_flag("--version", version_text);
    app.require_subcommand(1);
    uint64_t memory = static_cast<uint64_t>(limits().memory);
    app.add_option("--memory-limit", memory, "Most bytes of tensors at once, as 2G; default: what the machine has")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 60));
    uint64_t work = uint64_t{1} << 45;
    app.add_option("--work-limit", work,
                   "Most operations of one build or run, as 4T: multiply-adds or elements by kernels; one by an "
                   "operator's reference counts as 64")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 62))
        ->capture_default_str();
    std::map<const CLI::App*, Command::Action> actions;
    for (const Command* command : commands) {
        CLI::App* sub = app.add_subcommand(std::string(command->name()), std::string(command->help()));
        sub->fallthrough();  // the limits may stand behind the command
        actions[sub] = command->set_up(*sub);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked_for_help) {
        return app.exit(asked_for_help);
    } catch (const CLI::ParseError& error) {
        return complain(exit_user_error, usage_error(error, commands, argc, argv));
    }
    Limits chosen = limits();
    chosen.memory = static_cast<int64_t>(memory);
    chosen.work = static_cast<int64_t>(work);
    set_limits(chosen);
    const int code = actions.at(app.get_subcommands().front())();
    if (!std::cout.flush() || std::fflush(stdout) != 0)
        return complain(exit_user_error, "cannot write to standard output");
    return code;
}

}  // namespace
}  // namespace headway

int main(int argc, char** argv) {
    using namespace headway;
    try {
        return run(argc, argv);
    } catch (const UserError& error) {
        return complain(exit_user_error, error.what());
    } catch (const std::bad_alloc&) {
        return complain(exit_user_error, "out of memory");
    } catch (const std::exception& error) {
        return complain(exit_bug, std::string("internal error, please report it: ") + error.what());
    }
}
