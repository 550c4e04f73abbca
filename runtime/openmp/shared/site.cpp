// SPDX-License-Identifier: MIT
#include "openmp/shared/site.h"

#include "openmp/library/regions.h"
#include "openmp/library/threads.h"
#include "loop/participant.h"
#include "openmp/library/names.h"
#include "openmp/shared/share.h"

#include <cstdio>
#include <new>
#include <type_traits>

namespace ws::openmp {

// If a chunk of a loop takes less than this, or than a third of it if cores compete for the chunk, then assigning it to
// a virtual thread may cost more than sharing gains.
constexpr double short_chunk_us = 0.15;

namespace {

// Open addressing by the function; entries are never taken out.
constexpr unsigned table_bits = 12, most_probes = 64;
RegionSite* volatile table[1u << table_bits];
volatile Flag made_so_far;

unsigned place_of(const void* function)
{
    return unsigned(uintptr_t(function) * 0x9E3779B97F4A7C15ull >> (64 - table_bits));
}

RegionSite* make_site(const void* function)
{
    RegionSite* const s = new (std::nothrow) RegionSite{};
    if (!s)
        return nullptr;
    s->site.where = name_of_function(function);
    s->site.kinds = WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER;
    s->again = s->site;
    s->function = function;
    return s;
}

} // namespace

RegionSite* find_site(const void* function)
{
    unsigned at = place_of(function);
    for (unsigned i = 0; i < most_probes; i++, at = (at + 1) % (1u << table_bits)) {
        RegionSite* s = base::load_acquire(table[at]); // pairs with keep_first()
        if (!s) {
            RegionSite* const made = make_site(function);
            if (!made)
                return nullptr;
            s = base::keep_first(table[at], made); // another thread's may be another function's; a name stays
            if (s == made)
                Hardware::fetch_add_full(made_so_far, 1); // relaxed would do: it counts
        }
        if (s->function == function)
            return s;
    }
    return nullptr;
}

unsigned sites_made() { return Hardware::load_relaxed(made_so_far); }

ws_site* site_after(RegionSite& site, const void* barrier)
{
    constexpr unsigned most = std::extent_v<decltype(RegionSite::phases)>;
    for (unsigned i = 0, at = place_of(barrier); i < most; i++, at++) {
        Phase* volatile& entry = site.phases[at % most];
        Phase* phase = base::load_acquire(entry); // pairs with keep_first()
        if (!phase) {
            Phase* const made =
                new (std::nothrow) Phase{{name_of_call(barrier), site.site.kinds, {}}, barrier, nullptr};
            if (!made)
                break;
            phase = base::keep_first(entry, made); // a name stays
        }
        if (phase->barrier == barrier)
            return &phase->site;
    }
    return &site.again;
}

LongestFirst* order_of(RegionSite& site, ws_site* loop)
{
    if (loop == &site.again)
        return nullptr;
    // All others are the first member of their phase.
    LongestFirst* volatile& entry = loop == &site.site ? site.order : reinterpret_cast<Phase*>(loop)->order;
    if (LongestFirst* const order = base::load_acquire(entry)) // pairs with keep_first()
        return order;
    LongestFirst* const made = new (std::nothrow) LongestFirst;
    return made ? base::keep_first(entry, made) : nullptr;
}

namespace {
double chunk_us(const RegionSite& s)
{
    const double claims = double(Hardware::load_relaxed(s.claims)), ticks = double(Hardware::load_relaxed(s.ticks));
    return claims < 1000 ? 1e9 : ticks / claims / loop::host().ticks_per_us;
}
// The region with the shortest chunks, if those that are too short take a good part of the time; or null.
const RegionSite* finest_region()
{
    constexpr double good_part = 0.2;
    double all = 0, fine = 0;
    const RegionSite* finest = nullptr;
    for (RegionSite* volatile& entry : table)
        if (const RegionSite* s = base::load_acquire(entry)) {
            const double ticks = double(Hardware::load_relaxed(s->ticks));
            all += ticks;
            if (chunk_us(*s) >= short_chunk_us)
                continue;
            fine += ticks;
            if (!finest || chunk_us(*s) < chunk_us(*finest))
                finest = s;
        }
    return fine > good_part * all ? finest : nullptr;
}
} // namespace

bool gain_is_unknown()
{
    for (RegionSite* volatile& entry : table)
        if (const RegionSite* s = base::load_acquire(entry); s && s->waits)
            return true;
    return finest_region() != nullptr;
}

RegionsTold tell_regions()
{
    if (!is_share_asked())
        return {};
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
    if (const char* why = why_not_shared()) {
        // Where regions are shared, all is well: another program of the job may load what this one does not.
        if (const std::string missing = trusted_and_missing(); !missing.empty())
            add("-workshare-openmp-trust names what the program does not load: " + missing);
        add(std::string("no parallel region is shared: ") + why);
        return {text, 1 << 20}; // more than the table has
    }
    constexpr unsigned most_told = 2;
    unsigned all = 0, waiting = 0, kept = 0;
    const RegionSite* const finest = finest_region();
    std::string waits, others;
    for (RegionSite* volatile& entry : table)
        if (const RegionSite* s = base::load_acquire(entry)) {
            all++;
            if (s->waits && waiting++ < most_told)
                waits += std::string(waiting > 1 ? ", " : "") + s->site.where + " (" + s->waits + ")";
            else if (s->kept && kept++ < most_told)
                others += std::string(kept > 1 ? ", " : "") + s->site.where + " (" + s->kept + ")";
        }
    if (waiting)
        add("-workshare-openmp=off suits this program better: threads wait for each other in " +
               std::to_string(waiting) + " of " + std::to_string(all) + " parallel regions: " + waits +
            (waiting > most_told ? ", ..." : ""));
    if (kept)
        add(std::to_string(kept) + " of " + std::to_string(all) +
                " parallel regions ran without sharing: " + others + (kept > most_told ? ", ..." : ""));
    if (finest) {
        char fine[64];
        std::snprintf(fine, sizeof fine, " takes %.0f ns, so ", chunk_us(*finest) * 1e3);
        add(std::string("a chunk of the loops in ") + finest->site.where + fine +
            "claiming chunks may cost more than sharing gains; larger chunks help (schedule, OMP_SCHEDULE)");
    }
    return {text, int(waiting + kept + (finest != nullptr))};
}

} // namespace ws::openmp
