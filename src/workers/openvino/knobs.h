// What can be set in an OpenVINO engine: the public properties of its CPU device that may change speed, as this machine
// and this version offer them. The first value of a knob is what OpenVINO uses when nothing is set, and is not set;
// only `threads.count` always is.
//
// Not offered: the precision and groups of the KV cache (only models with state have one; ONNX has none), the
// distribution over sockets (untried here), what only matters to caching or to several devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workers/builder.h"
#include "workers/openvino/api.h"

namespace headway::openvino {

inline constexpr const char* threads_knob = "threads.count";
inline constexpr const char* call_knob = "threads.call";
inline constexpr const char* shapes_knob = "model.shapes";

struct KnobRequest {
    int threads = 1;                    // ceiling
    bool open_shapes = false;           // some input of the model has no fixed shape
    std::vector<std::string> variants;  // file names
};

std::vector<KnobDescription> offered_knobs(const Api& api, const KnobRequest& request);

// OpenVINO's properties for settings away from the default, by knob; knobs that are no property are left out. UserError
// for a name that is no knob: recipes are not trusted.
std::map<std::string, std::string> properties_of(const std::map<std::string, std::string>& settings);

}  // namespace headway::openvino
