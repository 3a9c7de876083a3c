#include "tuner/route_text.h"

#include "base/text.h"

namespace headway {

// Outside quotes only: a site's name may hold commas and equals signs.
std::vector<std::pair<std::string, std::string>> route_settings(const std::string& route) {
    std::vector<std::string> parts(1);
    bool quoted = false;
    for (size_t i = 0; i < route.size(); ++i) {
        if (route[i] == '\\' && quoted && i + 1 < route.size()) {
            parts.back() += route[i++];
        } else if (route[i] == '"') {
            quoted = !quoted;
        } else if (route[i] == ',' && !quoted) {
            parts.emplace_back();
            continue;
        }
        parts.back() += route[i];
    }
    std::vector<std::pair<std::string, std::string>> settings;
    for (const std::string& part : parts) {
        const size_t equals = part.rfind('=');
        if (equals != std::string::npos) settings.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
    return settings;
}

std::string route_without(const std::string& route, size_t dropped) {
    std::vector<std::string> kept;
    const auto settings = route_settings(route);
    for (size_t i = 0; i < settings.size(); ++i)
        if (i != dropped) kept.push_back(settings[i].first + "=" + settings[i].second);
    return join(kept, ",");
}

}  // namespace headway
