// Engine files: reading, the checks of the plan, preparing and running the kernels; of those with a staged part,
// reading its graph and running that for the smallest shapes that it takes. Every byte of a file is under a checksum,
// so the target puts those right first, and the plan's fingerprint when the reader says what it is.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "graphs.h"
#include "runtime/engine_file.h"
#include "runtime/packed.h"
#include "staged/staged_engine.h"
#include "target.h"

namespace headway::fuzz {
namespace {

// Places in the prologue, see runtime/engine_file.cpp.
constexpr size_t version_at = 8, first_section = 20, section_bytes = 32, checksum_bytes = 16;

size_t sections_of(const std::string& bytes) { return bytes[version_at] == staged_file_version ? 5 : 4; }

uint64_t number_at(const std::string& bytes, size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

void put_hash(std::string& bytes, size_t at, const Hash& hash) {
    std::memcpy(bytes.data() + at, &hash.high, 8);
    std::memcpy(bytes.data() + at + 8, &hash.low, 8);
}

void put_checksums(std::string& bytes) {
    if (bytes.size() < first_section) return;
    const size_t sections = sections_of(bytes), checksum = first_section + sections * section_bytes;
    if (bytes.size() < checksum + checksum_bytes) return;
    for (size_t i = 0; i < sections; ++i) {
        const size_t entry = first_section + i * section_bytes;
        const uint64_t offset = number_at(bytes, entry), length = number_at(bytes, entry + 8);
        if (offset > bytes.size() || length > bytes.size() - offset) continue;
        put_hash(bytes, entry + 16, hash_bytes(bytes.data() + offset, length));
    }
    put_hash(bytes, checksum, hash_bytes(bytes.data(), checksum));
}

// The fingerprint ends the header, the first section.
void put_fingerprint(std::string& bytes, std::string_view hex) {
    const size_t end = number_at(bytes, first_section) + number_at(bytes, first_section + 8);
    const std::string digits(hex);
    put_hash(bytes, end - 16,
             {std::stoull(digits.substr(0, 16), nullptr, 16), std::stoull(digits.substr(16), nullptr, 16)});
    put_checksums(bytes);
}

EngineFile read(const std::string& bytes) {
    return read_engine_bytes("fuzz", std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr);
}

EngineFile read_resealed(std::string& bytes) {
    put_checksums(bytes);
    try {
        return read(bytes);
    } catch (const UserError& error) {
        constexpr std::string_view words = "is not that of the plan, ";
        const std::string message = error.what();
        const size_t at = message.find(words);
        if (at == std::string::npos) throw;
        put_fingerprint(bytes, std::string_view(message).substr(at + words.size(), 32));
    }
    return read(bytes);
}

int64_t extent_of(const TensorDesc& desc) { return std::min(desc.bytes(), int64_t{1} << 20); }

// Running takes as long as the plan's tensors are large, or their product.
bool is_quick(const Plan& plan) {
    double work = 0;
    for (const Step& step : plan.steps) {
        double in = 1, out = 1;
        for (const auto& src : step.problem.src)
            if (src) in += static_cast<double>(extent_of(*src));
        for (const TensorDesc& dst : step.problem.dst) out += static_cast<double>(extent_of(dst));
        work += in * out;
    }
    return plan.arena_bytes <= (1 << 22) && work < (1 << 24);
}

// What the ports leave open is 2 where the limits allow it.
Tensor small_input(const StagedPort& port, const StagedInput& limits) {
    if (port.fixed_value) return *port.fixed_value;
    if (port.kind != DeclaredKind::tensor || size_of(port.type) == 0) throw UserError("no tensor of numbers");
    std::vector<int64_t> dims;
    for (size_t axis = 0; axis < limits.low.size(); ++axis)
        dims.push_back(std::clamp(int64_t{2}, limits.low[axis], limits.high[axis]));
    Tensor tensor(port.type, Shape(dims));
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, static_cast<double>(i % 3));
    return tensor;
}

void run_staged(EngineFile file) {
    const std::vector<StagedInput> limits = file.staged->inputs;
    const auto engine = StagedEngine::make(std::move(file), catalogue());
    std::vector<Datum> inputs;
    for (size_t i = 0; i < limits.size(); ++i) inputs.emplace_back(small_input(engine->inputs()[i], limits[i]));
    engine->run(inputs);
    engine->run(inputs);  // by the divisions that were kept
}

void read_engine(std::string_view input) {
    std::string bytes(input);
    EngineFile file = read_resealed(bytes);
    headway::Target target = headway::Target::parse(file.info.target);
    if (file.plan.settings.threads > 1 || target.threads > 1) return;
    if (file.staged) return run_staged(std::move(file));
    if (!is_quick(file.plan)) return;
    check_packed(file.plan, target, catalogue().kernels);
    const auto engine = Engine::make(std::move(file.plan), std::move(file.info), catalogue().kernels);
    std::vector<Tensor> inputs;
    for (const Port& port : engine->plan().inputs) {
        inputs.emplace_back(port.desc.type, port.desc.shape);
        std::ranges::copy(port.fixed_value, inputs.back().mutable_bytes().begin());
    }
    Context(engine).run(inputs);
}

const Target engine_target{{.name = "engine_file", .run = read_engine}};

}  // namespace
}  // namespace headway::fuzz
