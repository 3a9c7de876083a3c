// The oneDNN plug-in as the kernels see it: found by the dynamic linker when it is first asked for, or absent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/verdict.h"
#include "kernels/cpu/providers/onednn/plugin/entry.h"
#include "kernels/target.h"

namespace headway {

// nullptr when there is no plug-in, or one of another version of the border.
const OnednnEntry* onednn();
// "2.6.3", or "absent".
std::string onednn_version();
// Whether the target asks for the oneDNN that is here: what it does differs from version to version.
Verdict onednn_serves(const Target& target);

struct FreeOnednn {
    void operator()(OnednnPrimitive* primitive) const { onednn()->free_primitive(primitive); }
    void operator()(OnednnWeights* weights) const { onednn()->free_weights(weights); }
};
using OnednnPrimitivePointer = std::unique_ptr<OnednnPrimitive, FreeOnednn>;

// The weights of several primitives, rearranged once for each form and part of the plain weights.
class OnednnWeightSet {
public:
    const OnednnWeights* load(const OnednnPrimitive* primitive, const float* plain);

private:
    struct Entry {
        const OnednnPrimitive* primitive;
        const float* plain;
        std::unique_ptr<OnednnWeights, FreeOnednn> weights;
    };
    std::vector<Entry> entries_;
};

}  // namespace headway
