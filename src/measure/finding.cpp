#include "measure/finding.h"

namespace headway {

std::string_view to_string(Finding finding) {
    switch (finding) {
        case Finding::faster:
            return "FASTER";
        case Finding::slower:
            return "SLOWER";
        case Finding::no_gain:
            return "NO_GAIN";
        case Finding::unstable:
            return "UNSTABLE";
        case Finding::unfit:
            return "UNFIT";
    }
    return "UNFIT";
}

std::string_view to_string(Why why) {
    switch (why) {
        case Why::none:
            return "none";
        case Why::budget:
            return "budget";
        case Why::resolution:
            return "resolution";
        case Why::no_contender:
            return "no contender";
        case Why::control:
            return "control";
        case Why::dropped:
            return "dropped rounds";
        case Why::clock:
            return "clock";
    }
    return "none";
}

}  // namespace headway
