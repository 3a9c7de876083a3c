#include "workers/native/port_specs.h"

#include <algorithm>

namespace headway {

PortSpec spec_of(const Port& port) {
    PortSpec spec{port.name, port.desc.type, port.desc.shape.dims(), std::nullopt};
    if (!port.fixed_value.empty()) {
        Tensor value(port.desc.type, port.desc.shape);
        std::ranges::copy(port.fixed_value, value.mutable_bytes().begin());
        spec.value = value;
    }
    return spec;
}

PortSpec spec_of(const StagedPort& port) {
    PortSpec spec{port.name, port.type, std::nullopt, port.fixed_value};
    if (!port.dims) return spec;
    spec.dims.emplace();
    for (const Dim& dim : *port.dims) spec.dims->push_back(dim.extent);
    return spec;
}

}  // namespace headway
