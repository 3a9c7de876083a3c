// What must hold before a plan from a file may be run. Memory is followed byte by byte: each range remembers the step
// that wrote it last, which finds reads of unwritten memory, arena buffers placed over living ones, and bad views
// alike.
#include <algorithm>
#include <map>

#include "base/checked.h"
#include "runtime/plan.h"

namespace headway {
namespace {

constexpr int most_threads = 1024;
constexpr int64_t most_arena_bytes = int64_t{1} << 40;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
    throw UserError("plan: " + where + " " + what);
}

std::string step_name(const Plan& plan, size_t index) {
    const Step& step = plan.steps[index];
    std::string name = "step " + std::to_string(index);
    return step.origins.empty() ? name : name + " (" + step.origins.front() + ")";
}

// Who wrote the bytes of one piece of memory last.
class Memory {
public:
    static constexpr int64_t nobody = -1, mixed = -2;

    void write(int64_t begin, int64_t end, int64_t writer) {
        if (begin >= end) return;
        split(begin);
        split(end);
        ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
        ranges_[begin] = {end, writer};
    }
    // The writer of [begin, end): `nobody` when a byte was never written, `mixed` when several steps wrote it.
    int64_t writer(int64_t begin, int64_t end) const {
        auto at = ranges_.upper_bound(begin);
        if (at == ranges_.begin()) return nobody;
        --at;
        const int64_t first = at->second.writer;
        bool same = true;
        for (int64_t covered = begin; covered < end; ++at) {
            if (at == ranges_.end() || at->first > covered || at->second.end <= covered) return nobody;
            same = same && at->second.writer == first;
            covered = at->second.end;
        }
        return same ? first : mixed;
    }

private:
    struct Range {
        int64_t end, writer;
    };
    void split(int64_t position) {
        auto at = ranges_.upper_bound(position);
        if (at == ranges_.begin()) return;
        --at;
        if (at->first < position && position < at->second.end) {
            ranges_[position] = at->second;
            at->second.end = position;
        }
    }
    std::map<int64_t, Range> ranges_;
};

class Checker {
public:
    explicit Checker(const Plan& plan)
        : plan_(plan), outputs_(plan.outputs.size()), writer_(plan.buffers.size(), Memory::nobody) {}

