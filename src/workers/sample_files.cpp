#include "workers/sample_files.h"

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "tensor/tensor_proto.h"

namespace headway {

std::vector<PortSpec> port_specs(std::span<const PortDescription> ports) {
    std::vector<PortSpec> specs;
    for (const PortDescription& port : ports) {
        PortSpec spec;
        spec.name = port.name;
        spec.type = element_type_from_string(port.type);
        if (!port.any_rank) spec.dims = port.dims;
        specs.push_back(std::move(spec));
    }
    return specs;
}

std::vector<Tensor> read_sample(const std::string& folder, size_t count) {
    std::vector<Tensor> tensors;
    for (size_t k = 0; k < count; ++k) {
        const std::string path = folder + "/input_" + std::to_string(k) + ".pb";
        const auto file = std::make_shared<const std::string>(read_file(path));
        try {
            tensors.push_back(read_tensor_proto(*file, file).tensor);
        } catch (const UserError& error) {
            throw UserError(path + ": " + error.what());
        }
    }
    return tensors;
}

std::vector<Tensor> read_sample(const std::string& folder, std::span<const PortSpec> ports) {
    if (ports.empty()) return {};
    std::vector<RawSample> samples = read_samples(folder);
    if (samples.size() != 1) throw UserError(folder + ": holds more than one sample");
    samples.front().outputs.clear();
    return match_sample(samples.front(), ports, {}).inputs;
}

void write_outputs(const std::string& folder, std::span<const std::string> names, std::span<const Tensor> outputs) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) throw UserError("cannot make the folder " + folder + ": " + failed.message());
    for (size_t k = 0; k < outputs.size(); ++k)
        write_file_atomically(folder + "/output_" + std::to_string(k) + ".pb",
                              write_tensor_proto(outputs[k], names[k]));
}

}  // namespace headway
