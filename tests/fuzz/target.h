// A fuzz target: one kind of untrusted bytes and the code that reads them. A target returns when it has read its bytes
// or refused them with a UserError; whatever else happens (another exception, a signal, a sanitizer's report, a
// time-out, more memory than the limits allow) is a finding. The same targets run under libFuzzer (main.cpp) and, on
// the kept inputs, as an ordinary test (replay_test.cpp).
#pragma once

#include <string>
#include <string_view>

#include "base/registry.h"

namespace headway::fuzz {

class Target {
public:
    struct Fields {
        std::string name;  // that of its folder in corpus/ and found/ too
        void (*run)(std::string_view bytes);
        bool is_protobuf = false;  // mutated field by field
    };
    explicit Target(Fields fields) : fields_(std::move(fields)) { announced<Target>().push_back(this); }
    std::string_view name() const { return fields_.name; }
    bool is_protobuf() const { return fields_.is_protobuf; }
    // Under the limits of a fuzz run (limits.h); swallows UserErrors.
    void run(std::string_view bytes) const;

private:
    Fields fields_;
};

// Bytes as a regular file without a name, for readers that want a path. Every call fills the same file anew.
std::string as_file(std::string_view bytes);

}  // namespace headway::fuzz
