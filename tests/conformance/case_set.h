// The sets of ONNX cases that the project runs, each with lists of the cases that do not pass.
#pragma once

#include <string>
#include <vector>

namespace headway::conformance {

struct CaseSet {
    std::string name;    // as on the command line and in the names of lists
    std::string folder;  // with the folders node, simple, ...
};

// Debian's libonnx-testdata and what tools/conformance/fetch.py unpacks. Whether they are there is not checked.
const std::vector<CaseSet>& known_sets();
// UserError for an unknown name.
const CaseSet& known_set(const std::string& name);

// tests/conformance/expected/SET.LIST.txt
std::string list_file(const CaseSet& set, const std::string& list);

}  // namespace headway::conformance
