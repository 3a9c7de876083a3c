#include "data/batch.h"

#include <algorithm>

#include "base/checked.h"
#include "base/text.h"

namespace headway {
namespace {

// Along the first axis; `origin` is where the first part came from.
Tensor join(const std::vector<const Tensor*>& parts, const std::string& origin) {
    const Tensor& first = *parts.front();
    const auto misfit = [&](const Tensor& part) {
        return part.type() != first.type() || part.shape().dims().size() != first.shape().dims().size() ||
               !std::equal(part.shape().dims().begin() + 1, part.shape().dims().end(),
                           first.shape().dims().begin() + 1);
    };
    if (first.shape().dims().empty()) {
        for (const Tensor* part : parts)
            if (part->hash() != first.hash())
                throw UserError(origin +
                                ": a batch needs the same value in each of its samples where an input has no axes");
        return first;
    }
    std::vector<int64_t> dims = first.shape().dims();
    dims.front() = 0;
    for (const Tensor* part : parts) {
        if (part->shape().dims().empty() || misfit(*part))
            throw UserError(origin + ": its samples cannot be joined to a batch: " + first.shape().text() + " and " +
                            part->shape().text());
        dims.front() = checked_add(dims.front(), part->shape().dims().front(), "batch");
    }
    Tensor joined(first.type(), Shape(dims));
    auto at = joined.mutable_bytes().begin();
    for (const Tensor* part : parts) at = std::ranges::copy(part->bytes(), at).out;
    return joined;
}

std::vector<size_t> members(size_t first, size_t samples, int64_t batch) {
    std::vector<size_t> list;
    for (int64_t k = 0; k < batch; ++k) list.push_back((first + static_cast<size_t>(k)) % samples);
    return list;
}

std::vector<Tensor> join_all(std::span<const Sample> samples, const std::vector<size_t>& batch,
                             std::vector<Tensor> Sample::*tensors) {
    std::vector<Tensor> joined;
    for (size_t port = 0; port < (samples[batch.front()].*tensors).size(); ++port) {
        std::vector<const Tensor*> parts;
        for (const size_t member : batch) parts.push_back(&(samples[member].*tensors)[port]);
        joined.push_back(join(parts, samples[batch.front()].origin));
    }
    return joined;
}

}  // namespace

std::vector<Sample> batch_samples(std::span<const Sample> samples, int64_t batch) {
    HEADWAY_CHECK(batch > 0);
    std::vector<Sample> batches;
    for (size_t first = 0; first < samples.size(); ++first) {
        const std::vector<size_t> batch_members = members(first, samples.size(), batch);
        batches.push_back({samples[first].origin, join_all(samples, batch_members, &Sample::inputs),
                           join_all(samples, batch_members, &Sample::outputs)});
    }
    return batches;
}

RawSample batch_first(std::span<const RawSample> samples, int64_t batch) {
    HEADWAY_CHECK(batch > 0 && !samples.empty());
    RawSample joined = samples.front();
    joined.outputs.clear();
    for (size_t port = 0; port < joined.inputs.size(); ++port) {
        std::vector<const Tensor*> parts;
        for (const size_t member : members(0, samples.size(), batch)) {
            if (samples[member].inputs.size() != joined.inputs.size())
                throw UserError(samples[member].origin +
                                ": its samples cannot be joined to a batch: another number of inputs");
            parts.push_back(&samples[member].inputs[port].tensor);
        }
        joined.inputs[port].tensor = join(parts, joined.origin);
    }
    return joined;
}

}  // namespace headway
