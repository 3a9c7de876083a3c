#include "data/samples.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/npy.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

// "set_2" before "set_10".
bool natural_less(const std::string& a, const std::string& b) {
    size_t i = 0, j = 0;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    while (i < a.size() && j < b.size()) {
        if (is_digit(a[i]) && is_digit(b[j])) {
            const auto run = [&](const std::string& text, size_t& at) {
                while (at < text.size() && text[at] == '0') ++at;
                const size_t begin = at;
                while (at < text.size() && is_digit(text[at])) ++at;
                return text.substr(begin, at - begin);
            };
            const std::string x = run(a, i), y = run(b, j);
            if (x.size() != y.size()) return x.size() < y.size();
            if (x != y) return x < y;
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            ++i, ++j;
        }
    }
    return a.size() - i != b.size() - j ? a.size() - i < b.size() - j : a < b;
}

NamedTensor read_pb(const std::string& path) {
    const auto file = std::make_shared<const MappedFile>(path);
    try {
        return read_tensor_proto({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()}, file);
    } catch (const UserError& error) {
        throw UserError(path + ": " + error.what());
    }
}

std::vector<NamedTensor> read_numbered(const fs::path& folder, const std::string& prefix) {
    std::vector<NamedTensor> tensors;
    for (size_t i = 0;; ++i) {
        const fs::path file = folder / (prefix + std::to_string(i) + ".pb");
        if (!fs::exists(file)) return tensors;
        tensors.push_back(read_pb(file.string()));
    }
}

RawSample read_sample_folder(const fs::path& folder) {
    return {folder.string(), read_numbered(folder, "input_"), read_numbered(folder, "output_"), false};
}

RawSample read_sample_archive(const fs::path& file) { return {file.string(), read_npz(file.string()), {}, true}; }

std::string known_names(std::span<const PortSpec> ports) {
    std::string text;
    for (const PortSpec& port : ports) text += (text.empty() ? "\"" : ", \"") + escaped(port.name) + "\"";
    return text.empty() ? "none" : text;
}

std::string dims_text(const PortSpec& port) {
    if (!port.dims) return "any";
    if (port.dims->empty()) return "scalar";
    std::string text;
    for (const int64_t dim : *port.dims) text += (text.empty() ? "" : "x") + (dim < 0 ? "?" : std::to_string(dim));
    return text;
}

bool fits(const Shape& shape, const PortSpec& port) {
    if (!port.dims) return true;
    if (shape.rank() != port.dims->size()) return false;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
        if ((*port.dims)[axis] >= 0 && (*port.dims)[axis] != shape[axis]) return false;
    return true;
}

int64_t first_nan(const Tensor& tensor) {
    if (!is_float(tensor.type())) return -1;
    for (int64_t i = 0; i < tensor.elements(); ++i)
        if (tensor.at(i) != tensor.at(i)) return i;
    return -1;
}

class Matcher {
public:
    Matcher(const RawSample& raw, std::span<const PortSpec> inputs, std::span<const PortSpec> outputs)
        : raw_(raw), input_ports_(inputs), output_ports_(outputs) {}

    Sample match() const {
        Sample sample{raw_.origin, {}, {}};
        sample.inputs =
            match_side(raw_.inputs, input_ports_, "input", raw_.by_name ? output_ports_ : std::span<const PortSpec>{});
        for (size_t i = 0; i < input_ports_.size(); ++i) check_input(input_ports_[i], sample.inputs[i]);
        sample.outputs = match_outputs();
        return sample;
    }

private:
    [[noreturn]] void fail(const std::string& message) const { throw UserError(raw_.origin + ": " + message); }

    static bool names(const PortSpec& port, const NamedTensor& tensor) { return port.name == tensor.name; }

    static const NamedTensor* find(std::span<const NamedTensor> tensors, const PortSpec& port) {
        const auto found =
            std::ranges::find_if(tensors, [&](const NamedTensor& tensor) { return names(port, tensor); });
        return found == tensors.end() ? nullptr : &*found;
    }
    static bool has(std::span<const PortSpec> ports, const NamedTensor& tensor) {
        return std::ranges::any_of(ports, [&](const PortSpec& port) { return names(port, tensor); });
    }

    std::vector<Tensor> match_side(std::span<const NamedTensor> tensors, std::span<const PortSpec> ports,
                                   const char* what, std::span<const PortSpec> others) const {
        const bool by_name =
            raw_.by_name || std::ranges::all_of(tensors, [&](const NamedTensor& tensor) { return has(ports, tensor); });
        for (const NamedTensor& tensor : tensors)
            if (by_name && !has(ports, tensor) && !has(others, tensor))
                fail("\"" + escaped(tensor.name) + "\" is no input or output of the model; its inputs: " +
                     known_names(input_ports_) + "; outputs: " + known_names(output_ports_));
        for (size_t i = 0; by_name && i < tensors.size(); ++i)
            for (size_t j = 0; j < i; ++j)
                if (tensors[i].name == tensors[j].name)
                    fail("two tensors are named \"" + escaped(tensors[i].name) + "\"");
        if (!by_name && tensors.size() > ports.size())
            fail(std::to_string(tensors.size()) + " " + what + "s, but the model has " + std::to_string(ports.size()));
        std::vector<Tensor> matched;
        for (size_t i = 0; i < ports.size(); ++i) {
            const NamedTensor* tensor = by_name ? find(tensors, ports[i]) : i < tensors.size() ? &tensors[i] : nullptr;
            if (tensor == nullptr && ports[i].value) {
                matched.push_back(*ports[i].value);
                continue;
            }
            if (tensor == nullptr) fail(std::string(what) + " \"" + escaped(ports[i].name) + "\" is missing");
            check_form(ports[i], tensor->tensor, what);
            matched.push_back(tensor->tensor);
        }
        return matched;
    }

