// How far the values of a knob may move outputs of order one, by its promise. For the tests that hold knobs to it.
#pragma once

#include "knobs/knob.h"

namespace headway::testing {

inline double allowed(Numerics numerics) {
    switch (numerics) {
        case Numerics::exact:
            return 0;
        case Numerics::reorders:
            return 2e-5;
        case Numerics::approximates:
            return 2e-4;  // Winograd F(4,3), polynomials
        case Numerics::reduced:
            return 3e-2;  // bfloat16 has 8 bits
    }
    return 0;
}

}  // namespace headway::testing
