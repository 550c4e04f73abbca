// SPDX-License-Identifier: MIT
#include "openmp/site.h"

#include "directive/openmp.h"
#include "loop/participant.h"
#include "loop/site.h"
#include "loop/sites.h"
#include "openmp/code.h"
#include "openmp/deal.h"
#include "openmp/names.h"
#include "window/times.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <new>
#include <type_traits>

namespace ws::openmp {

namespace {

// Open addressing by the function; entries are never taken out.
constexpr unsigned table_bits = 12, most_probes = 64;
RegionSite* volatile table[1u << table_bits];

// Threadprivate variables and thread_local ones: virtual threads that run on one thread would have them in common.
struct Variables {
    uintptr_t function;
    bool first, found;
};
int look_for_variables(dl_phdr_info* info, size_t, void* data)
{
    Variables& v = *static_cast<Variables*>(data);
    bool has = false, contains = v.first; // the program itself, and whose function it is
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        has |= part.p_type == PT_TLS && part.p_memsz;
        contains |= part.p_type == PT_LOAD && v.function - (info->dlpi_addr + part.p_vaddr) < part.p_memsz;
    }
    v.found |= has && contains;
    v.first = false;
    return 0;
}
bool has_own_variables(const void* function)
{
    Variables v = {uintptr_t(function), true, false};
    dl_iterate_phdr(look_for_variables, &v);
    return v.found;
}

bool has_sanitizer() { return dlsym(RTLD_DEFAULT, "__tsan_init") || dlsym(RTLD_DEFAULT, "__asan_init"); }

// What a region may call of OpenMP's.
struct Names {
    bool right = true;      // all of it is right for virtual threads
    bool barriers = false;
};
void take_name(void* to, const char* name)
{
    Names& names = *static_cast<Names*>(to);
    const auto begins = [&](const char* with) { return std::strncmp(name, with, std::strlen(with)) == 0; };
    const auto has = [&](const char* what) { return std::strstr(name, what) != nullptr; };
    const auto is_one_of = [](auto is, std::initializer_list<const char*> texts) {
        return std::any_of(texts.begin(), texts.end(), is);
    };
    const bool waits = is_one_of(begins, {"GOMP_barrier", "GOMP_loop_end", "GOMP_sections_end", "GOMP_single_copy",
                                          "__kmpc_barrier", "__kmpc_reduce", "__kmpc_copyprivate"});
    names.barriers |= waits && !has("nowait");
    names.right &= !is_one_of(has, {"ordered", "doacross", "cancel", "nest_lock", "task"}) &&
                   (waits || is_one_of(begins, {"GOMP_loop_",
                                                "GOMP_sections_",
                                                "GOMP_single_start",
                                                "GOMP_critical_",
                                                "GOMP_atomic_",
                                                "__kmpc_for_static_",
                                                "__kmpc_dispatch_",
                                                "__kmpc_critical",
                                                "__kmpc_end_critical",
                                                "__kmpc_single",
                                                "__kmpc_end_single",
                                                "__kmpc_master",
                                                "__kmpc_end_master",
                                                "__kmpc_masked",
                                                "__kmpc_end_masked",
                                                "__kmpc_end_reduce",
                                                "__kmpc_global_thread_num",
                                                "__kmpc_flush",
                                                "omp_get_wti",
                                                "omp_set_lock",
                                                "omp_unset_lock",
                                                "omp_test_lock",
                                                "omp_init_lock",
                                                "omp_destroy_lock"})) &&
                   std::strcmp(name, "GOMP_loop_start") != 0 && std::strcmp(name, "GOMP_loop_ull_start") != 0;
}

// Where the code shows all, a region is shared the first time that it is run.
void share_at_once(RegionSite& s, bool has_barriers, bool by_number)
{
    s.free = s.first_time = true;
    s.ranges = !has_barriers && !by_number;
    s.units = has_barriers ? 16 : 64;
    s.longest = window::times::unknown_region_us * loop::host().ticks_per_us;
    Hardware::store_relaxed(s.uses, use::loop);
    Hardware::store_relaxed(s.state, Flag(State::shared)); // relaxed: nobody knows of it yet
}

RegionSite* make_site(const void* function)
{
    RegionSite* const s = new (std::nothrow) RegionSite{};
    if (!s)
        return nullptr;
    s->site.where = name_of_function(function);
    s->site.kinds = WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER;
    if (directive::openmp_own() > 1)
        s->site.kinds |= WS_SITE_OPENMP; // the rank's own threads take part as OpenMP's
    s->function = function;
    s->code = code_of(function);
    s->units = directive::openmp_told();
    s->keeps_thread = has_errno_beside_barriers();
    if (has_sanitizer()) { // it knows of one stack a thread
        give_up(*s, "a sanitizer watches its stacks");
        return s;
    }
    if (has_own_variables(function)) {
        give_up(*s, "thread-private variables");
        return s;
    }
    RegionCode code = {};
    Names names;
    const bool is_known = look_at_region(s->code, code, take_name, &names);
    s->may_be_lent = !directive::openmp_unseen() || (is_known && !code.asks);
    if (!directive::openmp_unseen())
        return s;
    if (!is_known)
        give_up(*s, "whether it asks for thread numbers cannot be seen");
    else if (code.asks)
        give_up(*s, "it may ask for thread numbers");
    else if (code.all && code.deals_first && names.right &&
             !(names.barriers && s->keeps_thread && !is_without_errno(s->code, s->code)) &&
             directive::openmp_own() == 1)
        share_at_once(*s, names.barriers, code.by_number);
    return s;
}

unsigned place_of(const void* function)
{
    return unsigned(uintptr_t(function) * 0x9E3779B97F4A7C15ull >> (64 - table_bits));
}

// Than the program was told of: who does not ask cannot keep anything by a thread's number.
bool may_be_fewer(Flag uses) { return (uses & (use::pair | use::loop)) && !(uses & use::numbers); }

// Than the program was told of; and where nobody asks how many, as many for each of the rank's own threads.
unsigned no_more_than(unsigned told, const RegionSite& site)
{
    const unsigned units = std::min(site.units, told), own = directive::openmp_own();
    return own > 1 && units > own && may_be_fewer(Hardware::load_relaxed(site.uses)) ? units / own * own : units;
}

double least_of_phase() { return window::times::virtual_thread_phase_us * loop::host().ticks_per_us; }
constexpr double surely = 1.4;
double grain() { return window::times::virtual_thread_us * loop::host().ticks_per_us; }
unsigned own_units(unsigned units) { return no_fewer_than(directive::openmp_own(), units); }
unsigned choose_own_units(const RegionSite& s, double ticks, double setup)
{
    return own_units(choose_units(ticks, grain(), setup, s.ranges && directive::openmp_own() == 1));
}

} // namespace

