// A folder of its own under the system's temporary folder, removed with all it holds at the end of its scope.
#pragma once

#include <string>

namespace headway {

class TemporaryFolder {
public:
    TemporaryFolder();  // UserError when none can be made
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace headway
