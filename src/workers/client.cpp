#include "workers/client.h"

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "base/text.h"

namespace headway {
namespace {

using Json = nlohmann::json;

SubprocessOptions process_options(const WorkerOptions& options) {
    SubprocessOptions process{options.command, {}, options.memory_limit};
    process.environment.emplace_back("HEADWAY_PADDING",
                                     std::string(static_cast<size_t>(options.environment_padding), 'x'));
    return process;
}

// What a worker sends is checked as any other untrusted input.
template <class T>
T as(const Json& reply) {
    try {
        return reply.get<T>();
    } catch (const Json::exception& error) {
        throw WorkerError(Failure::failed, std::string("the worker's answer lacks something: ") + error.what());
    }
}

}  // namespace

WorkerClient::WorkerClient(WorkerOptions options, double deadline_s)
    : options_(std::move(options)), process_(std::make_unique<Subprocess>(process_options(options_))) {
    version_ = as<BuilderVersion>(ask({{"cmd", "hello"},
                                       {"protocol", protocol_version},
                                       {"scratch", options_.scratch},
                                       {"heap_padding", options_.heap_padding}},
                                      deadline_s));
}

WorkerClient::~WorkerClient() {
    constexpr double grace_s = 0.2;  // an idle worker ends at once when its input ends
    if (process_) process_->finish(grace_s);
}

pid_t WorkerClient::pid() const { return process_ ? process_->pid() : -1; }

void WorkerClient::give_up(Failure failure, const std::string& reason) {
    process_->kill();
    process_.reset();
    throw WorkerError(failure, reason);
}

// The worker's end of the line was closed: it has ended or is about to.
void WorkerClient::explain_end() {
    constexpr double grace_s = 2;
    const ExitStatus status = process_->finish(grace_s);
    std::string reason = "the worker " + status.text();
    const std::string last_words = process_->last_error_line();
    if (!last_words.empty()) reason += ": " + last_words;
    // The system's out-of-memory killer is the only other one that sends this signal.
    const bool killed = status.signal == SIGKILL && !status.killed_by_us;
    process_.reset();
    throw WorkerError(killed ? Failure::out_of_memory : Failure::crashed, reason);
}

Json WorkerClient::ask(Json request, double deadline_s) {
    if (!process_) throw WorkerError(Failure::crashed, "the worker has ended before");
    const int64_t id = next_id_++;
    const std::string cmd = request.at("cmd").get<std::string>();
    request["id"] = id;
    request["deadline_s"] = deadline_s;
    const std::string name = "request-" + std::to_string(process_->pid());
    if (!process_->write_line(to_line(request, options_.scratch, name))) explain_end();
    std::string line;
    switch (process_->read_line(line, deadline_s, longest_line, options_.stop)) {
        case Subprocess::Read::line:
            break;
        case Subprocess::Read::end:
            explain_end();
        case Subprocess::Read::timeout:
            give_up(Failure::timeout, "no answer to " + cmd + " within its time limit");
        case Subprocess::Read::interrupted:
            give_up(Failure::interrupted, "stopped by the user");
        case Subprocess::Read::too_long:
            give_up(Failure::failed, "the worker broke the protocol: a line without end");
    }
    Json reply;
    try {
        reply = from_line(line, options_.scratch);
    } catch (const UserError& error) {
        give_up(Failure::failed,
                std::string("the worker broke the protocol (") + error.what() + "): " + escaped(line.substr(0, 80)));
    }
    // A worker that cannot read a request (no memory for it, no file) does not know its number and is of no more use.
    const Json answered = reply.value("id", Json());
    if (answered.is_null() && reply.contains("failure"))
        give_up(
            reply.value("failure", "") == to_string(Failure::out_of_memory) ? Failure::out_of_memory : Failure::crashed,
            "the worker could not read a request: " + escaped(reply.value("reason", "")));
    if (answered != id) give_up(Failure::failed, "the worker broke the protocol: answer to another request");
    if (const auto failure = reply.find("failure"); failure != reply.end())
        throw WorkerError(failure_from_string(as<std::string>(*failure)),
                          as<std::string>(reply.value("reason", Json(""))));
    return reply;
}

OpenedModel WorkerClient::open(const OpenRequest& request, double deadline_s) {
    Json message = request;
    message["cmd"] = "open";
    return as<OpenedModel>(ask(std::move(message), deadline_s));
}

BuilderDescription WorkerClient::describe(double deadline_s) {
    return as<BuilderDescription>(ask({{"cmd", "describe"}}, deadline_s));
}

BuiltEngine WorkerClient::build(const std::string& route, const std::string& engine, const std::string& ledger,
                                double deadline_s) {
    return as<BuiltEngine>(
        ask({{"cmd", "build"}, {"route", route}, {"engine", engine}, {"ledger", ledger}}, deadline_s));
}

void WorkerClient::load(const std::string& engine, int streams, double deadline_s) {
    ask({{"cmd", "load"}, {"engine", engine}, {"streams", streams}}, deadline_s);
}

void WorkerClient::check(const std::string& engine, const std::string& data, const std::string& out,
                         double deadline_s) {
    ask({{"cmd", "check"}, {"engine", engine}, {"data", data}, {"out", out}}, deadline_s);
}

BlockTimes WorkerClient::block(const std::string& engine, const BlockRequest& request, double deadline_s) {
    Json message = request;
    message["cmd"] = "block";
    message["engine"] = engine;
    const Json reply = ask(std::move(message), deadline_s);
    auto times = as<BlockTimes>(reply);
    const std::vector<int64_t>& ns = times.ns;
    const size_t expected = request.per_iteration ? static_cast<size_t>(request.iterations * request.streams) : 1;
    if (ns.size() != expected || std::any_of(ns.begin(), ns.end(), [](int64_t time) { return time <= 0; }))
        throw WorkerError(Failure::failed, "the worker's answer to block has no times");
    return times;
}

std::vector<StepTime> WorkerClient::profile(const std::string& engine, int64_t iterations, double deadline_s) {
    const Json reply = ask({{"cmd", "profile"}, {"engine", engine}, {"iterations", iterations}}, deadline_s);
    return as<std::vector<StepTime>>(reply.value("steps", Json()));
}

void WorkerClient::reference(const std::string& data, const std::string& out, double deadline_s) {
    ask({{"cmd", "reference"}, {"data", data}, {"out", out}}, deadline_s);
}

std::vector<Snippet> WorkerClient::snippets(const std::string& engine, double deadline_s) {
    const Json reply = ask({{"cmd", "snippets"}, {"engine", engine}}, deadline_s);
    return as<std::vector<Snippet>>(reply.value("snippets", Json()));
}

void WorkerClient::certify(const std::string& engine, const std::string& json, double deadline_s) {
    ask({{"cmd", "certify"}, {"engine", engine}, {"json", json}}, deadline_s);
}

}  // namespace headway
