#include "onnx/external_data.h"

#include "base/error.h"
#include "base/text.h"

namespace headway {

ExternalData::Bytes ModelFolder::load(const std::string& location, int64_t offset, int64_t size) {
    std::shared_ptr<const MappedFile>& file = files_[location];
    if (!file) file = std::make_shared<MappedFile>(open_confined(folder_, location), location);
    const auto available = static_cast<int64_t>(file->bytes().size());
    if (offset > available || size > available - offset)
        throw UserError("external data: " + std::to_string(size) + " bytes at " + std::to_string(offset) +
                        " lie outside \"" + escaped(location) + "\" of " + std::to_string(available) + " bytes");
    return {file->bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(size)), file};
}

void ModelFolder::add_to(Hasher& hasher) const {
    for (const auto& [location, file] : files_)
        hasher.add(std::string_view(location)).add_bytes(file->bytes().data(), file->bytes().size());
}

}  // namespace headway
