#include "workers/serve.h"

#include <unistd.h>

#include <exception>
#include <map>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "measure/clock.h"
#include "workers/block.h"
#include "workers/channel.h"
#include "workers/protocol.h"

namespace headway {
namespace {

using Json = nlohmann::json;

class Server {
public:
    Server(const std::function<std::unique_ptr<Builder>()>& make, const std::function<int64_t()>& clock)
        : clock_(clock) {
        if (!clock_) clock_ = clock_ns;
        try {
            builder_ = make();
        } catch (...) {
            broken_ = std::current_exception();
        }
    }

    const std::string& scratch() const { return scratch_; }

    // The reply without its id.
    Json answer(const Json& request) {
        try {
            return dispatch(request);
        } catch (const Refused& error) {
            return failure(Failure::refused, error.what());
        } catch (const Unsupported& error) {
            return failure(Failure::unsupported, error.what());
        } catch (const std::bad_alloc&) {
            return failure(Failure::out_of_memory, "the memory limit was reached");
        } catch (const std::exception& error) {
            return failure(Failure::failed, error.what());
        }
    }

private:
    static Json failure(Failure kind, const std::string& reason) {
        return {{"failure", to_string(kind)}, {"reason", reason.substr(0, 600)}};
    }

    Json dispatch(const Json& request) {
        using Handler = Json (Server::*)(const Json&);
        static const std::map<std::string, Handler, std::less<>> handlers{
            {"hello", &Server::hello},     {"open", &Server::open},         {"describe", &Server::describe},
            {"build", &Server::build},     {"load", &Server::load},         {"check", &Server::check},
            {"block", &Server::block},     {"profile", &Server::profile},   {"reference", &Server::reference},
            {"certify", &Server::certify}, {"snippets", &Server::snippets}, {"quit", &Server::quit},
        };
        const std::string cmd = text(request, "cmd");
        const auto handler = handlers.find(cmd);
        if (handler == handlers.end()) throw UserError("unknown request '" + cmd + "'");
        if (broken_) std::rethrow_exception(broken_);
        return (this->*handler->second)(request);
    }

    static std::string text(const Json& request, const char* field) { return request.at(field).get<std::string>(); }

    Json hello(const Json& request) {
        if (request.at("protocol") != protocol_version)
            throw UserError("the worker speaks protocol " + std::to_string(protocol_version));
        scratch_ = text(request, "scratch");
        // Never freed: it shifts the addresses of all that this process allocates later.
        padding_.resize(request.value("heap_padding", size_t{0}));
        return builder_->version();
    }
    Json open(const Json& request) { return builder_->open(request.get<OpenRequest>()); }
    Json describe(const Json&) { return builder_->describe(); }
    Json build(const Json& request) {
        return builder_->build(text(request, "route"), text(request, "engine"), text(request, "ledger"));
    }
    Json load(const Json& request) {
        const int streams = whole<int>(request.at("streams"));
        check_streams(streams);
        builder_->load(text(request, "engine"), streams);
        return Json::object();
    }
    Json check(const Json& request) {
        builder_->check(text(request, "engine"), text(request, "data"), text(request, "out"));
        return Json::object();
    }
    Json profile(const Json& request) {
        return {{"steps", builder_->profile(text(request, "engine"), whole<int64_t>(request.at("iterations")))}};
    }
    Json reference(const Json& request) {
        builder_->reference(text(request, "data"), text(request, "out"));
        return Json::object();
    }
    Json certify(const Json& request) {
        builder_->certify(text(request, "engine"), text(request, "json"));
        return Json::object();
    }
    Json snippets(const Json& request) { return {{"snippets", builder_->snippets(text(request, "engine"))}}; }
    Json quit(const Json&) { return Json::object(); }

    Json block(const Json& request) {
        const auto wanted = request.get<BlockRequest>();
        check_streams(wanted.streams);
        if (wanted.cold && wanted.streams != 1) throw UserError("cold caches are for one stream");
        const std::string engine = text(request, "engine");
        if (!streams_ || streams_->count() != wanted.streams) streams_ = std::make_unique<Streams>(wanted.streams);
        const BlockTimes times = run_block(*builder_, engine, wanted, *streams_, clock_);
        wait_for_idle_threads();
        return times;
    }

    static void check_streams(int streams) {
        constexpr int most_streams = 1024;
        if (streams < 1 || streams > most_streams)
            throw UserError("streams must be 1 to " + std::to_string(most_streams));
    }

    std::unique_ptr<Builder> builder_;
    std::exception_ptr broken_;
    std::function<int64_t()> clock_;
    std::string scratch_;
    std::vector<char> padding_;
    std::unique_ptr<Streams> streams_;
};

}  // namespace

int serve(const std::function<std::unique_ptr<Builder>()>& make, const std::function<int64_t()>& clock) {
    Channel channel;
    Server server(make, clock);
    std::string line;
    while (channel.read_line(line)) {
        Json reply, id;
        bool last = false;
        try {
            const Json request = from_line(line, server.scratch());
            id = request.value("id", Json());
            last = request.value("cmd", "") == "quit";
            reply = server.answer(request);
        } catch (const std::bad_alloc&) {
            reply = {{"failure", to_string(Failure::out_of_memory)}, {"reason", "no memory for the request itself"}};
        } catch (const std::exception& error) {
            reply = {{"failure", "failed"}, {"reason", error.what()}};
        }
        reply["id"] = id;
        if (!channel.write_line(to_line(reply, server.scratch(), "reply-" + std::to_string(::getpid()))) || last) break;
    }
    return 0;
}

}  // namespace headway
