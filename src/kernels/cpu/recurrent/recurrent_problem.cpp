#include "kernels/cpu/recurrent/recurrent_problem.h"

#include <algorithm>

namespace headway {
namespace {

using Input = RecurrentProblem::Input;

// A cell's phases are laid out before the first run.
constexpr int64_t most_steps = int64_t{1} << 20;

std::vector<std::string> usual_activations(RecurrentCell cell) {
    if (cell == RecurrentCell::lstm) return {"Sigmoid", "Tanh", "Tanh"};
    if (cell == RecurrentCell::rnn) return {"Tanh"};
    return {"Sigmoid", "Tanh"};
}

Verdict check_attributes(const Problem& problem, RecurrentCell cell) {
    const Attributes& attributes = problem.attributes;
    if (attributes.has("clip")) return Verdict::no(Reason::attribute, "clip");
    if (attributes.integer("input_forget", 0) != 0) return Verdict::no(Reason::attribute, "input_forget");
    if (attributes.integer("layout", 0) != 0) return Verdict::no(Reason::attribute, "layout 1");
    if (attributes.has("activation_alpha") || attributes.has("activation_beta"))
        return Verdict::no(Reason::attribute, "activation constants");
    if (const AttributeValue* value = attributes.find("activations")) {
        const auto* words = std::get_if<std::vector<std::string>>(value);
        if (words == nullptr) return Verdict::no(Reason::attribute, "activations");
        const std::vector<std::string> usual = usual_activations(cell);
        for (size_t i = 0; i < words->size(); ++i)
            if ((*words)[i] != usual[i % usual.size()])
                return Verdict::no(Reason::attribute, "activation " + (*words)[i]);
    }
    return Verdict::yes();
}

// Lengths that are known to be those of the whole sequence say nothing.
Verdict check_lengths(const Problem& problem) {
    if (!has_input(problem, Input::lengths)) return Verdict::yes();
    const auto lengths = constant_integers(problem, Input::lengths);
    const Shape& sequence = problem.src[Input::x]->shape;
    const bool whole = lengths && sequence.rank() == 3 &&
                       std::ranges::all_of(*lengths, [&](int64_t length) { return length == sequence[0]; });
    return whole ? Verdict::yes() : Verdict::no(Reason::attribute, "sequence lengths");
}

Verdict check_inputs(const Problem& problem) {
    for (size_t i : {Input::x, Input::w, Input::r})
        if (!has_input(problem, i)) return Verdict::no(Reason::shape, "an absent input");
    if (has_input(problem, Input::peephole)) return Verdict::no(Reason::attribute, "peepholes");
    for (size_t i : {Input::w, Input::r, Input::b})
        if (has_input(problem, i) && !problem.constant[i])
            return Verdict::no(Reason::needs_constant, "weights that are not constant");
    if (problem.constant[Input::x]) return Verdict::no(Reason::needs_constant, "a constant sequence");
    for (size_t i = 0; i < problem.src.size(); ++i) {
        const auto& src = problem.src[i];
        if (src && i != Input::lengths && src->type != ElementType::f32)
            return Verdict::no(Reason::element_type, std::string(to_string(src->type)));
        if (src && src->layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain tensors");
    }
    for (const TensorDesc& dst : problem.dst)
        if (dst.layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain tensors");
    return check_lengths(problem);
}

bool is_shape(const Problem& problem, size_t index, const Shape& shape) {
    return !has_input(problem, index) || problem.src[index]->shape == shape;
}

RecurrentCell cell_of(const Problem& problem) {
    if (problem.op == "LSTM") return RecurrentCell::lstm;
    if (problem.op == "RNN") return RecurrentCell::rnn;
    return problem.attributes.integer("linear_before_reset", 0) != 0 ? RecurrentCell::gru_linear : RecurrentCell::gru;
}

}  // namespace

const RecurrentForm& RecurrentProblem::form() const {
    // ONNX orders LSTM's gates i, o, f, c and GRU's z, r, h. GRU's candidate comes first, so that what W adds to and
    // what R adds to are both contiguous: h, z, r from the input, z, r, h from the hidden values.
    static constexpr RecurrentForm forms[] = {
        {4, 4, {0, 1, 2, 3}, 1, {{0, 0, 4}}, 3},
        {3, 3, {2, 0, 1}, 2, {{1, 1, 2}, {0, 0, 1}}, 4},  // the candidate needs r of all units
        {3, 4, {2, 0, 1, 2}, 1, {{0, 1, 3}}, 2},
        {1, 1, {0}, 1, {{0, 0, 1}}, 2},
    };
    return forms[static_cast<int>(cell)];
}

Verdict RecurrentProblem::make(const Problem& problem, RecurrentProblem& recurrent) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    const RecurrentCell cell = cell_of(problem);
    if (Verdict verdict = check_attributes(problem, cell); !verdict) return verdict;
    if (Verdict verdict = check_inputs(problem); !verdict) return verdict;
    const Shape& sequence = problem.src[Input::x]->shape;
    const Shape& hidden_weights = problem.src[Input::r]->shape;
    if (sequence.rank() != 3 || hidden_weights.rank() != 3) return Verdict::no(Reason::shape, "rank");
    const std::string direction = problem.attributes.text("direction", "forward");
    recurrent = {
        cell, sequence[0], sequence[1], sequence[2], hidden_weights[2], hidden_weights[0], direction == "reverse"};
    if (recurrent.steps > most_steps) return Verdict::no(Reason::shape, std::to_string(recurrent.steps) + " steps");
    const int64_t d = recurrent.directions, h = recurrent.hidden;
    if (d != (direction == "bidirectional" ? 2 : 1))
        return Verdict::no(Reason::shape, std::to_string(d) + " directions");
    const int64_t gates = recurrent.form().gates;
    const Shape state{d, recurrent.batch, h};
    const bool fits = is_shape(problem, w, {d, gates * h, recurrent.inputs}) &&
                      is_shape(problem, r, {d, gates * h, h}) && is_shape(problem, b, {d, 2 * gates * h}) &&
                      is_shape(problem, initial_h, state) && is_shape(problem, initial_c, state);
    return fits && h > 0 ? Verdict::yes() : Verdict::no(Reason::shape, "shapes of the weights or states");
}

}  // namespace headway
