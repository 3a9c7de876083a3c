// The facts about a model or an engine that `inspect` shows, as text for people and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "onnx/import.h"
#include "runtime/engine_file.h"

namespace headway {

std::string model_text(const OnnxModel& model);
nlohmann::ordered_json model_json(const OnnxModel& model);

std::string engine_text(const EngineFile& file);
nlohmann::ordered_json engine_json(const EngineFile& file);

}  // namespace headway
