#include "kernels/cpu/providers/onednn/library.h"

#include <dlfcn.h>

#include "base/error.h"

namespace headway {
namespace {

// Stays loaded until the process ends: oneDNN's threads and code do not survive an unload.
const OnednnEntry* load() {
    void* library = ::dlopen("libheadway_onednn.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    const auto function = reinterpret_cast<OnednnEntryFunction>(::dlsym(library, "headway_onednn_entry"));
    const OnednnEntry* entry = function == nullptr ? nullptr : function();
    return entry != nullptr && entry->entry_version == headway_onednn_entry_version ? entry : nullptr;
}

}  // namespace

const OnednnEntry* onednn() {
    static const OnednnEntry* const entry = load();
    return entry;
}

std::string onednn_version() { return onednn() == nullptr ? "absent" : onednn()->onednn_version; }

Verdict onednn_serves(const Target& target) {
    if (target.onednn == "absent") return Verdict::no(Reason::provider, "the target has no oneDNN");
    if (target.onednn != onednn_version())
        return Verdict::no(Reason::provider,
                           "oneDNN here is " + onednn_version() + " (the target has " + target.onednn + ")");
    return Verdict::yes();
}

const OnednnWeights* OnednnWeightSet::load(const OnednnPrimitive* primitive, const float* plain) {
    for (const Entry& entry : entries_)
        if (entry.plain == plain && onednn()->reads_same_weights(entry.primitive, primitive) != 0)
            return entry.weights.get();
    OnednnWeights* weights = onednn()->load_weights(primitive, plain);
    if (weights == nullptr) throw UserError("oneDNN could not rearrange weights: too little memory");
    entries_.push_back({primitive, plain, {}});
    entries_.back().weights.reset(weights);
    return weights;
}

}  // namespace headway