    std::vector<Tensor> match_outputs() const {
        std::vector<NamedTensor> named;
        if (raw_.by_name) {
            for (const NamedTensor& tensor : raw_.inputs)
                if (has(output_ports_, tensor) && !has(input_ports_, tensor)) named.push_back(tensor);
        }
        const std::vector<NamedTensor>& tensors = raw_.by_name ? named : raw_.outputs;
        if (tensors.empty()) return {};
        return match_side(tensors, output_ports_, "output", {});
    }

    void check_form(const PortSpec& port, const Tensor& tensor, const char* what) const {
        const std::string place = std::string(what) + " \"" + escaped(port.name) + "\" ";
        if (port.type != ElementType::undefined && tensor.type() != port.type)
            fail(place + "is " + std::string(to_string(tensor.type())) + ", the model has " +
                 std::string(to_string(port.type)));
        if (!fits(tensor.shape(), port))
            fail(place + "has shape " + tensor.shape().text() + ", the model has " + dims_text(port));
    }

    void check_input(const PortSpec& port, const Tensor& tensor) const {
        const int64_t nan = first_nan(tensor);
        if (nan >= 0) fail("input \"" + escaped(port.name) + "\" holds NaN at element " + std::to_string(nan));
        if (port.value && !std::ranges::equal(port.value->bytes(), tensor.bytes()))
            fail("input \"" + escaped(port.name) + "\" has another value than the one that was fixed");
    }

    const RawSample& raw_;
    std::span<const PortSpec> input_ports_, output_ports_;
};

std::vector<RawSample> read_folder(const fs::path& folder) {
    if (fs::exists(folder / "input_0.pb")) return {read_sample_folder(folder)};
    std::vector<std::string> folders, archives;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.is_directory() && fs::exists(entry.path() / "input_0.pb")) folders.push_back(entry.path().string());
        if (entry.is_regular_file() && entry.path().extension() == ".npz") archives.push_back(entry.path().string());
    }
    if (!folders.empty() && !archives.empty())
        throw UserError(folder.string() + ": both sample folders and .npz files; keep one kind in a folder");
    if (folders.empty() && archives.empty())
        throw UserError(folder.string() + ": no data; expected test_data_set_*/input_0.pb, input_0.pb or *.npz in it");
    std::ranges::sort(folders, natural_less);
    std::ranges::sort(archives, natural_less);
    std::vector<RawSample> samples;
    for (const std::string& path : folders) samples.push_back(read_sample_folder(path));
    for (const std::string& path : archives) samples.push_back(read_sample_archive(path));
    return samples;
}

}  // namespace

Hash Sample::hash() const {
    Hasher hasher;
    for (const Tensor& tensor : inputs) hasher.add(tensor.hash());
    return hasher.finish();
}

std::vector<RawSample> read_samples(const std::string& path) {
    try {
        if (fs::is_directory(path)) return read_folder(path);
        if (fs::is_regular_file(path) && fs::path(path).extension() == ".npz") return {read_sample_archive(path)};
        if (!fs::exists(path)) throw UserError(path + ": no such file or folder");
        throw UserError(path + ": not a data set; expected a folder or an .npz file");
    } catch (const fs::filesystem_error& error) {
        throw UserError(path + ": " + error.code().message());
    }
}

Sample match_sample(const RawSample& raw, std::span<const PortSpec> inputs, std::span<const PortSpec> outputs) {
    return Matcher(raw, inputs, outputs).match();
}

std::vector<Sample> load_samples(const std::string& path, std::span<const PortSpec> inputs,
                                 std::span<const PortSpec> outputs) {
    std::vector<Sample> samples;
    for (const RawSample& raw : read_samples(path)) samples.push_back(match_sample(raw, inputs, outputs));
    return samples;
}

void write_sample(const std::string& folder, std::span<const NamedTensor> inputs,
                  std::span<const NamedTensor> outputs) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw UserError("cannot make folder " + folder + ": " + error.message());
    const auto write_all = [&](const char* prefix, std::span<const NamedTensor> tensors) {
        for (size_t i = 0; i < tensors.size(); ++i)
            write_file_atomically((fs::path(folder) / (prefix + std::to_string(i) + ".pb")).string(),
                                  write_tensor_proto(tensors[i].tensor, tensors[i].name));
    };
    write_all("input_", inputs);
    write_all("output_", outputs);
}

Split split_samples(std::span<const Sample> samples) {
    std::map<Hash, std::vector<size_t>> by_hash;
    for (size_t i = 0; i < samples.size(); ++i) by_hash[samples[i].hash()].push_back(i);
    Split split;
    size_t rank = 0;
    for (const auto& [hash, indices] : by_hash) {
        const bool is_held_out = by_hash.size() >= 3 && ++rank % 3 == 0;
        std::vector<size_t>& side = is_held_out ? split.heldout : split.tuning;
        side.insert(side.end(), indices.begin(), indices.end());
    }
    std::ranges::sort(split.tuning);
    std::ranges::sort(split.heldout);
    return split;
}

}  // namespace headway
