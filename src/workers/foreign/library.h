// A shared library that is looked for when a builder needs it, so that Headway neither links to other runtimes nor
// needs them: their C interfaces are called through symbols found at run time.
#pragma once

#include <string>
#include <vector>

namespace headway {

struct LibrarySearch {
    std::string runtime;   // "ONNX Runtime", for messages
    std::string variable;  // of the environment: the library's path, or the folder that holds it
    std::string package;   // folder inside a Python environment's site-packages, "onnxruntime/capi"
    std::string file;      // the library's name there, perhaps followed by .VERSION: "libonnxruntime.so"
    std::vector<std::string> loader_names;  // names that the system's loader may know, "libonnxruntime.so.1"
    std::string install;                    // what to do when it is absent
};

// Where the library is: the environment variable when it is set (and then nothing else), the Python environment that is
// active, the .venv of a folder above this program; else a name for the system's loader. UserError when the variable is
// set to something that holds no such library.
std::vector<std::string> library_candidates(const LibrarySearch& search);

class Library {
public:
    // Opens the first candidate that can be opened, with its symbols kept local; never closed again, since runtimes
    // leave threads behind. UserError that says where was looked and how to install it.
    explicit Library(const LibrarySearch& search);

    // UserError when the library has no such symbol.
    void* symbol(const char* name) const;
    const std::string& path() const { return path_; }

private:
    std::string path_;
    void* handle_ = nullptr;
};

}  // namespace headway