RegionSite* find_site(const void* function)
{
    unsigned at = place_of(function);
    for (unsigned i = 0; i < most_probes; i++, at = (at + 1) % (1u << table_bits)) {
        RegionSite* s = window::load_acquire(table[at]); // pairs with the exchange below
        if (!s) {
            RegionSite* const made = make_site(function);
            if (!made)
                return nullptr;
            if (window::exchange_if_acq_rel(table[at], s, made))
                return made;
            delete made; // another thread was faster; its name stays
        }
        if (s->function == function)
            return s;
    }
    return nullptr;
}

void give_up(RegionSite& site, const char* why)
{
    site.why = why;
    Hardware::store_release(site.state, Flag(State::own)); // pairs with now()
}

std::string tell_regions()
{
    if (!directive::openmp_sharer)
        return "";
    const bool unseen = directive::openmp_unseen();
    if (const char* why = directive::openmp_told() || unseen ? nullptr : directive::why_threads_are_fixed())
        return std::string("no parallel region can be shared: ") + why;
    constexpr unsigned most_told = 4;
    unsigned shared = 0, own = 0;
    std::string others;
    for (RegionSite* volatile& entry : table)
        if (const RegionSite* s = window::load_acquire(entry)) {
            shared += s->now() == State::shared;
            const char* why = s->now() == State::own ? s->why : s->now() == State::watched ? s->passed : nullptr;
            if (why && own++ < most_told)
                others += std::string(own > 1 ? ", " : "") + s->site.where + " (" + why + ")";
        }
    std::string text;
    if (shared + own)
        text = "parallel regions that can be shared: " + std::to_string(shared) + " of " + std::to_string(shared + own);
    if (own)
        text += "; not " + others + (own > most_told ? ", ..." : "");
    const auto sites = loop::sites_of_process();
    const auto compiled =
        std::count_if(sites.begin(), sites.end(), [](const ws_site* s) { return s->kinds & WS_SITE_OPENMP; });
    if (compiled && !unseen)
        text +=
            (text.empty() ? "" : "; ") + ("-fws=openmp is no longer needed for the program's loops (" +
                                          std::to_string(compiled) + "): -workshare-openmp=help shares their regions");
    return text;
}

