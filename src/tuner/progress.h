// What the user sees while a study runs: one line that is rewritten on a terminal, a plain line now and then elsewhere.
// Goes to standard error; results go to standard output.
#pragma once

#include <functional>
#include <string>

#include "tuner/budget.h"

namespace headway {

class Progress {
public:
    explicit Progress(const Budget& budget);
    ~Progress();

    // Until then nothing is written but on a terminal: a mistake of the user gives one line, the error.
    void begin() { begun_ = true; }
    // A new phase: always shown.
    void phase(const std::string& name);
    // The best so far and the counts; shown when enough time has passed.
    void update(int trials, int engines, double best_speedup);
    // A line that stays.
    void say(const std::string& text);

private:
    void show();
    void clear_line();

    const Budget& budget_;
    bool terminal_, begun_ = false;
    std::string phase_;
    int trials_ = 0, engines_ = 0;
    double best_ = 1;
    double shown_at_ = -1e9;
};

}  // namespace headway
