// The study's log: append-only, one JSON object per line, on disk before the step it announces begins. A torn last line
// (the machine or the tuner died while writing) is dropped; anything else that is wrong is an error. Locked while open.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace headway {

class StudyLog {
public:
    // Creates the folder and the log where they are missing. UserError when another process has the study open.
    explicit StudyLog(const std::string& folder);
    ~StudyLog();
    StudyLog(const StudyLog&) = delete;
    StudyLog& operator=(const StudyLog&) = delete;

    // The lines that were there when the log was opened.
    const std::vector<std::string>& lines() const { return lines_; }
    // UserError when the line cannot be made durable (full disk); the log then ends where it ended before.
    void append(const nlohmann::json& line);

    // The lines of a log that nobody needs to lock: for reports.
    static std::vector<std::string> read(const std::string& folder);

private:
    void drop_torn_line();

    std::string path_;
    int file_ = -1;
    std::vector<std::string> lines_;
};

}  // namespace headway
