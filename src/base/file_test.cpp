#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

class Files : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "headway_files_XXXXXX";
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string error_of(const std::string& location) const {
        try {
            ::close(open_confined(folder_, location));
        } catch (const UserError& error) {
            return error.what();
        }
        return "";
    }
    std::string folder_;
};

// Released pages come back from the file, whatever part of a page was named.
TEST_F(Files, ReleasedPagesAreReadAgain) {
    const std::string path = folder_ + "/f";
    std::string text(100000, ' ');
    for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 % 251);
    write_file_atomically(path, text);
    const MappedFile map(path);
    const auto content = [&] { return std::string(reinterpret_cast<const char*>(map.bytes().data()), text.size()); };
    ASSERT_EQ(content(), text);
    for (const auto& [at, count] : {std::pair<size_t, size_t>{0, text.size()}, {5000, 1}, {99999, 1}, {70, 0}}) {
        map.release(map.bytes().subspan(at, count));
        EXPECT_EQ(content(), text);
    }
}

TEST_F(Files, ReadBackWhatWasWritten) {
    const std::string path = folder_ + "/f", text("a\0b", 3);
    write_file_atomically(path, std::string_view(text));
    EXPECT_EQ(read_file(path), text);
    write_file_atomically(path, "shorter"sv);
    EXPECT_EQ(read_file(path), "shorter");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no temporary file is left";
    const MappedFile map(path);
    EXPECT_EQ(map.bytes().size(), 7U);
    EXPECT_EQ(map.bytes()[0], std::byte{'s'});
    write_file_atomically(path, ""sv);
    EXPECT_TRUE(MappedFile(path).bytes().empty());
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    EXPECT_EQ(info.st_mode & 0777, 0666 & ~mask);
}

TEST_F(Files, ErrorsNameThePath) {
    for (const std::string& path : {folder_ + "/absent", folder_, std::string("/dev/null")}) {
        try {
            read_file(path);
            ADD_FAILURE() << path;
        } catch (const UserError& error) {
            EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
        }
        EXPECT_THROW(MappedFile{path}, UserError);
    }
    EXPECT_THROW(write_file_atomically(folder_ + "/absent/f", "x"sv), UserError);
    fs::create_directory(folder_ + "/d");
    EXPECT_THROW(write_file_atomically(folder_ + "/d", "x"sv), UserError);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no temporary file is left";
}

TEST_F(Files, ConfinedFilesStayInsideTheirFolder) {
    fs::create_directories(folder_ + "/in/sub");
    write_file_atomically(folder_ + "/in/sub/f", "1"sv);
    write_file_atomically(folder_ + "/out", "2"sv);
    fs::create_symlink("../out", folder_ + "/in/link");
    fs::create_directory_symlink("sub", folder_ + "/in/linked");
    fs::create_hard_link(folder_ + "/out", folder_ + "/in/hard");
    ASSERT_EQ(::mkfifo((folder_ + "/in/pipe").c_str(), 0600), 0);
    folder_ += "/in";
    EXPECT_EQ(error_of("sub/f"), "");
    EXPECT_EQ(error_of("./sub/./f"), "");
    for (const char* location : {"", "/etc/passwd", "../out", "sub/../../out", "sub//f", "sub/"})
        EXPECT_NE(error_of(location).find("not a path inside"), std::string::npos) << location;
    for (const char* location : {"link", "linked/f"})
        EXPECT_NE(error_of(location).find("links are not followed"), std::string::npos) << location;
    for (const char* location : {"hard", "pipe", "sub"})
        EXPECT_NE(error_of(location).find("not a regular file"), std::string::npos) << location;
    folder_ = fs::path(folder_).parent_path().string();
}

}  // namespace
}  // namespace headway
