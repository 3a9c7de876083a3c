#include "runtime/plan.h"

#include <map>

#include "runtime/plan_fields.h"

namespace headway {
namespace {

// Ids are numbered anew in the order of first use, and names left out: equal work gives equal bytes.
class Canonical {
public:
    Canonical(const Plan& plan, bool values) : plan_(plan), values_(values) {}

    Hash hash() {
        Settings settings = plan_.settings;
        writer_("settings", settings);
        writer_("arena_bytes", plan_.arena_bytes);
        for (const auto* ports : {&plan_.inputs, &plan_.outputs}) {
            writer_("ports", static_cast<uint64_t>(ports->size()));
            for (const Port& port : *ports) {
                writer_("desc", port.desc);
                writer_("fixed_value", port.fixed_value);
                buffer(port.buffer);
            }
        }
        writer_("steps", static_cast<uint64_t>(plan_.steps.size()));
        for (const Step& step : plan_.steps) add(step);
        return hash_bytes(writer_.bytes().data(), writer_.bytes().size());
    }

private:
    void add(const Step& step) {
        writer_("kernel", step.kernel);
        writer_("problem", step.problem);
        writer_("choices", step.choices);
        for (const auto* ids : {&step.src, &step.operands, &step.dst}) {
            writer_("ids", static_cast<uint64_t>(ids->size()));
            for (int32_t id : *ids) buffer(id);
        }
        writer_("packed", static_cast<uint64_t>(step.packed.size()));
        for (int32_t id : step.packed) constant(id);
        writer_("max_threads", step.max_threads);
        writer_("device", step.device);
        writer_("queue", step.queue);
    }

    void buffer(int32_t id) {
        if (id < 0) return writer_("absent", int64_t{-1});
        const auto [at, is_new] = buffers_.try_emplace(id, static_cast<int64_t>(buffers_.size()));
        writer_("buffer", at->second);
        if (!is_new) return;
        const Buffer& buffer = plan_.buffers.at(static_cast<size_t>(id));
        writer_("desc", buffer.desc);
        writer_("kind", buffer.kind);
        writer_("memory_space", buffer.memory_space);
        writer_("place", buffer.place);
        if (buffer.place == Place::constant)
            constant(static_cast<int32_t>(buffer.index));
        else
            writer_("index", buffer.index);
    }

    void constant(int32_t id) {
        const auto [at, is_new] = constants_.try_emplace(id, static_cast<int64_t>(constants_.size()));
        writer_("constant", at->second);
        if (!is_new) return;
        const Constant& constant = plan_.constants.at(static_cast<size_t>(id));
        writer_("desc", constant.desc);
        writer_("bytes", static_cast<uint64_t>(constant.bytes.size_bytes()));
        if (values_) writer_("hash", constant.hash);
    }

    const Plan& plan_;
    bool values_;
    Writer writer_;
    std::map<int32_t, int64_t> buffers_, constants_;
};

}  // namespace

Hash Plan::fingerprint() const { return Canonical(*this, true).hash(); }

Hash Plan::timing_key() const { return Canonical(*this, false).hash(); }

}  // namespace headway
