// SPDX-License-Identifier: MIT
//
// When the letters of policies travel (mail/): while a rank waits in MPI; and, for programs that never wait, now and
// then when the home thread enters an MPI function. In a job whose policies write no letters nothing of this runs.
#pragma once

#include "mail/mail.h"

namespace ws::policy {
class Runner;
}

namespace ws::mpi {

struct Job;

// Collective over MPI_COMM_WORLD, before the policies attach; the calling thread, the home thread, carries from here
// on. Null if no policy writes letters.
mail::Mail* open_mail(policy::Runner& runner);
// Puts itself in front of the hooks `blocked` and `called`, which must be set already.
void carry_in_hooks(Job& job);
// Collective, in MPI_Finalize: returns when all letters have arrived, including those posted in answer to letters.
void close_mail(Job& job);

} // namespace ws::mpi
