#include "fake_builder.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

namespace headway {
namespace {

std::map<std::string, std::string> settings_of(const std::string& text) {
    std::map<std::string, std::string> settings;
    for (const std::string& setting : split(text, ',')) {
        const size_t equals = setting.find('=');
        if (equals != std::string::npos) settings[setting.substr(0, equals)] = setting.substr(equals + 1);
    }
    return settings;
}

bool holds(const std::map<std::string, std::string>& when, const std::map<std::string, std::string>& settings) {
    for (const auto& [knob, value] : when) {
        const auto at = settings.find(knob);
        if (at == settings.end() || at->second != value) return false;
    }
    return true;
}

// Uniform in -1..1 from a counter.
double noise(uint64_t seed, int64_t counter) {
    const Hash hash = Hasher().add(static_cast<int64_t>(seed)).add(counter).finish();
    return static_cast<double>(hash.low >> 11) / static_cast<double>(uint64_t{1} << 52) - 1;
}

// A counter on disk, for what differs from process to process: its value before.
int64_t count_up(const std::string& path) {
    const int64_t count = std::filesystem::exists(path) ? std::stoll(read_file(path)) : 0;
    write_file_atomically(path, std::to_string(count + 1));
    return count;
}

// The last float of a TensorProto whose raw_data comes last.
void change_last_float(const std::string& path, const std::string& how, int64_t count) {
    std::string bytes = read_file(path);
    float value;
    char* last = bytes.data() + bytes.size() - sizeof value;
    std::memcpy(&value, last, sizeof value);
    if (how == "nan")
        value = std::nanf("");
    else if (how == "flaky")
        value = std::nextafter(value, count % 2 == 0 ? 1e9f : -1e9f);
    else
        value += 1000;
    std::memcpy(last, &value, sizeof value);
    write_file_atomically(path, bytes);
}

}  // namespace

bool FakeBuilder::strikes(const std::set<std::string>& planted, const std::string& fault) const {
    return planted.contains(fault) || (planted.contains(fault + "_once") && count_up(model_ + "." + fault) == 0);
}

OpenedModel FakeBuilder::open(const OpenRequest& request) {
    model_ = request.model;
    const std::string text = read_file(model_);
    model_hash_ = hash_text(text).hex();
    const auto script = nlohmann::json::parse(text);
    base_ns_ = script.value("base_ns", 1e6);
    noise_ = script.value("noise", 0.0);
    clock_step_ns_ = script.value("clock_step_ns", int64_t{1});
    for (const auto& knob : script.at("knobs")) {
        const auto values = knob.at("values").get<std::vector<std::string>>();
        knobs_.push_back({knob.at("name"), "a planted knob", knob.value("family", "kernel"), values, "exact", "graph"});
    }
    const auto none = nlohmann::json::object();
    const auto effects = script.value("effects", none), inert = script.value("inert", none),
               hidden = script.value("hidden", none), faults = script.value("faults", none);
    for (const auto& [when, effect] : effects.items()) effects_.push_back({settings_of(when), effect.get<double>()});
    for (const auto& knob : inert) inert_.insert(knob.get<std::string>());
    for (const auto& [when, knobs] : hidden.items())
        hidden_.emplace_back(settings_of(when), knobs.get<std::set<std::string>>());
    for (const auto& [when, fault] : faults.items()) faults_.emplace_back(settings_of(when), fault.get<std::string>());
    const Settings alone{{"builder", name_}};
    if (strikes(this->faults(alone), "crash_open")) std::abort();
    const std::vector<int64_t> dims{script.value("elements", int64_t{4})};
    return {model_hash_, "fake", {{"x", "f32", dims}}, {{"y", "f32", dims}}};
}

BuilderDescription FakeBuilder::describe() { return {knobs_, {"node"}}; }

FakeBuilder::Settings FakeBuilder::parse(const std::string& route) const {
    Settings settings = settings_of(route);
    settings["builder"] = name_;
    for (const KnobDescription& knob : knobs_) settings.try_emplace(knob.name, knob.values.front());
    return settings;
}

std::set<std::string> FakeBuilder::faults(const Settings& settings) const {
    std::set<std::string> found;
    for (const auto& [when, fault] : faults_)
        if (holds(when, settings)) found.insert(fault);
    return found;
}

void FakeBuilder::fail_build(const std::string& fault) {
    if (fault == "crash") std::abort();
    if (fault == "hang")
        for (;;) ::pause();
    if (fault == "throw") throw InternalError("a planted broken invariant");
    if (fault == "refuse") throw Refused("threshold: 3 channels (needs 16)");
    if (fault == "unsupported") throw Unsupported("operator FancyOp is not supported");
    if (fault == "rubbish") {
        const char text[] = "Segmentation almost\n";
        if (::write(protocol_fd_, text, sizeof text - 1) < 0) std::abort();
    }
    if (fault == "memory") {
        std::vector<std::vector<char>> hoard;
        for (;;) hoard.emplace_back(size_t{64} << 20, 'x');
    }
}

std::string FakeBuilder::fingerprint(const Settings& settings) const {
    Hasher hasher;
    hasher.add(model_hash_);
    std::set<std::string> silent = inert_;
    for (const auto& [when, knobs] : hidden_)
        if (holds(when, settings)) silent.insert(knobs.begin(), knobs.end());
    for (const auto& [knob, value] : settings)
        if (!silent.contains(knob)) hasher.add(knob).add(value);
    return hasher.finish().hex();
}

BuiltEngine FakeBuilder::build(const std::string& route, const std::string& engine, const std::string& ledger) {
    const Settings settings = parse(route);
    const std::set<std::string> planted = faults(settings);
    if (strikes(planted, "crash_build")) std::abort();
    for (const std::string& fault : planted) fail_build(fault);
    double log_time = 0;
    for (const Effect& effect : effects_)
        if (holds(effect.when, settings)) log_time += effect.log_time;
    std::string print = fingerprint(settings);
    if (planted.contains("two_engines") && count_up(model_ + ".builds") % 2 == 1) print = hash_text(print).hex();
    write_file_atomically(
        engine,
        nlohmann::json{
            {"ns", base_ns_ * std::exp(log_time)}, {"faults", planted}, {"fingerprint", print}, {"route", route}}
            .dump());
    if (!ledger.empty())
        write_file_atomically(
            ledger, R"([{"site":"node","candidate":"slow","taken":false,"reason":"cost","detail":"priced lower"}])");
    return {route, print, print, static_cast<int64_t>(std::filesystem::file_size(engine))};
}

void FakeBuilder::load(const std::string& engine, int) {
    if (loaded_.contains(engine)) return;
    const auto text = nlohmann::json::parse(read_file(engine));
    Loaded loaded{text.at("faults").get<std::set<std::string>>(), text.at("ns").get<double>(), 0, 0, 0, ""};
    if (strikes(loaded.faults, "crash_load")) std::abort();
    const char* padding = std::getenv("HEADWAY_PADDING");
    loaded.seed =
        Hasher().add(text.at("fingerprint").get<std::string>()).add(padding ? std::strlen(padding) : 0).finish().low;
    loaded.iteration_ns *= 1 + noise_ * noise(loaded.seed, -1);  // the memory layout of this process
    if (loaded.faults.contains("flaky")) loaded.process = count_up(engine + ".count");
    loaded_[engine] = loaded;
}

// Streams beside the first take no time of their own: as many processors are there.
void FakeBuilder::run(const std::string& engine, int64_t iterations, int stream) {
    if (stream != 0) return;
    constexpr int64_t cold_iterations = 200;
    constexpr int64_t iterations_before_crash = 85;  // in the second round of the first visit
    Loaded& loaded = loaded_.at(engine);
    if (strikes(loaded.faults, "crash_run")) std::abort();
    if (loaded.faults.contains("crash_later") && loaded.iterations > iterations_before_crash) std::abort();
    if (loaded.faults.contains("hang_run"))
        for (;;) ::pause();
    double ns = 0;
    for (int64_t i = 0; i < iterations; ++i) {
        double one = loaded.iteration_ns * (1 + noise_ * noise(loaded.seed, loaded.iterations));
        if (loaded.faults.contains("cold_fast") && loaded.iterations < cold_iterations) one /= 2;
        ns += one;
        ++loaded.iterations;
    }
    clock_ns_ += std::llround(ns);
}

void FakeBuilder::check(const std::string& engine, const std::string& data, const std::string& out) {
    Loaded& loaded = loaded_.at(engine);
    std::filesystem::create_directories(out);
    const std::string output = out + "/output_0.pb";
    if (loaded.first_input.empty()) loaded.first_input = read_file(data + "/input_0.pb");
    if (strikes(loaded.faults, "crash_check")) std::abort();
    const bool cached = loaded.faults.contains("cached");
    write_file_atomically(output, cached ? loaded.first_input : read_file(data + "/input_0.pb"));
    for (const char* fault : {"wrong", "nan"})
        if (loaded.faults.contains(fault)) change_last_float(output, fault, 0);
    if (loaded.faults.contains("wrong_heldout") && data.find("heldout") != std::string::npos)
        change_last_float(output, "wrong", 0);
    if (loaded.faults.contains("flaky")) change_last_float(output, "flaky", loaded.process);
}

std::vector<StepTime> FakeBuilder::profile(const std::string& engine, int64_t) {
    return {{"fake", {"node"}, std::llround(loaded_.at(engine).iteration_ns)}};
}

void FakeBuilder::reference(const std::string& data, const std::string& out) {
    if (strikes(faults({{"builder", name_}}), "crash_reference")) std::abort();
    std::filesystem::create_directories(out);
    write_file_atomically(out + "/output_0.pb", read_file(data + "/input_0.pb"));
}

std::vector<Snippet> FakeBuilder::snippets(const std::string& engine) {
    if (name_ == "native") return {};
    const auto text = nlohmann::json::parse(read_file(engine));
    return {{"python", "use('" + text.at("route").get<std::string>() + "')\n"}, {"c++", "use();\n"}};
}

void FakeBuilder::certify(const std::string& engine, const std::string& json) {
    auto text = nlohmann::json::parse(read_file(engine));
    if (strikes(text.at("faults").get<std::set<std::string>>(), "crash_certify")) std::abort();
    text["certificate"] = nlohmann::json::parse(json);
    write_file_atomically(engine, text.dump());
}

}  // namespace headway
