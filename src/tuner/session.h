// What all steps of one `tune` share: the study, the time left, the workers, the data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/budget.h"
#include "tuner/judge.h"
#include "tuner/progress.h"
#include "tuner/study.h"
#include "tuner/study_data.h"
#include "tuner/tune.h"
#include "tuner/visits.h"
#include "workers/described_knobs.h"

namespace headway {

// One builder in a session.
struct Arm {
    std::unique_ptr<Workshop> workshop;
    BuilderVersion version;
    std::vector<KnobDescription> described;
    DescribedKnobs knobs;
    RouteSet space;
};

class Session {
public:
    // Checks the output, opens the study, starts the builders, finds data and references, writes or checks the header.
    explicit Session(const TuneOptions& options);
    // Removes scratch files, and a new study that came to nothing.
    ~Session();

    const TuneOptions& options;
    const bool study_existed;
    Budget budget;
    Progress progress;
    Study study;
    std::vector<Arm> arms;
    std::vector<JudgedSample> tuning;
    StudyData data;
    VisitRunner visits;

    std::string scratch() const { return study.folder() + "/scratch"; }
    Arm& arm(const std::string& builder);
    // Seconds that a request may take now: at most `most`, and hardly beyond the end of the budget. Before there is an
    // engine to deliver some seconds are granted in any case.
    double deadline(double most) const;
    // There is an engine of so many bytes to deliver. UserError when the output's folder has no room for it: now rather
    // than after an hour of tuning.
    void has_deliverable(int64_t bytes);
    // Held-out samples with their references, computed now; only for an engine that is about to be delivered.
    std::vector<JudgedSample> open_heldout();

private:
    void open_builders();
    void prepare_data();
    void make_references();
    void check_header();
    std::string reference_for(const StudySample& sample, double deadline_s);

    void set_up();

    bool deliverable_ = false;
    double least_deadline_s_ = 10;
};

}  // namespace headway
