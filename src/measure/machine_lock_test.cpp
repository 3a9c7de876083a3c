#include "measure/machine_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

class MachineLockTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "lock.XXXXXX").string();
        folders_ = {"/nonexistent/folder", ::mkdtemp(name.data())};
    }
    void TearDown() override { fs::remove_all(folders_[1]); }
    std::vector<std::string> folders_;
};

// What another process sees, as an exit code.
template <class Call>
int in_child(Call call) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(call());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(MachineLockTest, OneHolderAtATime) {
    EXPECT_EQ(MachineLock::holder(folders_), "");
    {
        const MachineLock lock = MachineLock::acquire("tune a \"model\"", 0, folders_);
        EXPECT_EQ(MachineLock::holder(folders_),
                  "pid " + std::to_string(::getpid()) + ", tune a \\x5Cx22model\\x5Cx22");
        EXPECT_FALSE(MachineLock::try_acquire("bench", folders_));
        EXPECT_EQ(in_child([&] { return MachineLock::try_acquire("bench", folders_) ? 1 : 2; }), 2);
        try {
            MachineLock::acquire("bench", 0.05, folders_);
            ADD_FAILURE() << "a second holder";
        } catch (const UserError& error) {
            EXPECT_NE(std::string(error.what()).find("pid " + std::to_string(::getpid())), std::string::npos);
        }
    }
    EXPECT_EQ(MachineLock::holder(folders_), "");
    EXPECT_TRUE(MachineLock::try_acquire("bench", folders_));
}

TEST_F(MachineLockTest, ADeadHolderHoldsNothing) {
    EXPECT_EQ(in_child([&] {
                  const MachineLock lock = MachineLock::acquire("to die with it", 0, folders_);
                  ::_exit(7);
                  return 0;
              }),
              7);
    EXPECT_TRUE(MachineLock::try_acquire("bench", folders_));
}

TEST_F(MachineLockTest, MovesAndReleases) {
    auto first = MachineLock::try_acquire("a", folders_);
    ASSERT_TRUE(first);
    MachineLock second = std::move(*first);
    first.reset();
    EXPECT_NE(MachineLock::holder(folders_), "");
}

TEST_F(MachineLockTest, OtherUsersCanTakeIt) {
    const mode_t mask = ::umask(077);
    MachineLock::try_acquire("a", folders_);
    ::umask(mask);
    struct stat info {};
    ASSERT_EQ(::stat((folders_[1] + "/headway-measure.lock").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0666u);
}

TEST_F(MachineLockTest, LinksAreNotFollowed) {
    fs::create_symlink(folders_[1] + "/victim", folders_[1] + "/headway-measure.lock");
    EXPECT_THROW(MachineLock::try_acquire("a", folders_), UserError);
    EXPECT_FALSE(fs::exists(folders_[1] + "/victim"));
    EXPECT_THROW(MachineLock::try_acquire("a", {"/nonexistent/folder"}), UserError);
}

}  // namespace
}  // namespace headway
