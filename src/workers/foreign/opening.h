// What opening a model and reading a route mean to every builder that drives another runtime.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/samples.h"
#include "kernels/target.h"
#include "knobs/route.h"
#include "workers/builder.h"

namespace headway {

// The ports with the shapes and values of the request put in. UserError for a name that is no input, a shape that
// contradicts the model, a value of another length.
std::vector<PortSpec> bind_ports(const OpenRequest& request, std::vector<PortSpec> inputs);

// What `run` is timed on, one tensor a port with every extent known: the request's sample, else generated as the native
// builder generates them. UserError naming the inputs whose shape nothing tells.
std::vector<Tensor> timing_inputs(const OpenRequest& request, std::span<const PortSpec> bound);

// The target of a request, with the ceiling of threads put in. Other runtimes choose instructions by themselves:
// Unsupported for another machine than this one.
Target target_here(const OpenRequest& request);

PortDescription describe_port(const std::string& name, const Tensor& tensor);
// Whether its rank or an extent is not known.
bool is_open(const PortSpec& port);

// The value of every knob under a route.
std::map<std::string, std::string> settings_of(const Route& route, const Registry<KnobBase>& knobs);

}  // namespace headway
