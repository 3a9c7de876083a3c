// The worker processes of one builder: one that builds, restarted after it died, and fresh ones for gates and visits.
#pragma once

#include <memory>
#include <string>

#include "workers/client.h"

namespace headway {

class Workshop {
public:
    // `worker` carries the command without the builder's name, `request` is what every worker opens.
    Workshop(std::string builder, WorkerOptions worker, OpenRequest request);

    const std::string& builder() const { return builder_; }
    // Inputs that engines are timed on; for workers started from now on.
    void set_timing_data(const std::string& folder) { request_.timing_data = folder; }
    // The user's Ctrl-C cuts requests short, or (null) does not.
    void set_stop(const std::atomic<bool>* stop);

    // A new process, opened on the model. The paddings shift its memory layout.
    std::unique_ptr<WorkerClient> start(double deadline_s, int64_t environment_padding = 0,
                                        int64_t heap_padding = 0) const;
    // The process that builds and computes references; started when there is none alive.
    WorkerClient& builder_worker(double deadline_s);
    // What that process found when it opened the model.
    const OpenedModel& opened() const { return opened_; }
    // Ends it: the next one is opened with the settings of that time.
    void close_builder_worker() { building_.reset(); }

private:
    std::unique_ptr<WorkerClient> launch(double deadline_s, int64_t environment_padding, int64_t heap_padding) const;

    std::string builder_;
    WorkerOptions worker_;
    OpenRequest request_;
    std::unique_ptr<WorkerClient> building_;
    OpenedModel opened_;
};

}  // namespace headway
