// Canonical routes as logs and engine files carry them, taken apart without the knobs that they were written for.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headway {

// Settings, knob (with its site) and value, in their order.
std::vector<std::pair<std::string, std::string>> route_settings(const std::string& route);

// The route without its setting number `dropped`; canonical again.
std::string route_without(const std::string& route, size_t dropped);

}  // namespace headway
