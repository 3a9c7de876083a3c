// The targets under libFuzzer: fuzz --target=NAME [libFuzzer's own options] CORPUS...  (see tests/fuzz/run)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "graphs.h"
#include "protobuf_mutator.h"
#include "target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most_bytes);

namespace headway::fuzz {
namespace {

const Target* chosen = nullptr;

void choose(int argc, char** argv) {
    static const Registry<Target> targets = declared<Target>();
    constexpr std::string_view option = "--target=";
    for (int i = 1; i < argc; ++i)
        if (std::string_view(argv[i]).starts_with(option))
            chosen = targets.find(std::string_view(argv[i]).substr(option.size()));
    if (chosen != nullptr) return;
    std::fputs("fuzz: give --target=NAME:\n", stderr);
    for (const std::string& name : targets.names()) std::fprintf(stderr, "  %s\n", name.c_str());
    std::exit(2);
}

// What short texts in a model can be: operators, attributes, and a few other words that the readers know.
std::vector<std::string> words() {
    std::vector<std::string> all{
        "",           "x",      "y",     "location", "offset",  "length", "ai.onnx", "com.microsoft", "NOTSET",
        "SAME_UPPER", "linear", "cubic", "nearest",  "reflect", "edge",   "wrap",    "constant"};
    for (const Op* op : catalogue().ops) {
        all.emplace_back(op->fields().name);
        for (const AttributeDoc& attribute : op->fields().attributes) all.push_back(attribute.name);
    }
    return all;
}

const ProtobufMutator& mutator() {
    static const ProtobufMutator mutator(words());
    return mutator;
}

std::string_view view(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace
}  // namespace headway::fuzz

using namespace headway::fuzz;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    choose(*argc, *argv);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    chosen->run(view(data, size));
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most_bytes, unsigned seed) {
    constexpr unsigned bytewise_share = 8;  // one of so many, to try damaged messages as well
    if (!chosen->is_protobuf() || seed % bytewise_share == 0) return LLVMFuzzerMutate(data, size, most_bytes);
    const std::string changed = mutator().mutated(view(data, size), most_bytes, seed);
    std::memcpy(data, changed.data(), changed.size());
    return changed.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                            uint8_t* out, size_t most_bytes, unsigned seed) {
    const std::string_view first = view(a, a_size), second = view(b, b_size);
    std::string changed;
    if (chosen->is_protobuf()) {
        changed = mutator().crossed(first, second, most_bytes, seed);
    } else {  // the begin of one, the end of the other
        changed = std::string(first.substr(0, seed % (a_size + 1)));
        changed += second.substr(seed / 7 % (b_size + 1));
    }
    const size_t size = std::min(changed.size(), most_bytes);
    std::memcpy(out, changed.data(), size);
    return size;
}
