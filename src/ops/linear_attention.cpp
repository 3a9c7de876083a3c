#include <cmath>

#include "ops/doubles.h"
#include "ops/op.h"

namespace headway {
namespace {

struct LinearRule {
    bool gated = false;  // the state decays
    bool delta = false;  // what the state holds for a key is corrected instead of added to
};

LinearRule linear_rule(const Attributes& attributes) {
    const std::string word = attributes.text("update_rule", "gated_delta");
    if (word == "linear") return {false, false};
    if (word == "gated") return {true, false};
    if (word == "delta") return {false, true};
    if (word == "gated_delta") return {true, true};
    throw UserError("attribute update_rule has an unknown value");
}

// q: batch x length x q_heads * key; k: batch x length x heads * key; v: batch x length x heads * value.
struct LinearForm {
    int64_t batch = 0, length = 0, q_heads = 0, heads = 0, key = 0, value = 0;

    Shape packed(int64_t last) const { return {batch, length, last}; }
    Shape state() const { return {batch, heads, key, value}; }
};

LinearForm linear_form(const Attributes& attributes, const Shape& q, const Shape& v) {
    const int64_t q_heads = attributes.integer("q_num_heads", 0);
    const int64_t heads = attributes.integer("kv_num_heads", 0);
    if (heads < 1 || q_heads < 1 || q_heads % heads != 0)
        throw UserError("q_num_heads is no positive multiple of kv_num_heads");
    if (q.rank() != 3 || v.rank() != 3 || q[2] % q_heads != 0 || v[2] % heads != 0)
        throw UserError("its query or value is not of rank 3, or not divided by its heads");
    return {q[0], q[1], q_heads, heads, q[2] / q_heads, v[2] / heads};
}

void require_linear_input(const InferContext& context, size_t input, bool wanted, const char* name) {
    if (context.has(input) != wanted)
        throw UserError(std::string(name) + " is " + (wanted ? "missing" : "given") + ", against its update_rule");
    if (wanted && context.type(input) != context.type(0))
        throw UserError(std::string(name) + " has another type than the query");
}

void infer_linear_attention(InferContext& context) {
    const LinearRule rule = linear_rule(context.attributes());
    const LinearForm form = linear_form(context.attributes(), context.shape(0), context.shape(2));
    require_linear_input(context, 1, true, "key");
    require_linear_input(context, 2, true, "value");
    require_linear_input(context, 4, rule.gated, "decay");
    require_linear_input(context, 5, rule.delta, "beta");
    if (context.shape(1) != form.packed(form.heads * form.key) ||
        context.shape(2) != form.packed(form.heads * form.value))
        throw UserError("its key or value does not fit its query");
    if (context.has(3) && (context.shape(3) != form.state() || !is_float(context.type(3))))
        throw UserError("its past_state should be of floating point and shape " + form.state().text());
    if (rule.gated && context.shape(4) != form.packed(form.heads) &&
        context.shape(4) != form.packed(form.heads * form.key))
        throw UserError("its decay has neither one entry a head nor one an element of a key");
    if (rule.delta && context.shape(5) != form.packed(form.heads) && context.shape(5) != form.packed(1))
        throw UserError("its beta has neither one entry a head nor one a step");
    context.set_output(0, context.type(0), form.packed(form.q_heads * form.value));
    context.set_output(1, context.type(context.has(3) ? 3 : 0), form.state());
}

// One head's state, key x value, and what one step does to it.
struct LinearState {
    double* state;
    int64_t key, value;

    void decay(const double* logs, int64_t count) {
        for (int64_t i = 0; i < key; ++i) {
            const double factor = std::exp(logs[count == 1 ? 0 : i]);
            for (int64_t j = 0; j < value; ++j) state[i * value + j] *= factor;
        }
    }
    // out = scale * transposed state * x.
    void read(const double* x, double scale, double* out) const {
        for (int64_t j = 0; j < value; ++j) {
            double sum = 0;
            for (int64_t i = 0; i < key; ++i) sum += x[i] * state[i * value + j];
            out[j] = scale * sum;
        }
    }
    void write(const double* k, const double* v) {
        for (int64_t i = 0; i < key; ++i)
            for (int64_t j = 0; j < value; ++j) state[i * value + j] += k[i] * v[j];
    }
};

void linear_attention_reference(const ReferenceContext& context) {
    const Attributes& attributes = context.attributes;
    const LinearRule rule = linear_rule(attributes);
    const LinearForm form = linear_form(attributes, context.in(0).shape(), context.in(2).shape());
    const auto values_of = [&](size_t input) {
        return context.has(input) ? doubles_of(context.in(input)) : std::vector<double>{};
    };
    const std::vector<double> q = values_of(0), k = values_of(1), v = values_of(2), decay = values_of(4),
                              beta = values_of(5);
    std::vector<double> states = values_of(3);
    states.resize(static_cast<size_t>(form.state().elements()));
    const int64_t decay_width = rule.gated ? context.in(4).shape().back() / form.heads : 0;
    const int64_t beta_width = rule.delta ? context.in(5).shape().back() : 0;
    const double given_scale = attributes.real("scale", 0);
    const double scale = given_scale == 0 ? 1 / std::sqrt(static_cast<double>(form.key)) : given_scale;
    const int64_t group = form.q_heads / form.heads;
    std::vector<double> y = zeros(form.packed(form.q_heads * form.value).elements());
    std::vector<double> held = zeros(form.value);
    for (int64_t image = 0; image < form.batch; ++image)
        for (int64_t step = 0; step < form.length; ++step)
            for (int64_t head = 0; head < form.heads; ++head) {
                const int64_t row = image * form.length + step;
                const int64_t at = row * form.heads + head;
                LinearState state{states.data() + (image * form.heads + head) * form.key * form.value, form.key,
                                  form.value};
                const double* key = k.data() + at * form.key;
                const double* value = v.data() + at * form.value;
                if (rule.gated) state.decay(decay.data() + at * decay_width, decay_width);
                if (rule.delta) {
                    const double rate = beta[static_cast<size_t>(row * beta_width + (beta_width == 1 ? 0 : head))];
                    state.read(key, 1, held.data());
                    for (int64_t j = 0; j < form.value; ++j) {
                        double& change = held[static_cast<size_t>(j)];
                        change = rate * (value[j] - change);
                    }
                    value = held.data();
                }
                state.write(key, value);
                for (int64_t i = 0; i < group; ++i) {
                    const int64_t reader = row * form.q_heads + head * group + i;
                    state.read(q.data() + reader * form.key, scale, y.data() + reader * form.value);
                }
            }
    if (context.wants(0)) store_doubles(y, context.out(0));
    if (context.wants(1)) store_doubles(states, context.out(1));
}

}  // namespace

const Op linear_attention_op{{
    .name = "LinearAttention",
    .since = {27},
    .inputs = {3, 6},
    .outputs = {1, 2},
    .types = float_types,
    .attributes = {{"chunk_size", "int", "64", "not read: a hint for speed"},
                   {"kv_num_heads", "int", "", "heads of keys, values and states"},
                   {"q_num_heads", "int", "", "heads of queries, a multiple of kv_num_heads"},
                   {"scale", "float", "0.0", "factor of the output; 0: 1 / sqrt(size of a key)"},
                   {"update_rule", "string", "gated_delta", "linear, gated, delta or gated_delta"}},
    .infer = infer_linear_attention,
    .reference = linear_attention_reference,
    .help = "Attention by a state of each head, key x value, that each step decays (gated), adds key * value to "
            "(delta: what the value differs by from the one that is held), and that the query reads.",
}};

}  // namespace headway