    void run() {
        settings();
        for (size_t i = 0; i < plan_.constants.size(); ++i) constant(i);
        for (size_t i = 0; i < plan_.buffers.size(); ++i) buffer(i);
        for (size_t i = 0; i < plan_.inputs.size(); ++i) port(plan_.inputs[i], Place::input, i, "input ");
        for (size_t i = 0; i < plan_.outputs.size(); ++i) port(plan_.outputs[i], Place::output, i, "output ");
        for (size_t i = 0; i < plan_.steps.size(); ++i) step(i);
        for (size_t i = 0; i < plan_.outputs.size(); ++i)
            read(plan_.outputs[i].buffer, "output " + std::to_string(i) + " (" + plan_.outputs[i].name + ")");
    }

private:
    void settings() const {
        const Settings& s = plan_.settings;
        if (s.threads < 1 || s.threads > most_threads)
            refuse("settings",
                   "threads = " + std::to_string(s.threads) + " is outside 1.." + std::to_string(most_threads));
        const auto one_of = [](const char* name, const std::string& value, std::initializer_list<const char*> words) {
            if (std::find(words.begin(), words.end(), value) == words.end())
                refuse("settings", std::string("has an unknown value of ") + name);
        };
        one_of("pool", s.pool, {"own", "openmp"});
        one_of("partition", s.partition, {"steal", "static", "guided"});
        one_of("wait", s.wait, {"pause", "yield"});
        one_of("pin", s.pin, {"none", "compact"});
        one_of("weight_pages", s.weight_pages, {"4k", "thp", "mapped"});
        one_of("arena_pages", s.arena_pages, {"4k", "thp"});
        if (s.spin_us < 0 || s.spin_us > 1'000'000'000) refuse("settings", "spin_us is out of range");
        if (s.tasks_per_thread < 1 || s.tasks_per_thread > 1024) refuse("settings", "tasks_per_thread is out of range");
        if (plan_.arena_bytes < 0 || plan_.arena_bytes > most_arena_bytes) refuse("arena", "has an impossible size");
    }

    void constant(size_t i) const {
        const Constant& c = plan_.constants[i];
        if (c.desc.bytes() != static_cast<int64_t>(c.bytes.size_bytes()))
            refuse("constant " + std::to_string(i), "does not have the bytes of its type and shape");
    }

    void buffer(size_t i) const {
        const Buffer& b = plan_.buffers[i];
        const std::string where = "buffer " + std::to_string(i) + " (" + b.name + ")";
        const int64_t bytes = b.desc.bytes();
        const auto bounded = [&](size_t count) {
            if (b.index < 0 || b.index >= static_cast<int64_t>(count)) refuse(where, "has an index out of range");
        };
        const auto same_bytes = [&](int64_t other) {
            if (other != bytes) refuse(where, "does not have the bytes of what it stands for");
        };
        if (b.kind != ValueKind::tensor) refuse(where, "is not a tensor: this version runs tensors only");
        if (b.memory_space != 0) refuse(where, "is not in host memory");
        switch (b.place) {
            case Place::input:
                bounded(plan_.inputs.size());
                return same_bytes(plan_.inputs[static_cast<size_t>(b.index)].desc.bytes());
            case Place::output:
                bounded(plan_.outputs.size());
                return same_bytes(plan_.outputs[static_cast<size_t>(b.index)].desc.bytes());
            case Place::constant:
                bounded(plan_.constants.size());
                return same_bytes(plan_.constants[static_cast<size_t>(b.index)].desc.bytes());
            case Place::arena:
                // Kernels load and store at any address of an element: a part may lie anywhere in the whole.
                if (b.index < 0 || b.index % std::max<int64_t>(static_cast<int64_t>(size_of(b.desc.type)), 1) != 0)
                    refuse(where, "has an arena offset that is not a multiple of its elements");
                if (checked_add(b.index, bytes, "arena offset") > plan_.arena_bytes)
                    refuse(where, "ends beyond the arena");
        }
    }

    void port(const Port& port, Place place, size_t index, const char* kind) const {
        const std::string where = kind + std::to_string(index) + " (" + port.name + ")";
        if (port.desc.layout != Layout::plain) refuse(where, "is not in plain layout");
        if (size_of(port.desc.type) == 0) refuse(where, "has an element type without a size");
        if (!port.fixed_value.empty() &&
            (place == Place::output || static_cast<int64_t>(port.fixed_value.size()) != port.desc.bytes()))
            refuse(where, "has a fixed value of the wrong size");
        if (port.buffer == -1 && place == Place::input) return;  // an input that nothing reads
        const Buffer& b = at(port.buffer, where);
        if (b.place != place || b.index != static_cast<int64_t>(index))
            refuse(where, "is bound to a buffer of another place");
    }

    void step(size_t i) {
        const Step& step = plan_.steps[i];
        const Problem& problem = step.problem;
        const std::string where = step_name(plan_, i);
        if (step.device != 0 || step.queue != 0) refuse(where, "is for another device than the CPU");
        if (step.max_threads < 0) refuse(where, "has a negative thread limit");
        if (step.src.size() != problem.src.size() || problem.constant.size() != problem.src.size() ||
            step.operands.size() != problem.operands.size() || step.dst.size() != problem.dst.size())
            refuse(where, "has another number of buffers than its problem");
        program(problem, where);
        for (int32_t id : step.packed)
            if (id < 0 || id >= static_cast<int32_t>(plan_.constants.size()))
                refuse(where, "names a constant that is not there");
        for (size_t k = 0; k < step.src.size(); ++k) {
            if (step.src[k] == -1) {
                if (problem.src[k] && !problem.constant[k])
                    refuse(where, "lacks the buffer of src " + std::to_string(k));
                continue;
            }
            if (!problem.src[k]) refuse(where, "has a buffer for an absent src");
            source(step.src[k], *problem.src[k], step, where);
        }
        for (size_t k = 0; k < step.operands.size(); ++k) source(step.operands[k], problem.operands[k], step, where);
        for (size_t k = 0; k < step.dst.size(); ++k)
            if (step.dst[k] != -1) write(i, k, where);
    }

    void program(const Problem& problem, const std::string& where) const {
        const Program& p = problem.epilogue;
        if (p.empty() && p.operands == 0 && p.results.empty()) return;
        bool ok = p.registers >= 1 && p.registers <= Program::max_registers && p.operands >= 0 &&
                  p.operands == static_cast<int>(problem.operands.size()) && p.results.size() <= problem.dst.size();
        for (const Instruction& in : p.code) {
            ok = ok && in.dst < p.registers && (arity(in.op) < 1 || in.a < p.registers) &&
                 (arity(in.op) < 2 || in.b < p.registers) && (in.op != Opcode::load || in.a < p.operands);
        }
        for (uint8_t result : p.results) ok = ok && result < p.registers;
        if (!ok) refuse(where, "has a step program with a register or operand out of range");
    }

    void source(int32_t id, const TensorDesc& wanted, const Step& step, const std::string& where) {
        same_size(at(id, where), wanted, where);
        read(id, where);
        // A kernel may write its result over an input, but only over all of it.
        for (int32_t dst : step.dst) {
            if (dst == -1) continue;
            const Span a = span(id), b = span(at_index(dst, where));
            const bool overlap = a.memory != nullptr && a.memory == b.memory && a.begin < b.end && b.begin < a.end;
            if (overlap && (a.begin != b.begin || a.end != b.end)) refuse(where, "writes over a part of what it reads");
        }
    }

    void write(size_t i, size_t k, const std::string& where) {
        const Step& step = plan_.steps[i];
        const int32_t id = at_index(step.dst[k], where);
        const Buffer& b = plan_.buffers[static_cast<size_t>(id)];
        same_size(b, step.problem.dst[k], where);
        if (b.place == Place::input || b.place == Place::constant)
            refuse(where, "writes to " + b.name + ", which is read-only");
        const Span target = span(id);
        for (size_t other = 0; other < k; ++other) {
            if (step.dst[other] == -1) continue;
            const Span s = span(step.dst[other]);
            if (s.memory == target.memory && s.begin < target.end && target.begin < s.end)
                refuse(where, "writes two results to the same bytes");
        }
        target.memory->write(target.begin, target.end, static_cast<int64_t>(i));
        writer_[static_cast<size_t>(id)] = static_cast<int64_t>(i);
    }

    // A buffer that a step wrote must still hold exactly that; one without a writer is a view of written bytes.
    void read(int32_t id, const std::string& where) {
        const Span s = span(id);
        if (s.memory == nullptr || s.begin == s.end) return;
        const int64_t last = s.memory->writer(s.begin, s.end);
        const int64_t own = writer_[static_cast<size_t>(id)];
        const std::string& name = plan_.buffers[static_cast<size_t>(id)].name;
        if (last == Memory::nobody) refuse(where, "reads " + name + " before it is written");
        if (own != Memory::nobody && last != own) refuse(where, "reads " + name + " after other steps wrote over it");
    }

    void same_size(const Buffer& b, const TensorDesc& wanted, const std::string& where) const {
        if (b.desc.bytes() != wanted.bytes()) refuse(where, "does not have the size of buffer " + b.name);
    }

    const Buffer& at(int32_t id, const std::string& where) const {
        return plan_.buffers[static_cast<size_t>(at_index(id, where))];
    }
    int32_t at_index(int32_t id, const std::string& where) const {
        if (id < 0 || id >= static_cast<int32_t>(plan_.buffers.size()))
            refuse(where, "names a buffer that is not there");
        return id;
    }

    struct Span {
        Memory* memory;  // nullptr: read-only memory of the caller or the engine
        int64_t begin, end;
    };
    Span span(int32_t id) {
        const Buffer& b = plan_.buffers[static_cast<size_t>(id)];
        const int64_t bytes = b.desc.bytes();
        if (b.place == Place::arena) return {&arena_, b.index, b.index + bytes};
        if (b.place == Place::output) return {&outputs_[static_cast<size_t>(b.index)], 0, bytes};
        return {nullptr, 0, bytes};
    }

    const Plan& plan_;
    Memory arena_;
    std::vector<Memory> outputs_;
    std::vector<int64_t> writer_;  // by buffer: the step that wrote it
};

}  // namespace

void check_plan(const Plan& plan) { Checker(plan).run(); }

}  // namespace headway
