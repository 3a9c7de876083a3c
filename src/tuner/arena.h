// Where engines meet: the default engine as the reference of every visit, the control that says whether this machine
// can be trusted, and the visits that compare candidates with the reference.
#pragma once

#include <string>
#include <vector>

#include "measure/judge.h"
#include "measure/machine_profile.h"
#include "tuner/session.h"

namespace headway {

class Arena {
public:
    Arena(Session& session, std::string reference);

    // Warm-up, then visits of the reference against a byte copy of itself, as many as a small part of the budget holds.
    void run_control();
    const Control& control() const { return control_; }

    // One heat: the reference and these engines (fingerprints). Records the visit. Engines that failed are returned and
    // recorded as failed; the others were visited once.
    std::vector<std::string> visit(const std::vector<std::string>& engines, Purpose purpose);

    double expected_seconds(size_t candidates, Purpose purpose) const;
    // Candidates beside the reference that fit the memory.
    int heat_size() const;
    // Mean log speed-up of the selection visits of an engine and of those that share its timing key; NaN without any.
    double selection_estimate(const EngineRecord& engine) const;
    const std::string& reference() const { return reference_; }

private:
    VisitPlan plan(Purpose purpose) const;
    // Measures the reference alone or its copy; again when their worker failed, a few times.
    template <class Measure>
    auto patiently(Measure measure);
    std::vector<ControlVisit> control_visits();
    void learn(const std::vector<ControlVisit>& visits);
    int affordable_rounds(const VisitCost& cost) const;
    Visitor visitor(const std::string& fingerprint) const;

    Session& session_;
    std::string reference_;
    Control control_;
    int reference_failures_ = 0;
    int64_t warmup_ = 3;        // iterations until the reference's times settle
    int64_t short_warmup_ = 3;  // of selection visits
    double iteration_ns_ = 0;   // of the reference, in the control
    int confirm_rounds_ = 4;
};

}  // namespace headway