Phase* phase_after(RegionSite& site, const void* barrier)
{
    constexpr unsigned most = std::extent_v<decltype(RegionSite::phases)>;
    for (unsigned i = 0, at = place_of(barrier); i < most; i++, at++) {
        Phase* volatile& entry = site.phases[at % most];
        Phase* phase = window::load_acquire(entry); // pairs with the exchange below
        if (!phase) {
            const bool may_stop = !site.keeps_thread || is_without_errno(site.code, barrier);
            Phase* const made =
                new (std::nothrow) Phase{{name_of_call(barrier), site.site.kinds, {}}, barrier, may_stop};
            if (!made || window::exchange_if_acq_rel(entry, phase, made))
                return made;
            delete made; // another thread was faster; its name stays
        }
        if (phase->barrier == barrier)
            return phase;
    }
    return nullptr;
}

void settle(RegionSite& site, double ticks, unsigned barriers)
{
    const Flag uses = Hardware::load_acquire(site.uses);
    constexpr Flag enough = 4; // executions with no calls at all: the loop may have been empty
    if (!uses && ++site.executions < enough)
        return;
    site.longest = ticks;
    const bool deals = uses & (use::pair | use::loop);
    // What is done before the first loop anew by each counts by how long it takes, where they cannot be told apart
    // anyway.
    site.free = deals && !(uses & (use::numbers | (directive::openmp_unseen() ? 0 : use::far)));
    site.ranges = site.free && !(uses & use::pair);
    if (site.free)
        site.units = choose_own_units(site, ticks, 2 * site.setup);
    if (uses & use::barrier) {
        site.stops = true;
        site.ranges = false;
        if (may_be_fewer(uses))
            site.units = choose_units_that_stop(ticks / (barriers + 1), least_of_phase());
    }
    if (uses & use::unknown) {
        if (!site.why)
            site.why = "a call that cannot be shared";
    } else if (directive::openmp_unseen() && !site.free)
        site.why = uses & use::numbers ? "it asks for thread numbers" : "it deals no loops";
    else if (uses & use::nested)
        site.why = "it opens other regions";
    else if (site.units < 4)
        site.why = "each of its threads prepares more than it shares";
    if (may_be_fewer(uses))
        site.units = own_units(site.units);
    Hardware::store_release(site.state, Flag(site.why ? State::own : State::shared)); // pairs with now()
}

void settle_first(RegionSite& site, double ticks)
{
    site.first_time = false;
    site.longest = ticks;
    if (!site.stops)
        site.units = choose_own_units(site, ticks, 0);
}

void settle_phases(RegionSite& site, unsigned units, double ticks, unsigned phases)
{
    if (units != site.units || !may_be_fewer(Hardware::load_relaxed(site.uses)))
        return;
    // 2: a helper had half of it
    const unsigned wanted = own_units(choose_units_that_stop(2 * ticks / phases, least_of_phase()));
    if (wanted >= units)
        return;
    const double factor = double(units) / wanted; // a virtual thread is another part of each phase now
    const auto scale = [&](ws_site& s) {
        loop::Learned& l = loop::learned(&s);
        loop::poke(l.unit_ticks, loop::peek(l.unit_ticks) * factor);
        loop::poke(l.alone_ticks, loop::peek(l.alone_ticks) * factor);
    };
    scale(site.site);
    for (Phase* volatile& entry : site.phases)
        if (Phase* const phase = window::load_acquire(entry)) // pairs with phase_after()
            scale(phase->site);
    site.units = wanted;
}

unsigned units_of(RegionSite& site, unsigned told, bool said)
{
    if (said)
        return told;
    const bool seen = site.stops || (Hardware::load_relaxed(site.uses) & use::numbers);
    if (site.stops && directive::openmp_unseen())
        return site.units;
    if (!site.free || seen) // no more than the program was told of can wait, or be told apart, at once
        return no_more_than(told, site);
    loop::Learned& l = loop::learned(&site.site);
    const double region = loop::peek(l.unit_ticks) * site.units;
    // Only what is clearly longer or shorter than they fit changes their number: what is measured goes to and fro.
    const auto fit = [&](double ticks) { return choose_own_units(site, ticks, 2 * site.setup); };
    const unsigned wanted = region > 0 ? fit(region) : 0;
    if (wanted == site.units || wanted < 4 ||
        (wanted > site.units ? fit(region / surely) <= site.units : fit(region * surely) >= site.units))
        return site.units;
    const double factor = double(site.units) / wanted; // a unit is another part of the region now
    loop::poke(l.unit_ticks, loop::peek(l.unit_ticks) * factor);
    loop::poke(l.alone_ticks, loop::peek(l.alone_ticks) * factor);
    site.units = wanted;
    return wanted;
}

} // namespace ws::openmp
