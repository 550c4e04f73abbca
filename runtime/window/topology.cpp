// SPDX-License-Identifier: MIT
//
// Where the ranks' cores sit, from hwloc.
#include "window/window.h"

#include <cstdlib>
#include <hwloc.h>
#include <initializer_list>
#include <set>

namespace ws::window {

namespace {

// Returns the index of the object of that type that is, or contains, `o`; -1 if there is none.
int index_of(hwloc_topology_t topology, hwloc_obj_t o, hwloc_obj_type_t type)
{
    if (o->type != type)
        o = hwloc_get_ancestor_obj_by_type(topology, type, o);
    return o ? int(o->logical_index) : -1;
}

// The place that holds the whole mask: of a rank that may run on several cores the core is not known, but perhaps their
// package.
Place place_of(hwloc_topology_t topology, base::CpuMask mask)
{
    Place place = {-1, -1, -1, -1, -1};
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        return place;
    hwloc_bitmap_from_ulongs(set, mask.size(), mask.words());
    hwloc_bitmap_and(set, set, hwloc_topology_get_topology_cpuset(topology));
    hwloc_obj_t o = hwloc_bitmap_iszero(set) ? nullptr : hwloc_get_obj_covering_cpuset(topology, set);
    hwloc_obj_t node = nullptr; // the one that has all of it
    while (o && (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) &&
           !hwloc_bitmap_isincluded(set, node->cpuset)) {
    }
    if (o)
        place = {index_of(topology, o, HWLOC_OBJ_CORE), index_of(topology, o, HWLOC_OBJ_L2CACHE),
                 index_of(topology, o, HWLOC_OBJ_L3CACHE), node ? int(node->logical_index) : -1,
                 index_of(topology, o, HWLOC_OBJ_PACKAGE)};
    hwloc_bitmap_free(set);
    return place;
}

// As long as it exists, hwloc finds none of its plugins. They describe GPUs and PCI devices, which are not needed here,
// but loading them with their libraries (OpenCL, X11) takes hwloc_topology_init() 15 ms. Only a variable of the
// environment prevents that. It is for MPI_Init alone: MPI libraries set variables there, too.
class NoPlugins {
public:
    NoPlugins()
    {
        if (!std::getenv(path))
            hides_ = setenv(path, "/nonexistent", 0) == 0;
    }
    ~NoPlugins()
    {
        if (hides_)
            unsetenv(path);
    }
    NoPlugins(const NoPlugins&) = delete;
    NoPlugins& operator=(const NoPlugins&) = delete;

private:
    static constexpr const char* path = "HWLOC_PLUGINS_PATH";
    bool hides_ = false;
};

hwloc_topology_t lent; // see use_topology()

// The one that was lent, else one of our own. Only what is needed to find a place: devices and instruction caches would
// cost every MPI_Init milliseconds. So would the x86 backend, which binds the thread to each CPU in turn and adds
// nothing here to what Linux tells.
class Topology {
public:
    Topology() : t_(lent), loaded_(lent)
    {
        if (lent || hwloc_topology_init(&t_) < 0)
            return;
        hwloc_topology_set_all_types_filter(t_, HWLOC_TYPE_FILTER_KEEP_NONE);
        for (hwloc_obj_type_t type : {HWLOC_OBJ_CORE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_PACKAGE})
            hwloc_topology_set_type_filter(t_, type, HWLOC_TYPE_FILTER_KEEP_ALL);
        // Where NUMA nodes are smaller than packages, what holds their cores.
        hwloc_topology_set_type_filter(t_, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
        hwloc_topology_set_components(t_, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
#if HWLOC_API_VERSION >= 0x00020800
        hwloc_topology_set_flags(t_, HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
                                         HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
#endif
        loaded_ = hwloc_topology_load(t_) == 0;
    }
    ~Topology()
    {
        if (t_ && t_ != lent)
            hwloc_topology_destroy(t_);
    }
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;
    explicit operator bool() const { return loaded_; }
    operator hwloc_topology_t() const { return t_; }

private:
    hwloc_topology_t t_;
    bool loaded_;
};

} // namespace

void use_topology(void* loaded)
{
    lent = static_cast<hwloc_topology_t>(loaded);
    if (lent && hwloc_topology_abi_check(lent) != 0)
        lent = nullptr;
}

bool fill_places(Window& window)
{
    base::CpuSet all;
    for (unsigned c = 0; c < window.cores(); c++)
        all.add(window.mask(c));
    window.node().cpus = all.mask().count();

    const NoPlugins no_plugins;
    Topology topology;
    if (!topology)
        return false;
    for (unsigned c = 0; c < window.cores(); c++)
        window.home(c).place = place_of(topology, window.mask(c));
    return true;
}

std::vector<Place> places_of(const std::vector<int>& cpus)
{
    std::vector<Place> places;
    const NoPlugins no_plugins;
    Topology topology;
    for (int cpu : cpus) {
        base::CpuSet one;
        if (cpu >= 0)
            one.add(cpu);
        places.push_back(topology ? place_of(topology, one) : Place{-1, -1, -1, -1, -1});
    }
    return places;
}

std::vector<int> spare_cpus(base::CpuMask mask, int cpu)
{
    const NoPlugins no_plugins;
    Topology topology;
    auto core_of = [&](int c) { // without a topology each CPU is a core
        hwloc_obj_t pu = topology ? hwloc_get_pu_obj_by_os_index(topology, unsigned(c)) : nullptr;
        int core = pu ? index_of(topology, pu, HWLOC_OBJ_CORE) : -1;
        return core >= 0 ? core : -1 - c;
    };
    std::set<int> used = {core_of(cpu)};
    std::vector<int> cpus;
    for (int c = mask.first(); c >= 0; c = mask.first(c + 1))
        if (used.insert(core_of(c)).second)
            cpus.push_back(c);
    return cpus;
}

std::vector<CpuPlace> cpu_places()
{
    std::vector<CpuPlace> places;
    Topology topology;
    if (!topology)
        return places;
    for (hwloc_obj_t pu = nullptr; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));) {
        if (places.size() <= pu->os_index)
            places.resize(pu->os_index + 1, {-1, -1});
        hwloc_obj_t numa = nullptr;
        while ((numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, numa)) &&
               !hwloc_bitmap_isset(numa->cpuset, pu->os_index)) {
        }
        const int core = index_of(topology, pu, HWLOC_OBJ_CORE);
        places[pu->os_index] = {core >= 0 ? core : int(pu->logical_index), numa ? int(numa->logical_index) : 0};
    }
    return places;
}

} // namespace ws::window
