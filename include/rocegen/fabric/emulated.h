/// The smallest fabric: two NICs and one full-duplex link, without response times.
#pragma once

#include "rocegen/fabric/fabric.h"

namespace rocegen {

class EmulatedLink : public Fabric {
public:
    /// The plan has two ports.
    EmulatedLink(const Plan& plan, const LinkConfig& link) : Fabric(plan, one_link(link)) {}
};

}  // namespace rocegen
