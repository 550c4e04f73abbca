// SPDX-License-Identifier: MIT
#pragma once

namespace doctor {

// ws-doctor advise, with its own arguments behind argv[0]. Returns the exit status; throws std::exception with one line
// for the user.
int run_advise(int argc, char** argv);

} // namespace doctor
