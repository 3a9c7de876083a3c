// External tensor data: files beside the model, opened under the rules of base/file.h and mapped once each.
#pragma once

#include <map>

#include "base/file.h"
#include "base/hash.h"
#include "tensor/tensor_proto.h"

namespace headway {

class ModelFolder : public ExternalData {
public:
    explicit ModelFolder(std::string folder) : folder_(std::move(folder)) {}
    Bytes load(const std::string& location, int64_t offset, int64_t size) override;
    // Adds the contents of all files that were read, by name.
    void add_to(Hasher& hasher) const;

private:
    std::string folder_;
    std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace headway
