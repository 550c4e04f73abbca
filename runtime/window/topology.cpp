// SPDX-License-Identifier: MIT
//
// Where the ranks' cores sit, from hwloc.
#include "window/window.h"

#include <hwloc.h>
#include <initializer_list>

namespace ws {

namespace {

int index_above(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type)
{
    hwloc_obj_t o = hwloc_get_ancestor_obj_by_type(topology, type, pu);
    return o ? int(o->logical_index) : -1;
}

Place place_of(hwloc_topology_t topology, const cpu_set_t& mask)
{
    Place none = {-1, -1, -1, -1, -1};
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &mask))
            continue;
        hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, cpu);
        if (!pu)
            continue;
        hwloc_obj_t node = hwloc_get_next_obj_covering_cpuset_by_type(topology, pu->cpuset, HWLOC_OBJ_NUMANODE, nullptr);
        return {index_above(topology, pu, HWLOC_OBJ_CORE), index_above(topology, pu, HWLOC_OBJ_L2CACHE),
                index_above(topology, pu, HWLOC_OBJ_L3CACHE), node ? int(node->logical_index) : -1,
                index_above(topology, pu, HWLOC_OBJ_PACKAGE)};
    }
    return none;
}

} // namespace

bool fill_places(Window& window)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (unsigned r = 0; r < window.ranks(); r++)
        CPU_OR(&all, &all, &window.row(r).core.mask);
    window.node().cores = unsigned(CPU_COUNT(&all));

    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) < 0)
        return false;
    // Only what a place needs: devices and instruction caches would cost milliseconds of every MPI_Init.
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (hwloc_obj_type_t type : {HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_PACKAGE})
        hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_ALL);
    bool loaded = hwloc_topology_load(topology) == 0;
    if (loaded)
        for (unsigned r = 0; r < window.ranks(); r++)
            window.row(r).core.place = place_of(topology, window.row(r).core.mask);
    hwloc_topology_destroy(topology);
    return loaded;
}

} // namespace ws
