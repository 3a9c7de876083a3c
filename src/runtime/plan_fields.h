// The fields of everything a plan holds, in file order: read and written by the engine file, hashed by the fingerprint.
// A change here is a new engine_file_version.
#pragma once

#include "runtime/archive.h"
#include "runtime/plan.h"
#include "runtime/staged_part.h"

namespace headway {

inline bool valid(ElementType type) { return type == ElementType::undefined || to_string(type) != "undefined"; }
inline bool valid(Layout layout) { return layout <= Layout::nchw16c; }
inline bool valid(Opcode op) { return op <= Opcode::bf16_round; }
inline bool valid(Place place) { return place <= Place::arena; }
inline bool valid(ValueKind kind) { return kind <= ValueKind::string; }

template <class A, Of<Hash> T>
void fields(A& a, T& hash) {
    a("high", hash.high);
    a("low", hash.low);
}

template <class A, Of<Shape> T>
void fields(A& a, T& shape) {
    std::vector<int64_t> dims = shape.dims();
    a("dims", dims);
    if constexpr (A::reading) {
        for (int64_t dim : dims)
            if (dim < 0) a.fail("has a negative extent");
        shape = Shape(std::move(dims));
    }
}

template <class A, Of<TensorDesc> T>
void fields(A& a, T& desc) {
    a("type", desc.type);
    a("shape", desc.shape);
    a("layout", desc.layout);
    if constexpr (A::reading) {
        if (channel_block(desc.layout) != 1 && desc.shape.rank() < 2) a.fail("has a blocked layout without channels");
    }
}

// Tensors inside attributes; the plan's constants have a section of their own.
template <class A, Of<Tensor> T>
void fields(A& a, T& tensor) {
    ElementType type = tensor.type();
    Shape shape = tensor.shape();
    a("type", type);
    a("shape", shape);
    if constexpr (A::reading) {
        const auto bytes = a.raw(static_cast<uint64_t>(TensorDesc{type, shape}.bytes()));
        if (type == ElementType::undefined) return;
        Tensor copy(type, std::move(shape));
        if (!bytes.empty()) std::memcpy(copy.mutable_bytes().data(), bytes.data(), bytes.size());
        tensor = std::move(copy);
    } else {
        a.raw(tensor.bytes().data(), tensor.size_bytes());
    }
}

template <class A, Of<Strings> T>
void fields(A& a, T& strings) {
    a("shape", strings.shape);
    a("values", strings.values);
    if constexpr (A::reading) {
        if (static_cast<int64_t>(strings.values.size()) != strings.shape.elements())
            a.fail("has another number of strings than its shape");
    }
}

template <class A, Of<Instruction> T>
void fields(A& a, T& instruction) {
    a("op", instruction.op);
    a("dst", instruction.dst);
    a("a", instruction.a);
    a("b", instruction.b);
    a("x", instruction.x);
    a("y", instruction.y);
}

template <class A, Of<Program> T>
void fields(A& a, T& program) {
    a("code", program.code);
    a("operands", program.operands);
    a("registers", program.registers);
    a("results", program.results);
}

struct NamedAttribute {
    std::string name;
    AttributeValue value;
};

template <class A, Of<NamedAttribute> T>
void fields(A& a, T& attribute) {
    a("name", attribute.name);
    a("value", attribute.value);
}

struct NamedChoice {
    std::string knob, value;
};

template <class A, Of<NamedChoice> T>
void fields(A& a, T& choice) {
    a("knob", choice.knob);
    a("value", choice.value);
}

template <class A, Of<Attributes> T>
void fields(A& a, T& attributes) {
    std::vector<NamedAttribute> list;
    for (const auto& [name, value] : attributes) list.push_back({name, value});
    a("list", list);
    if constexpr (A::reading)
        for (NamedAttribute& item : list) attributes.set(std::move(item.name), std::move(item.value));
}

template <class A, Of<Choices> T>
void fields(A& a, T& choices) {
    std::vector<NamedChoice> list;
    for (const auto& [knob, value] : choices.values()) list.push_back({knob, value});
    a("list", list);
    if constexpr (A::reading)
        for (NamedChoice& item : list) choices.set(std::move(item.knob), std::move(item.value));
}

template <class A, Of<Problem> T>
void fields(A& a, T& problem) {
    a("op", problem.op);
    a("version", problem.version);
    a("attributes", problem.attributes);
    a("src", problem.src);
    a("constant", problem.constant);
    a("epilogue", problem.epilogue);
    a("operands", problem.operands);
    a("dst", problem.dst);
}

template <class A, Of<Buffer> T>
void fields(A& a, T& buffer) {
    a("name", buffer.name);
    a("desc", buffer.desc);
    a("kind", buffer.kind);
    a("memory_space", buffer.memory_space);
    a("place", buffer.place);
    a("index", buffer.index);
}

template <class A, Of<Step> T>
void fields(A& a, T& step) {
    a("kernel", step.kernel);
    a("problem", step.problem);
    a("choices", step.choices);
    a("src", step.src);
    a("operands", step.operands);
    a("dst", step.dst);
    a("packed", step.packed);
    a("origins", step.origins);
    a("max_threads", step.max_threads);
    a("device", step.device);
    a("queue", step.queue);
}

template <class A, Of<Port> T>
void fields(A& a, T& port) {
    a("name", port.name);
    a("desc", port.desc);
    a("buffer", port.buffer);
    a("fixed_value", port.fixed_value);
}

template <class A, Of<Settings> T>
void fields(A& a, T& settings) {
    a("threads", settings.threads);
    a("pool", settings.pool);
    a("spin_us", settings.spin_us);
    a("min_task_us", settings.min_task_us);
    a("pin", settings.pin);
    a("flush_to_zero", settings.flush_to_zero);
    a("weight_pages", settings.weight_pages);
    a("arena_pages", settings.arena_pages);
    a("tasks_per_thread", settings.tasks_per_thread);
    // Younger than the file's version: written only where they are not the default, at the end of what holds them.
    if constexpr (A::reading) {
        if (a.at_end()) return;
    } else {
        if (settings.partition == Settings().partition && settings.wait == Settings().wait) return;
    }
    a("partition", settings.partition);
    a("wait", settings.wait);
}

template <class A, Of<StagedInput> T>
void fields(A& a, T& input) {
    a("is_ranked", input.is_ranked);
    a("low", input.low);
    a("high", input.high);
    a("fixed_value", input.fixed_value);
}

template <class A, Of<StagedPart> T>
void fields(A& a, T& part) {
    a("graph", part.graph);
    a("inputs", part.inputs);
    a("kept_shapes", part.kept_shapes);
    a("compile_from", part.compile_from);
    a("parts", part.parts);
}

}  // namespace headway
