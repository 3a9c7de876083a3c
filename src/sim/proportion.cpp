#include "sim/proportion.h"

#include <boost/math/distributions/binomial.hpp>

namespace headway {

double Proportion::lower(double confidence) const {
    if (trials == 0) return 0;
    return boost::math::binomial::find_lower_bound_on_p(trials, hits, 1 - confidence);
}

double Proportion::upper(double confidence) const {
    if (trials == 0) return 1;
    return boost::math::binomial::find_upper_bound_on_p(trials, hits, 1 - confidence);
}

}  // namespace headway
