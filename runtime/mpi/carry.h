// SPDX-License-Identifier: MIT
//
// When the letters of policies travel (mail/): in the time of a rank that waits in MPI, and, for programs that never wait, when an MPI
// function is entered by the home thread, once in a while. In a job whose policies write none nothing of this runs.
#pragma once

#include "mail/mail.h"

namespace ws::policy {
class Runner;
}

namespace ws::mpi {

// Collective over MPI_COMM_WORLD, before the policies attach; the calling thread, the home thread, carries from here on. Null if no policy
// writes letters.
mail::Mail* open_mail(policy::Runner& runner);
// Puts itself before the hooks `blocked` and `called`, which are set.
void carry_in_hooks();
// Collective, in MPI_Finalize: until all letters have arrived, those that they bring about included.
void close_mail();

} // namespace ws::mpi
