#include "tuner/workshop.h"

namespace headway {

Workshop::Workshop(std::string builder, WorkerOptions worker, OpenRequest request)
    : builder_(std::move(builder)), worker_(std::move(worker)), request_(std::move(request)) {
    worker_.command.insert(worker_.command.end(), {"--builder", builder_});
}

void Workshop::set_stop(const std::atomic<bool>* stop) {
    worker_.stop = stop;
    if (building_) building_->set_stop(stop);
}

std::unique_ptr<WorkerClient> Workshop::launch(double deadline_s, int64_t environment_padding,
                                               int64_t heap_padding) const {
    WorkerOptions options = worker_;
    options.environment_padding = environment_padding;
    options.heap_padding = heap_padding;
    return std::make_unique<WorkerClient>(options, deadline_s);
}

std::unique_ptr<WorkerClient> Workshop::start(double deadline_s, int64_t environment_padding,
                                              int64_t heap_padding) const {
    auto worker = launch(deadline_s, environment_padding, heap_padding);
    worker->open(request_, deadline_s);
    return worker;
}

WorkerClient& Workshop::builder_worker(double deadline_s) {
    if (!building_ || !building_->alive()) {
        auto worker = launch(deadline_s, 0, 0);
        opened_ = worker->open(request_, deadline_s);
        building_ = std::move(worker);
    }
    return *building_;
}

}  // namespace headway
