#include "kernels/cpu/integer/dynamic_lstm_problem.h"

#include <algorithm>

namespace headway {
namespace {

using Input = DynamicLstmProblem::Input;

bool has_input(const Problem& problem, size_t i) { return i < problem.src.size() && problem.src[i].has_value(); }

Verdict check_attributes(const Attributes& attributes) {
    for (const char* name : {"clip", "activation_alpha", "activation_beta"})
        if (attributes.has(name)) return Verdict::no(Reason::attribute, name);
    if (attributes.integer("input_forget", 0) != 0) return Verdict::no(Reason::attribute, "input_forget");
    if (attributes.integer("layout", 0) != 0) return Verdict::no(Reason::attribute, "layout 1");
    if (const AttributeValue* value = attributes.find("activations")) {
        const auto* words = std::get_if<std::vector<std::string>>(value);
        if (words == nullptr) return Verdict::no(Reason::attribute, "activations");
        constexpr const char* usual[] = {"Sigmoid", "Tanh", "Tanh"};
        for (size_t i = 0; i < words->size(); ++i)
            if ((*words)[i] != usual[i % 3]) return Verdict::no(Reason::attribute, "activation " + (*words)[i]);
    }
    return Verdict::yes();
}

Verdict check_inputs(const Problem& problem) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    for (size_t i : {Input::x, Input::w, Input::r, Input::w_scale, Input::w_zero, Input::r_scale, Input::r_zero})
        if (!has_input(problem, i)) return Verdict::no(Reason::shape, "an absent input");
    for (size_t i : {Input::lengths, Input::peephole})
        if (has_input(problem, i))
            return Verdict::no(Reason::attribute, i == Input::lengths ? "sequence lengths" : "peepholes");
    if (problem.constant[Input::x]) return Verdict::no(Reason::needs_constant, "a constant sequence");
    for (size_t i = 0; i < problem.src.size(); ++i) {
        if (!problem.src[i]) continue;
        const bool is_state = i == Input::x || i == Input::initial_h || i == Input::initial_c;
        if (!is_state && !problem.constant[i])
            return Verdict::no(Reason::needs_constant, "weights that are not constant");
        if (problem.src[i]->layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain tensors");
        if (is_state && problem.src[i]->type != ElementType::f32) return Verdict::no(Reason::element_type, "not f32");
    }
    for (const TensorDesc& dst : problem.dst)
        if (dst.layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain tensors");
    return Verdict::yes();
}

// Column of hidden unit `unit`'s gate.
int64_t column_of(int64_t gate, int64_t unit) {
    return unit / recurrent_units * recurrent_sums + gate * recurrent_units + unit % recurrent_units;
}

// Calls f(direction, index of the gate's row among 4 * hidden, column).
template <class F>
void for_gates(const DynamicLstmProblem& lstm, F f) {
    for (int64_t d = 0; d < lstm.directions; ++d)
        for (int64_t gate = 0; gate < 4; ++gate)
            for (int64_t unit = 0; unit < lstm.hidden; ++unit) f(d, gate * lstm.hidden + unit, column_of(gate, unit));
}

Tensor pack_biases(const DynamicLstmProblem& lstm, const Tensor* biases) {
    Tensor packed(ElementType::f32, {lstm.directions, lstm.columns()});
    if (biases == nullptr) return packed;
    const std::span<const float> from = biases->data<float>();
    const std::span<float> to = packed.mutable_data<float>();
    const int64_t rows = 4 * lstm.hidden;
    for_gates(lstm, [&](int64_t d, int64_t row, int64_t column) {
        const auto at = static_cast<size_t>(2 * d * rows + row);
        to[static_cast<size_t>(d * lstm.columns() + column)] = from[at] + from[at + static_cast<size_t>(rows)];
    });
    return packed;
}

// Panels, sums of columns, zero points and scales of one matrix. Columns without a unit are zeros with a scale of 0.
void pack_matrix(const DynamicLstmProblem& lstm, const IntegerPanels& shape, const Tensor& weights, const Tensor& scale,
                 const Tensor& zero, std::vector<Tensor>& blobs) {
    const int64_t rows = 4 * lstm.hidden, columns = lstm.columns();
    const auto entry = [&](int64_t d, int64_t row) {
        return static_cast<size_t>(scale.elements() == lstm.directions ? d : d * rows + row);
    };
    Tensor panels(ElementType::i8, {lstm.directions, shape.bytes()});
    Tensor sums(ElementType::i32, {lstm.directions, columns});
    Tensor zeros(weights.type(), {lstm.directions, columns});
    Tensor scales(ElementType::f32, {lstm.directions, columns});
    std::vector<std::byte> ordered(static_cast<size_t>(lstm.directions * shape.k * columns));
    for_gates(lstm, [&](int64_t d, int64_t row, int64_t column) {
        for (int64_t k = 0; k < shape.k; ++k)
            ordered[static_cast<size_t>((d * shape.k + k) * columns + column)] =
                weights.bytes()[static_cast<size_t>((d * shape.k + k) * rows + row)];
        const auto at = static_cast<size_t>(d * columns + column);
        zeros.mutable_bytes()[at] = zero.bytes()[entry(d, row)];
        scales.mutable_data<float>()[at] = scale.data<float>()[entry(d, row)];
    });
    for (int64_t d = 0; d < lstm.directions; ++d)
        shape.pack(ordered.data() + d * shape.k * columns, columns, 1, flip_of(weights.type(), moved_b),
                   panels.mutable_data<int8_t>().data() + d * shape.bytes(),
                   sums.mutable_data<int32_t>().data() + d * columns);
    for (Tensor* tensor : {&panels, &sums, &zeros, &scales}) blobs.push_back(std::move(*tensor));
}

}  // namespace

Verdict DynamicLstmProblem::make(const Problem& problem, DynamicLstmProblem& lstm) {
    if (Verdict verdict = check_attributes(problem.attributes); !verdict) return verdict;
    if (Verdict verdict = check_inputs(problem); !verdict) return verdict;
    const Shape& sequence = problem.src[Input::x]->shape;
    const Shape& from_input = problem.src[Input::w]->shape;
    const Shape& recurrent = problem.src[Input::r]->shape;
    if (sequence.rank() != 3 || from_input.rank() != 3 || recurrent.rank() != 3)
        return Verdict::no(Reason::shape, "rank");
    const std::string direction = problem.attributes.text("direction", "forward");
    lstm = {};
    lstm.steps = sequence[0], lstm.batch = sequence[1], lstm.inputs = sequence[2];
    lstm.directions = recurrent[0], lstm.hidden = recurrent[1];
    lstm.reversed = direction == "reverse";
    lstm.w_type = problem.src[Input::w]->type, lstm.r_type = problem.src[Input::r]->type;
    const int64_t d = lstm.directions, rows = 4 * lstm.hidden;
    if (d != (direction == "bidirectional" ? 2 : 1))
        return Verdict::no(Reason::shape, std::to_string(d) + " directions");
    if (lstm.steps == 0 || lstm.batch == 0 || lstm.hidden == 0) return Verdict::no(Reason::shape, "nothing to compute");
    const auto fits = [&](size_t i, const Shape& shape) {
        return !has_input(problem, i) || problem.src[i]->shape == shape;
    };
    const Shape state{d, lstm.batch, lstm.hidden};
    if (from_input != Shape{d, lstm.inputs, rows} || recurrent != Shape{d, lstm.hidden, rows} ||
        !fits(Input::b, {d, 2 * rows}) || !fits(Input::initial_h, state) || !fits(Input::initial_c, state))
        return Verdict::no(Reason::shape, "weights or states");
    for (size_t i : {Input::w_scale, Input::w_zero, Input::r_scale, Input::r_zero})
        if (!fits(i, {d}) && !fits(i, {d, rows})) return Verdict::no(Reason::shape, "scales");
    for (size_t i : {Input::w_scale, Input::r_scale})
        if (problem.src[i]->shape != problem.src[i + 1]->shape) return Verdict::no(Reason::shape, "zero points");
    return Verdict::yes();
}

std::vector<Tensor> pack_dynamic_lstm(const DynamicLstmProblem& lstm, std::span<const Tensor* const> constants) {
    const auto given = [&](size_t i) { return i < constants.size() ? constants[i] : nullptr; };
    std::vector<Tensor> blobs;
    blobs.push_back(pack_biases(lstm, given(Input::b)));
    pack_matrix(lstm, lstm.w_panels(), *given(Input::w), *given(Input::w_scale), *given(Input::w_zero), blobs);
    pack_matrix(lstm, lstm.r_panels(), *given(Input::r), *given(Input::r_scale), *given(Input::r_zero), blobs);
    for (size_t i : {Input::initial_h, Input::initial_c})
        if (given(i) != nullptr) blobs.push_back(*given(i));
    return blobs;
}

}  // namespace headway
