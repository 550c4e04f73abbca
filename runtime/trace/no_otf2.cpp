// SPDX-License-Identifier: MIT
//
// In place of otf2.cpp where Workshare was built without the OTF2 library.
#include "trace/writers.h"

namespace ws::trace {

std::string why_no_otf2() { return "this Workshare was built without OTF2; name the trace FILE.json"; }

TraceWriter* new_otf2_writer(const TraceJob&, const std::string&) { return nullptr; } // after why_no_otf2 nobody asks

} // namespace ws::trace
