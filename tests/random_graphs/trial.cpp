#include "trial.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/hash.h"
#include "base/text.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "runtime/engine.h"
#include "tensor/random.h"

namespace headway::testing {
namespace {

Tensor input_tensor(ElementType type, const Shape& shape, uint64_t seed, bool special) {
    Tensor tensor = random_tensor(type, shape, seed);
    Rng rng(seed);
    for (int64_t i = 0; i < tensor.elements(); ++i) {
        if (type == ElementType::u8 || type == ElementType::i8)
            tensor.set(i, static_cast<double>(rng.below(256)) - (type == ElementType::i8 ? 128 : 0));
        else if (special && is_float(type) && rng.chance(0.1))
            tensor.set(i, rng.coin() ? std::numeric_limits<double>::quiet_NaN() : rng.coin() ? HUGE_VAL : -HUGE_VAL);
    }
    return tensor;
}

std::vector<Tensor> input_tensors(const Problem& problem, uint64_t seed) {
    std::vector<Tensor> inputs;
    for (ValueId id : problem.graph.inputs) {
        const Value& value = problem.graph.value(id);
        // By name, so that an input keeps its values when others go.
        inputs.push_back(input_tensor(value.type, value.shape(), seed + hash_text(value.name).low, problem.special));
    }
    return inputs;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    for (size_t k = 0; k < a.size(); ++k)
        if (a[k].hash() != b[k].hash()) return false;
    return true;
}

}  // namespace

std::string print_trial(const Trial& trial) {
    return "# target: " + trial.way.target + "\n# route: " + trial.way.route +
           "\n# inputs: " + std::to_string(trial.problem.inputs) + (trial.problem.special ? " special" : "") + "\n" +
           print_graph(trial.problem.graph, std::numeric_limits<int64_t>::max());
}

Trial parse_trial(std::string_view text) {
    Trial trial;
    std::istringstream lines{std::string(text)};
    std::string line;
    const auto takes = [&](std::string_view key) {
        if (!line.starts_with(key)) return false;
        line = std::string(trimmed(std::string_view(line).substr(key.size())));
        return true;
    };
    while (std::getline(lines, line)) {
        if (takes("# target:"))
            trial.way.target = line;
        else if (takes("# route:"))
            trial.way.route = line;
        else if (takes("# inputs:")) {
            trial.problem.inputs = std::stoull(line);
            trial.problem.special = line.ends_with("special");
        }
    }
    trial.problem.graph = parse_graph(text);
    return trial;
}

Expectation::Expectation(const Problem& problem, const Catalogue& catalogue)
    : problem_(problem),
      catalogue_(catalogue),
      inputs_(input_tensors(problem, problem.inputs)),
      others_(input_tensors(problem, problem.inputs + 7)),
      wanted_(interpret(problem.graph, inputs_, catalogue.ops)),
      bound_(bind(problem.graph, {}, catalogue.ops)),
      allowed_(allowed_errors(bound_, inputs_, wanted_, 0, catalogue.ops)) {
    verify_graph(problem.graph, Stage::imported);
}

double Expectation::operand_move(const Route& route) const {
    constexpr double bf16 = 0x1p-6;  // rounding at 2^-9, and the factor of linear steps merged into one another
    const bool reduced = std::ranges::any_of(route.settings(), [&](const Route::Setting& setting) {
        return catalogue_.knobs.find(setting.knob)->numerics() == Numerics::reduced;
    });
    return reduced ? bf16 : 0;
}

std::string Expectation::difference(const std::vector<Tensor>& got, double operand_move) const {
    std::vector<Allowed> widened;
    if (operand_move > 0) widened = allowed_errors(bound_, inputs_, wanted_, operand_move, catalogue_.ops);
    const std::vector<Allowed>& allowed = operand_move > 0 ? widened : allowed_;
    if (got.size() != wanted_.size()) return "values: another number of outputs";
    for (size_t k = 0; k < got.size(); ++k) {
        if (got[k].shape() != wanted_[k].shape() || got[k].type() != wanted_[k].type())
            return "values: output " + std::to_string(k) + " has another shape or type";
        for (int64_t i = 0; i < got[k].elements(); ++i) {
            const double a = got[k].at(i), b = wanted_[k].at(i), most = allowed[k].distance[static_cast<size_t>(i)];
            if (a == b || (std::isnan(a) && std::isnan(b)) || std::isinf(most) || std::abs(a - b) <= most) continue;
            std::ostringstream text;
            text << "values: output " << k << " (" << problem_.graph.value(problem_.graph.outputs[k]).name
                 << ") element " << i << " is " << a << ", not " << b << " (" << most << " is allowed)";
            return text.str();
        }
    }
    return "";
}

std::string Expectation::failure(const Way& way) const {
    try {
        const Route route = Route::parse(way.route, catalogue_.knobs);
        const Target target = Target::parse(way.target);
        const Build built = build(problem_.graph, {}, route, target, catalogue_);
        EngineInfo info;
        info.target = target.text();
        Context context(Engine::make(built.plan, info, catalogue_.kernels));
        const std::vector<Tensor> first = context.run(inputs_);
        std::string text = difference(first, operand_move(route));
        if (!text.empty()) return text;
        // What another run left in the arena must not matter.
        context.run(others_);
        return same_bits(first, context.run(inputs_)) ? "" : "unstable: the same inputs give other bits";
    } catch (const UserError& error) {
        return std::string("refused: ") + error.what();
    } catch (const std::exception& error) {
        return std::string("broken: ") + error.what();
    }
}

std::string failure_of(const Trial& trial, const Catalogue& catalogue) {
    try {
        return Expectation(trial.problem, catalogue).failure(trial.way);
    } catch (const std::exception& error) {
        return std::string("invalid: ") + error.what();
    }
}

}  // namespace headway::testing
