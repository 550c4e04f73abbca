// SPDX-License-Identifier: MIT
#include "openmp/library/region_cores.h"

#include "openmp/library/regions.h"
#include "openmp/library/threads.h"
#include "base/own_stack.h"

#include <algorithm>

namespace ws::openmp {

RegionCores* volatile region_cores;
const ShortTasks::Limits* volatile short_tasks;
__thread ShortTasks own_short_tasks;

void set_region_cores(RegionCores* cores)
{
    region_cores = cores;
    see_all_forks();
}

unsigned openmp_usual() { return unsigned(std::max(1, openmp(nullptr).max_threads())); }

void RegionOnCores::open(const void* site)
{
    RegionCores* const cores = region_cores;
    if (!cores || nesting_level() != 0)
        return;
    cores_ = cores;
    threads = cores->open(threads, site, this);
}

__attribute__((cold, noinline)) void TaskAtOnce::find_stack()
{
    const base::OwnStack stack = base::own_stack();
    own_short_tasks.has_stack(stack.bytes ? stack.lowest : 1, stack.bytes); // 1 and 0: no place on it
}

unsigned RegionOnCores::own_number() { return unsigned(openmp(nullptr).thread_num()); }

void RegionMember::run(void* argument)
{
    const RegionMember member = *static_cast<RegionMember*>(argument);
    member.region->run_member([&] { member.fn(member.data); });
}

} // namespace ws::openmp
