#include "workers/foreign/opening.h"

#include <algorithm>

#include "base/text.h"
#include "workers/sample_files.h"

namespace headway {

bool is_open(const PortSpec& port) {
    return !port.dims || std::ranges::any_of(*port.dims, [](int64_t dim) { return dim < 0; });
}

namespace {

PortSpec& find_port(std::vector<PortSpec>& ports, const std::string& name) {
    const auto found = std::ranges::find(ports, name, &PortSpec::name);
    if (found == ports.end()) throw UserError("the model has no input named " + escaped(name));
    return *found;
}

void bind_shape(PortSpec& port, const std::vector<int64_t>& dims) {
    const bool fits = !port.dims || (port.dims->size() == dims.size() &&
                                     std::ranges::equal(*port.dims, dims, [](int64_t declared, int64_t given) {
                                         return declared < 0 || declared == given;
                                     }));
    if (!fits)
        throw UserError("input " + escaped(port.name) + " cannot have the shape " + Shape(dims).text() +
                        ": the model declares another");
    port.dims = dims;
}

void bind_value(PortSpec& port, const std::vector<int64_t>& values) {
    const auto count = static_cast<int64_t>(values.size());
    if (is_open(port)) bind_shape(port, {count});
    Tensor tensor(port.type, Shape(*port.dims));
    if (tensor.elements() != count)
        throw UserError("input " + escaped(port.name) + " has " + std::to_string(tensor.elements()) +
                        " elements, the value given has " + std::to_string(count));
    for (int64_t k = 0; k < count; ++k) tensor.set(k, static_cast<double>(values[static_cast<size_t>(k)]));
    port.value = tensor;
}

}  // namespace

std::vector<PortSpec> bind_ports(const OpenRequest& request, std::vector<PortSpec> inputs) {
    if (!request.ranges.empty())
        throw Unsupported("input " + escaped(request.ranges.front().input) +
                          " is to stay open, which only engines of the native builder do");
    for (const ShapeBinding& shape : request.shapes) bind_shape(find_port(inputs, shape.input), shape.dims);
    for (const ValueBinding& value : request.values) bind_value(find_port(inputs, value.input), value.values);
    return inputs;
}

std::vector<Tensor> timing_inputs(const OpenRequest& request, std::span<const PortSpec> bound) {
    if (!request.timing_data.empty()) return read_sample(request.timing_data, bound);
    return generate_samples(bound, 1, 1).at(0).inputs;
}

Target target_here(const OpenRequest& request) {
    Target here = Target::native(), asked = Target::parse(request.target);
    const int threads = request.threads > 0 ? request.threads : std::min(asked.threads, here.threads);
    here.threads = asked.threads = threads;
    if (asked.text() != here.text())
        throw Unsupported("another runtime builds for this machine only, not for --target");
    return here;
}

PortDescription describe_port(const std::string& name, const Tensor& tensor) {
    return {name, std::string(to_string(tensor.type())), tensor.shape().dims()};
}

std::map<std::string, std::string> settings_of(const Route& route, const Registry<KnobBase>& knobs) {
    std::map<std::string, std::string> settings;
    for (const KnobBase* knob : knobs)
        settings[std::string(knob->name())] = knob->values()[static_cast<size_t>(route.index(*knob))];
    return settings;
}

}  // namespace headway
