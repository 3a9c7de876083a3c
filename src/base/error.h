// Two kinds of failure that are never mixed: the user's or the machine's fault (one clear line, exit code 2) and a
// broken invariant of ours (exit code 70 in the CLI, an abort in a worker). An expected "no" is neither: see verdict.h.
#pragma once

#include <stdexcept>
#include <string>

namespace headway {

// Bad input, unsupported model, full disk. `what()` is one line: what, where, what to do.
class UserError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A model, route or target that a builder understands but cannot build. A UserError on the command line, the failure
// class `unsupported` in a trial.
class Unsupported : public UserError {
public:
    using UserError::UserError;
};

// A broken invariant: our bug.
class InternalError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

[[noreturn]] void fail_internal(const char* file, int line, const char* condition);

}  // namespace headway

// Checked in every build: an engine compiler that goes on with a broken invariant gives wrong answers.
#define HEADWAY_CHECK(condition) \
    (static_cast<bool>(condition) ? static_cast<void>(0) : ::headway::fail_internal(__FILE__, __LINE__, #condition))
