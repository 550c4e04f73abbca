// SPDX-License-Identifier: MIT
#include "window/registry.h"

#include "window/types.h"
#include <boost/date_time/posix_time/posix_time_types.hpp>
#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/containers/map.hpp>
#include <boost/interprocess/containers/string.hpp>
#include <boost/interprocess/managed_external_buffer.hpp>
#include <boost/interprocess/sync/interprocess_mutex.hpp>
#include <boost/interprocess/sync/scoped_lock.hpp>
#include <memory>

namespace ws {

namespace bi = boost::interprocess;

namespace {

using Segment = bi::managed_external_buffer;
template <class T> using Allocator = bi::allocator<T, Segment::segment_manager>;
using Name = bi::basic_string<char, std::char_traits<char>, Allocator<char>>;

struct Tally {
    uint64_t regions, iterations, stolen;
};
using Entry = std::pair<const Name, Tally>;
using Loops = bi::map<Name, Tally, std::less<Name>, Allocator<Entry>>;

struct Registry {
    explicit Registry(Segment& s) : loops(std::less<Name>(), s.get_segment_manager()) {}
    bi::interprocess_mutex mutex;
    Loops loops;
};

std::unique_ptr<Segment> segment;
Registry* registry;

using Lock = bi::scoped_lock<bi::interprocess_mutex>;
Lock lock_briefly()
{
    return Lock(registry->mutex,
                boost::posix_time::microsec_clock::universal_time() + boost::posix_time::milliseconds(1));
}

} // namespace

bool registry_create(void* memory)
{
    try {
        segment = std::make_unique<Segment>(bi::create_only, memory, registry_bytes);
        registry = segment->construct<Registry>(bi::unique_instance)(*segment);
        return true;
    } catch (const std::exception&) { // bad_alloc and interprocess_exception: no names then
        return false;
    }
}

bool registry_open(void* memory)
{
    try {
        segment = std::make_unique<Segment>(bi::open_only, memory, registry_bytes);
        registry = segment->find<Registry>(bi::unique_instance).first;
        return registry != nullptr;
    } catch (const std::exception&) {
        return false;
    }
}

void registry_add(const char* where, uint64_t regions, uint64_t iterations, uint64_t stolen)
{
    if (!registry)
        return;
    try {
        Lock lock = lock_briefly();
        if (!lock)
            return;
        Name name(where, segment->get_segment_manager());
        Tally& t = registry->loops.emplace(std::move(name), Tally{}).first->second;
        t.regions += regions;
        t.iterations += iterations;
        t.stolen += stolen;
    } catch (const std::exception&) { // full: this loop stays unnamed
    }
}

LoopRecord registry_top()
{
    LoopRecord top;
    if (!registry)
        return top;
    Lock lock = lock_briefly();
    if (!lock)
        return top;
    for (const Entry& e : registry->loops)
        if (e.second.stolen > top.stolen)
            top = {e.first.c_str(), e.second.regions, e.second.iterations, e.second.stolen};
    return top;
}

} // namespace ws
