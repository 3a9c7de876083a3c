#include "workers/foreign/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

// `name` itself or with a version behind it, in a folder; the newest by name. Empty when there is none.
std::string library_in(const fs::path& folder, const std::string& name) {
    std::string found;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
        const std::string file = entry.path().filename().string();
        if (file == name || file.starts_with(name + ".")) found = std::max(found, entry.path().string());
    }
    return found;
}

std::string library_in_environment(const fs::path& environment, const LibrarySearch& search) {
    std::error_code failed;
    for (const fs::directory_entry& python : fs::directory_iterator(environment / "lib", failed))
        if (python.path().filename().string().starts_with("python"))
            if (std::string found = library_in(python.path() / "site-packages" / search.package, search.file);
                !found.empty())
                return found;
    return "";
}

}  // namespace

std::vector<std::string> library_candidates(const LibrarySearch& search) {
    if (const char* set = std::getenv(search.variable.c_str()); set != nullptr && *set != '\0') {
        std::string found = fs::is_directory(set) ? library_in(set, search.file) : fs::exists(set) ? set : "";
        if (found.empty())
            throw UserError(search.variable + "=" + escaped(set) + " is no " + search.file + " and no folder with one");
        return {found};
    }
    std::vector<std::string> candidates;
    const auto look = [&](const fs::path& environment) {
        if (std::string found = library_in_environment(environment, search); !found.empty())
            candidates.push_back(std::move(found));
    };
    if (const char* active = std::getenv("VIRTUAL_ENV"); active != nullptr && *active != '\0') look(active);
    std::error_code failed;
    for (fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path(); !folder.empty();
         folder = folder.parent_path()) {
        look(folder / ".venv");
        if (folder == folder.root_path()) break;
    }
    candidates.insert(candidates.end(), search.loader_names.begin(), search.loader_names.end());
    return candidates;
}

Library::Library(const LibrarySearch& search) {
    std::string reasons;
    for (const std::string& candidate : library_candidates(search)) {
        handle_ = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) {
            path_ = candidate;
            return;
        }
        reasons += (reasons.empty() ? "" : "; ") + std::string(::dlerror());
    }
    throw UserError(search.runtime + " is not on this machine (looked at " + search.variable +
                    ", $VIRTUAL_ENV, .venv above the program, the system's libraries: " + reasons + "); " +
                    search.install);
}

void* Library::symbol(const char* name) const {
    void* found = ::dlsym(handle_, name);
    if (found == nullptr) throw UserError(path_ + " has no symbol " + name);
    return found;
}

}  // namespace headway
