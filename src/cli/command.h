// A subcommand: one named constant in one file, which declares its options and returns what to do once they are parsed.
//     const Command knobs{"knobs", "List the knobs", [](CLI::App& app) { ...; return [options] { return exit_yes; };
//     }};
// The action returns an exit code; a UserError ends in code 2 with one line, a broken invariant in 70.
#pragma once

#include <functional>
#include <string_view>

#include "base/registry.h"

namespace CLI {
class App;
}

namespace headway {

inline constexpr int exit_yes = 0;
inline constexpr int exit_no = 1;          // a well-formed no: values differ, no gain
inline constexpr int exit_user_error = 2;  // the user's or the machine's fault
inline constexpr int exit_bug = 70;

class Command {
public:
    using Action = std::function<int()>;
    using Setup = Action (*)(CLI::App& app);

    Command(std::string_view name, std::string_view help, Setup setup) : name_(name), help_(help), setup_(setup) {
        announced<Command>().push_back(this);
    }
    std::string_view name() const { return name_; }
    std::string_view help() const { return help_; }
    Action set_up(CLI::App& app) const { return setup_(app); }

private:
    std::string_view name_, help_;
    Setup setup_;
};

}  // namespace headway
