#include "kernels/cpu/recurrent/lstm_problem.h"

#include <cstring>

namespace headway {
namespace {

Verdict check_attributes(const Problem& problem) {
    const Attributes& attributes = problem.attributes;
    if (attributes.has("clip")) return Verdict::no(Reason::attribute, "clip");
    if (attributes.integer("input_forget", 0) != 0) return Verdict::no(Reason::attribute, "input_forget");
    if (attributes.integer("layout", 0) != 0) return Verdict::no(Reason::attribute, "layout 1");
    if (attributes.has("activation_alpha") || attributes.has("activation_beta"))
        return Verdict::no(Reason::attribute, "activation constants");
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
    using Input = LstmProblem::Input;
    for (size_t i : {Input::x, Input::w, Input::r})
        if (!has_input(problem, i)) return Verdict::no(Reason::shape, "an absent input");
    for (size_t i : {Input::lengths, Input::peephole})
        if (has_input(problem, i))
            return Verdict::no(Reason::attribute, i == Input::lengths ? "sequence lengths" : "peepholes");
    for (size_t i : {Input::w, Input::r, Input::b})
        if (has_input(problem, i) && !problem.constant[i])
            return Verdict::no(Reason::needs_constant, "weights that are not constant");
    if (problem.constant[Input::x]) return Verdict::no(Reason::needs_constant, "a constant sequence");
    for (const auto& src : problem.src) {
        if (src && src->type != ElementType::f32)
            return Verdict::no(Reason::element_type, std::string(to_string(src->type)));
        if (src && src->layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain tensors");
    }
    for (const TensorDesc& dst : problem.dst)
        if (dst.layout != Layout::plain) return Verdict::no(Reason::layout, "needs plain tensors");
    return Verdict::yes();
}

bool is_shape(const Problem& problem, size_t index, const Shape& shape) {
    return !has_input(problem, index) || problem.src[index]->shape == shape;
}

float* block_of(Tensor& tensor, int64_t block, int64_t floats) {
    return tensor.mutable_data<float>().data() + block * floats;
}

// Column of hidden unit `unit`'s gate in its block.
int64_t lane_of(int64_t gate, int64_t unit) { return gate * lstm_units + unit % lstm_units; }

Tensor pack_biases(const LstmProblem& lstm, const Tensor* biases) {
    Tensor packed(ElementType::f32, {lstm.directions, lstm.blocks(), lstm_gates});
    if (biases == nullptr) return packed;
    const float* from = biases->data<float>().data();
    for (int64_t d = 0; d < lstm.directions; ++d)
        for (int64_t gate = 0; gate < 4; ++gate)
            for (int64_t unit = 0; unit < lstm.hidden; ++unit) {
                const float* both = from + d * 8 * lstm.hidden + gate * lstm.hidden + unit;
                block_of(packed, d * lstm.blocks() + unit / lstm_units, lstm_gates)[lane_of(gate, unit)] =
                    both[0] + both[4 * lstm.hidden];
            }
    return packed;
}

Tensor pack_weights(const LstmProblem& lstm, const Tensor& w, const Tensor& r) {
    const int64_t depth = lstm.inputs + lstm.hidden;
    Tensor packed(ElementType::f32, {lstm.directions, lstm.blocks(), depth, lstm_gates});
    const float* from_w = w.data<float>().data();
    const float* from_r = r.data<float>().data();
    for (int64_t d = 0; d < lstm.directions; ++d)
        for (int64_t gate = 0; gate < 4; ++gate)
            for (int64_t unit = 0; unit < lstm.hidden; ++unit) {
                const int64_t row = (d * 4 + gate) * lstm.hidden + unit;
                float* to =
                    block_of(packed, d * lstm.blocks() + unit / lstm_units, depth * lstm_gates) + lane_of(gate, unit);
                for (int64_t i = 0; i < lstm.inputs; ++i) to[i * lstm_gates] = from_w[row * lstm.inputs + i];
                for (int64_t i = 0; i < lstm.hidden; ++i)
                    to[(lstm.inputs + i) * lstm_gates] = from_r[row * lstm.hidden + i];
            }
    return packed;
}

Tensor as_bf16(const Tensor& tensor) {
    Tensor narrow(ElementType::u16, tensor.shape());
    const std::span<const float> from = tensor.data<float>();
    const std::span<uint16_t> to = narrow.mutable_data<uint16_t>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = float_to_bf16(from[i]);
    return narrow;
}

}  // namespace

Verdict LstmProblem::make(const Problem& problem, LstmProblem& lstm) {
    if (!problem.epilogue.empty()) return Verdict::no(Reason::epilogue, "takes none");
    if (Verdict verdict = check_attributes(problem); !verdict) return verdict;
    if (Verdict verdict = check_inputs(problem); !verdict) return verdict;
    const Shape& sequence = problem.src[Input::x]->shape;
    const Shape& recurrent = problem.src[Input::r]->shape;
    if (sequence.rank() != 3 || recurrent.rank() != 3) return Verdict::no(Reason::shape, "rank");
    const std::string direction = problem.attributes.text("direction", "forward");
    lstm = {sequence[0], sequence[1], sequence[2], recurrent[2], recurrent[0], direction == "reverse"};
    const int64_t d = lstm.directions, h = lstm.hidden;
    if (d != (direction == "bidirectional" ? 2 : 1))
        return Verdict::no(Reason::shape, std::to_string(d) + " directions");
    const bool fits = is_shape(problem, w, {d, 4 * h, lstm.inputs}) && is_shape(problem, r, {d, 4 * h, h}) &&
                      is_shape(problem, b, {d, 8 * h}) && is_shape(problem, initial_h, {d, lstm.batch, h}) &&
                      is_shape(problem, initial_c, {d, lstm.batch, h});
    return fits && h > 0 ? Verdict::yes() : Verdict::no(Reason::shape, "shapes of the weights or states");
}

std::vector<Tensor> pack_lstm(const Problem& problem, const LstmProblem& lstm, LstmWeights form,
                              std::span<const Tensor* const> constants) {
    using Input = LstmProblem::Input;
    std::vector<Tensor> blobs;
    blobs.push_back(pack_biases(lstm, has_input(problem, Input::b) ? constants[Input::b] : nullptr));
    Tensor weights = pack_weights(lstm, *constants[Input::w], *constants[Input::r]);
    blobs.push_back(form == LstmWeights::bf16 ? as_bf16(weights) : std::move(weights));
    for (size_t i : {Input::initial_h, Input::initial_c})
        if (has_input(problem, i) && problem.constant[i]) blobs.push_back(*constants[i]);
    return blobs;
}

}  // namespace headway
