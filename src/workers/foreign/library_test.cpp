// Where a runtime's library is looked for, and what is said when it is not there.
#include "workers/foreign/library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary.h"

namespace headway {
namespace {

class LibraryTest : public testing::Test {
protected:
    void SetUp() override {
        ::unsetenv("HEADWAY_NO_RUNTIME");
        ::unsetenv("VIRTUAL_ENV");
    }
    void TearDown() override { SetUp(); }

    std::string place(const std::string& folder, const std::string& file) {
        const std::string path = folder_.path() + "/" + folder;
        std::filesystem::create_directories(path);
        write_file_atomically(path + "/" + file, std::string_view("no library"));
        return path + "/" + file;
    }

    static std::string reason_of(const LibrarySearch& search) {
        try {
            Library library(search);
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    }

    TemporaryFolder folder_;
    LibrarySearch search_{"No Runtime", "HEADWAY_NO_RUNTIME", "no_runtime/capi", "libno_runtime.so", {}, "install it"};
};

TEST_F(LibraryTest, TheEnvironmentVariableDecidesAlone) {
    const std::string file = place("here", "libno_runtime.so.1.2");
    search_.loader_names = {"libc.so.6"};
    for (const std::string& value : {file, folder_.path() + "/here"}) {
        ::setenv("HEADWAY_NO_RUNTIME", value.c_str(), 1);
        EXPECT_EQ(library_candidates(search_), std::vector<std::string>{file});
    }
    ::setenv("HEADWAY_NO_RUNTIME", folder_.path().c_str(), 1);
    EXPECT_THROW(library_candidates(search_), UserError);
    ::setenv("HEADWAY_NO_RUNTIME", "/no/such/file", 1);
    EXPECT_THROW(library_candidates(search_), UserError);
}

TEST_F(LibraryTest, ThenTheActivePythonEnvironmentThenTheLoader) {
    const std::string file = place("venv/lib/python3.11/site-packages/no_runtime/capi", "libno_runtime.so");
    ::setenv("VIRTUAL_ENV", (folder_.path() + "/venv").c_str(), 1);
    search_.loader_names = {"libno_runtime.so.1"};
    EXPECT_EQ(library_candidates(search_), (std::vector<std::string>{file, "libno_runtime.so.1"}));
}

TEST_F(LibraryTest, OpensAndFindsSymbols) {
    search_.loader_names = {"libm.so.6"};
    const Library library(search_);
    EXPECT_NE(library.symbol("cos"), nullptr);
    EXPECT_THROW(library.symbol("no_such_symbol"), UserError);
}

TEST_F(LibraryTest, AnAbsentLibrarySaysWhatToDo) {
    search_.loader_names = {"libno_runtime.so.1"};
    const std::string reason = reason_of(search_);
    EXPECT_NE(reason.find("install it"), std::string::npos) << reason;
    EXPECT_NE(reason.find("HEADWAY_NO_RUNTIME"), std::string::npos) << reason;
    ::setenv("HEADWAY_NO_RUNTIME", place("bad", "libno_runtime.so").c_str(), 1);
    EXPECT_NE(reason_of(search_).find("libno_runtime.so"), std::string::npos);
}

}  // namespace
}  // namespace headway
