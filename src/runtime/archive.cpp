#include "runtime/archive.h"

namespace headway {

void Reader::fail(const std::string& what) const {
    std::string place = section_;
    for (const Place& at : path_) {
        place += std::string(place == section_ ? ": " : ".") + at.field;
        if (at.item >= 0) place += "[" + std::to_string(at.item) + "]";
    }
    throw UserError(place + " " + what);
}

}  // namespace headway
