// SPDX-License-Identifier: MIT
#include "observe/verdict.h"

#include "base/times.h"
#include "observe/format.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ws::observe {

// A sleeping rank is not woken for less.
constexpr double short_run_s = 1e-6 * base::times::publish_asleep_us;

namespace {

std::string duration(double s)
{
    return s < 1e-3 ? format("%.3g us", 1e6 * s) : s < 1 ? format("%.3g ms", 1e3 * s) : format("%.3g s", s);
}

// The kernel counts in steps of 10 ms, and a desktop is never quite idle: less than a tenth is not worth a word.
constexpr double noise_share = 0.1;

// As much as the estimate may be wrong where nobody disturbs the job.
constexpr double sure_share = 0.05;

// "40 % of CPU 1"
std::string used_by_others(const Facts& f)
{
    const std::string cpus = f.others.cpu >= 0    ? format("CPU %.0f", f.others.cpu)
                             : f.others.cpus == 1 ? "the CPU"
                                                  : format("the %.0f CPUs", f.others.cpus);
    return format("%.0f %% of ", 100 * f.others.share) + cpus;
}

double per_run(const LoopFigures& l, double x) { return l.counts.executions > 0 ? x / l.counts.executions : 0; }
double time_of(const LoopFigures& l) { return l.counts.computing_s + l.counts.borrowed_s; }

// The part of the waiting in which another rank of the node computed.
double helpable(const Totals& t) { return std::max(0.0, t.idle - t.refused[unsigned(Refusal::all_wait)]); }

std::string mostly_in_call(const Facts& f) { return f.calls.empty() ? "" : ", mostly in " + f.calls[0].name; }

// A thief cannot take a part of a chunk, so a region lasts at least as long as its longest chunk. Null if no loop has a
// chunk that is a large part of its region. Of all executions only the longest chunk is known: if others had the CPU
// meanwhile, or the data was cold, it is one of thousands, and `waited` is nothing beside such a chunk in each.
const LoopFigures* coarse_loop(const Totals& t, const Facts& f, double waited)
{
    const double cores = (t.ranks + t.workers) / std::max(t.nodes, 1.0);
    for (const LoopFigures& l : f.loops)
        if (time_of(l) > 0.2 * t.loops && l.counts.longest_chunk_s > 0.5 * per_run(l, time_of(l)) / cores &&
            waited > 0.1 * l.counts.longest_chunk_s * l.counts.executions)
            return &l;
    return nullptr;
}

// Tasks were put in most executions of the loop, a parallel region's.
bool has_tasks(const LoopFigures& l) { return l.counts.executions_with_tasks > 0.5 * l.counts.executions; }

std::string tasks_text(const LoopFigures& l)
{
    return l.name + " runs OpenMP tasks, which sharing does not divide (-workshare-openmp=lend does)";
}

// The loop that most time is spent in without being shared.
const LoopFigures* unshared_loop(const Facts& f)
{
    const LoopFigures* most = nullptr;
    auto unshared = [](const LoopFigures& l) {
        return l.counts.computing_s * (1 - per_run(l, l.counts.executions_shared));
    };
    for (const LoopFigures& l : f.loops)
        if (!most || unshared(l) > unshared(*most))
            most = &l;
    return most;
}

// Waiting at the ends of shared loops, when all, or nearly all, that is left is already being computed.
std::string why_ends(const Totals& t, const Facts& f, double share)
{
    const std::string head = format("%.0f %% of the waiting was for the ends of shared loops", 100 * share);
    const LoopFigures* const l = coarse_loop(t, f, share * t.idle);
    if (l && has_tasks(*l))
        return head + ": " + tasks_text(*l);
    if (l)
        return head + format(": a chunk of %s took up to %s of %s an execution; its iterations are too long, or too "
                             "few (%.4g), to share out",
                             l->name.c_str(), duration(l->counts.longest_chunk_s).c_str(),
                             duration(per_run(*l, time_of(*l))).c_str(),
                             per_run(*l, l->counts.iterations_kept + l->counts.iterations_stolen));
    return head + ", where handing over a core takes longer than what is left";
}

const char* no_core_text(const Totals& t, const Facts& f)
{
    return f.other_jobs && t.crowded == 0 ? "no core was free: other jobs computed on them"
                                          : "no core was free: there are more ranks than cores";
}

// In most of the waiting in which others computed. Where ranks share CPUs a part is enough: while another has the CPU
// they wait for it, too, and nothing is shared before it has gone on.
bool no_core_was_free(const Totals& t)
{
    return t.refused[unsigned(Refusal::core_taken)] > (t.crowded > 0 ? 0.1 : 0.5) * helpable(t);
}

// What an execution took of those in which most of the loop's time was spent: a thousand short ones do not make a long
// one short. Guests help with long ones only.
double usual_run(const LoopFigures& l)
{
    const LoopCounts& c = l.counts;
    const double cut = c.cut_s + c.borrowed_s, whole = time_of(l) - cut, runs_whole = c.executions - c.executions_cut;
    return c.executions_cut > 0 && cut > whole ? cut / c.executions_cut : runs_whole > 0 ? whole / runs_whole : 0;
}

bool is_short(const LoopFigures& l) { return usual_run(l) < short_run_s; }

// A loop of which next to nothing was shared.
std::string why_unshared(const LoopFigures& l)
{
    const double took = usual_run(l);
    return is_short(l) ? format("too short (%s an execution; from %s on a rank that sleeps is woken)",
                                   duration(took).c_str(), duration(short_run_s).c_str())
                          : format("nobody waited when its executions began (%s each)", duration(took).c_str());
}

// If most of the time in loops went into executions that were not shared, because sharing had brought nothing: the
// loop with most of that time. Else null.
const LoopFigures* unpaid_loop(const Facts& f)
{
    const LoopFigures* most = nullptr;
    double unpaid = 0, all = 0, longest = 0;
    for (const LoopFigures& l : f.loops) {
        const double s = l.counts.computing_s * std::min(1.0, per_run(l, l.counts.executions_unpaid));
        all += time_of(l);
        unpaid += s;
        if (s > longest) {
            longest = s;
            most = &l;
        }
    }
    return unpaid > 0.5 * all ? most : nullptr;
}

// Other programs had the CPUs, and what a rank lost by that the others have waited for: most of all the waiting. Where
// ranks share CPUs they keep each other off.
bool is_noise(const Totals& t, const Facts& f)
{
    return t.crowded == 0 && !f.other_jobs && f.others.share >= noise_share &&
           t.kept_off * (t.ranks / t.nodes - 1) > 0.5 * t.idle;
}

std::string noise_text(const Facts& f)
{
    return "it is noise: ranks waited for others whose CPU was used by other programs, " + used_by_others(f);
}

// Ranks computed and others waited, but no loop was shared: what was it that they computed?
std::string why_nothing_shared(const Facts& f, double share)
{
    const std::string head = format("%.0f %% of the waiting passed while no shared loop ran: ", 100 * share);
    const LoopFigures* unshared = unshared_loop(f);
    if (f.outside >= f.unshared || !unshared)
        return head + format("rank %.0f computed %s of %s outside of ws loops, and others waited%s", f.serial.rank,
                             duration(f.serial.outside).c_str(), duration(f.serial.computing).c_str(),
                             mostly_in_call(f).c_str());
    if (has_tasks(*unshared))
        return head + tasks_text(*unshared);
    if (unshared->counts.executions_unpaid > 0.5 * unshared->counts.executions)
        return head + "sharing " + unshared->name + " did not pay (memory-bound, or too short), and was stopped";
    return head + unshared->name + " was not shared: " + why_unshared(*unshared);
}

// In words, the main cause of the waiting in which no core computed for anybody.
std::string largest_cause(const Totals& t, const Facts& f)
{
    if (f.helps_nobody)
        return "no rank was to help another (-workshare-victim none)";
    if (is_noise(t, f))
        return noise_text(f);
    enum { handing_over = refusal_kinds, ends, causes };
    double lost[causes] = {};
    std::copy(t.refused, t.refused + refusal_kinds, lost);
    lost[handing_over] = std::max(0.0, t.lent - t.stolen_home);
    double& nothing_shared = lost[unsigned(Refusal::nothing_shared)];
    for (Refusal r : {Refusal::too_little, Refusal::lost_race}) {
        lost[ends] += lost[unsigned(r)];
        lost[unsigned(r)] = 0;
    }
    // it is a region's end, too, when all of it is claimed
    if (std::max(f.outside, f.unshared) < 0.3 * nothing_shared) {
        lost[ends] += nothing_shared;
        nothing_shared = 0;
    }
    const unsigned most = unsigned(std::max_element(lost, lost + causes) - lost);
    const double share = t.idle > 0 ? std::min(1.0, lost[most] / t.idle) : 0;
    const char* const no_threads = "the system refused the guest threads (thread limit?)";
    switch (most) {
    case handing_over:
        return format("%.0f %% of the waiting went into handing cores over and back, %.0f times", 100 * share, t.lends);
    case ends:
        return why_ends(t, f, share);
    case unsigned(Refusal::nothing_shared):
        return why_nothing_shared(f, share);
    case unsigned(Refusal::all_wait):
        return format("%.0f %% of the waiting was for communication, while no rank of the node computed%s", 100 * share,
                      mostly_in_call(f).c_str());
    case unsigned(Refusal::core_taken):
        return no_core_text(t, f);
    case unsigned(Refusal::full):
        return "as many helped as can join one loop (1023)";
    case unsigned(Refusal::no_guest):
        return t.guests_refused > 0 ? no_threads
                                    : "the loops were over before a guest thread was made for each rank that waited";
    default:
        return t.guests_refused > 0 ? no_threads : "the ranks may not use each other's cores (cpusets)";
    }
}

std::string jobs_of_one_text(const Facts& f)
{
    if (f.jobs_of_one == unknown_jobs)
        return "PMIx started it, which this MPI does not know, so each process is a job of its own; with "
               "srun --mpi=pmi2, or this MPI's mpirun, they are one job";
    return format("srun%s started %d jobs of one rank each%s; with srun --mpi=pmi2 they are one job",
                  f.pmix ? " --mpi=pmix" : "", f.jobs_of_one, f.pmix ? ", as this MPI does not know PMIx" : "");
}

// Why nothing was stolen. Causes are tried from the most basic one on, and the first that explains it counts.
std::string why_not(const Totals& t, const Facts& f)
{
    const bool polled = t.polls * 30e-9 > 0.005 * t.wall * t.ranks; // a look in vain takes 30 ns or more
    const char* const needs_poll = "no rank waited in a call that blocks, but they polled (MPI_Test, MPI_Iprobe), "
                                   "which helps with -workshare-poll only";
    if (t.inactive == t.ranks)
        return f.why_inactive;
    if (t.ranks == 1 && t.workers == 0)
        return "there is one rank" + (f.jobs_of_one == 0 ? "" : ": " + jobs_of_one_text(f));
    if (t.alone_on_node == t.ranks && t.workers == 0)
        return "every rank is alone on its node";
    if (t.regions == 0)
        return t.regions_off > 0
                   ? "its ws loops ran on other threads than the one that called MPI_Init, without MPI_THREAD_MULTIPLE"
               : f.parallel_s > 0 ? "no parallel region was shared"
                                  : "no ws loop ran (is the program compiled with -fws?)";
    if (t.idle < 0.002 * t.wall * t.ranks && t.workers == 0)
        return polled ? needs_poll : "no rank had to wait";
    if (f.helps_nobody)
        return "no rank was to help another (-workshare-victim none)";
    if (t.guests_refused > 0 && t.lends == 0)
        return "the system refused the guest threads (thread limit?)";
    if (t.guests_barred > 0 && t.lends == 0)
        return "the ranks may not use each other's cores (cpusets)";
    if (t.lends == 0 && no_core_was_free(t))
        return no_core_text(t, f);
    if (const LoopFigures* l = unpaid_loop(f))
        return has_tasks(*l) ? tasks_text(*l)
                             : "sharing its loops did not pay (memory-bound, or too short), and was stopped";
    // not none: a loop's first execution may be shared, as its cost is not known yet
    if (t.regions_shared < 0.01 * t.regions && t.loops > 0.25 * (t.computing - t.kept_off)) {
        const LoopFigures* l = unshared_loop(f);
        if (polled && t.idle < 0.02 * t.wall * t.ranks)
            return needs_poll;
        if (no_core_was_free(t))
            return no_core_text(t, f);
        if (l && has_tasks(*l))
            return tasks_text(*l);
        if (l && (is_short(*l) || !is_noise(t, f))) // short it is, whatever else there was
            return l->name + " was not shared: " + why_unshared(*l);
    }
    return largest_cause(t, f);
}

// Causes are found by times. Where ranks have no CPU for themselves, other programs have a part in these times.
std::string how_sure(const Totals& t)
{
    if (t.kept_off <= 0.2 * t.computing || t.ranks == t.inactive)
        return "";
    return format(" (%.0f %% of the time in which ranks computed they had no CPU: others use them, too)",
                  100 * t.kept_off / t.computing);
}

// Time in which ranks had no CPU is in what the run took, and may or may not be in what it would have taken without
// stealing.
std::string give_or_take(const Totals& t)
{
    const double part = t.wall > 0 ? t.kept_off / (t.wall * t.ranks) : 0;
    return t.crowded > 0 || part < sure_share ? ""
                                              : format(", give or take %.0f %%, as ranks had no CPU for so long",
                                                       std::ceil(100 * part));
}

std::string who_else(const Facts& f)
{
    return f.others.share < noise_share ? "" : "; other programs used " + used_by_others(f);
}

std::string policies_text(const Facts& f)
{
    std::string text;
    for (const std::string& policy : f.policies)
        text += "; " + policy;
    return text;
}

// A program that runs as with V threads may take longer for that than with one: what help won says nothing of that.
std::string gain_text(double speedup, const Facts& f)
{
    if (f.virtual_threads)
        return format("; about %.2f times as fast as its %u OpenMP threads without help", speedup, f.virtual_threads);
    return format("; about %.2f times as fast as without", speedup);
}

// What the line ends with, whatever was stolen.
std::string also_text(const Verdict& v, const Facts& f)
{
    const std::string jobs = f.jobs_of_one == 0 ? "" : jobs_of_one_text(f);
    const bool told = v.reason.find(jobs) != std::string::npos;
    return (told ? "" : "; " + jobs) + policies_text(f) + who_else(f);
}

// For a program without ws loops: what its user could gain by them.
std::string what_could_be(const Totals& t)
{
    if (t.crowded > 0)
        return "what sharing its loops could win is not known, as there are more ranks than cores";
    const double most = most_speedup(t);
    if (most < 1.02)
        return t.idle > 0.05 * t.wall * t.ranks
                   ? "sharing loops would win nothing: while ranks waited, no other of their node computed"
                   : "sharing loops would win next to nothing";
    std::string text = format("sharing its loops could make it up to %.2f times as fast", most);
    // If one rank loses time to other processes, all others may wait for it.
    if (t.kept_off * (t.ranks / t.nodes - 1) > 0.2 * helpable(t))
        text += ", if that is not noise";
    return text;
}

// For an OpenMP program whose regions are not shared, because nobody has asked for it. A rank that opens a region alone
// can win at most what the others of its node take of it.
std::string hint(const Totals& t, const Facts& f)
{
    const double waited = helpable(t), ranks = t.ranks / std::max(t.nodes, 1.0);
    const double loops_s = std::max(0.0, f.parallel_s - f.parallel_tasks_s);
    const double best = t.wall - std::min(waited, loops_s * (ranks - 1)) / t.ranks;
    const double most = best > 0 && t.crowded == 0 ? t.wall / best : 1;
    std::string text = format("hint: parallel regions computed for %s while ranks waited %s; ",
                              duration(f.parallel_s).c_str(), duration(waited).c_str());
    if (most < 1.02)
        return text + "-workshare-openmp=share would win next to nothing" +
               (loops_s < f.parallel_s / 2 ? ": most of it was in tasks, which it does not divide" : "");
    text += format("-workshare-openmp=share could make this up to %.2f times as fast", most);
    if (t.kept_off * (ranks - 1) > 0.2 * waited)
        text += ", if that is not noise";
    return text;
}

} // namespace

double most_speedup(const Totals& t)
{
    const double best = t.wall - helpable(t) / t.ranks;
    return best > 0 ? t.wall / best : 1;
}

std::string top_loop(const Facts& facts)
{
    const LoopFigures* top = nullptr;
    for (const LoopFigures& l : facts.loops)
        if (l.counts.iterations_stolen > 0 && (!top || l.counts.borrowed_s > top->counts.borrowed_s))
            top = &l;
    return top ? top->name : "";
}

Verdict judge(const Totals& t, const Facts& f)
{
    Verdict v = {};
    const std::string loop = top_loop(f);
    v.speedup = t.wall > 0 && !f.gain_is_unknown ? 1 + f.lag / t.wall : 1;
    double total = t.wall * t.ranks, idle = total > 0 ? 100 * t.idle / total : 0;
    std::string head = format("workshare: %.0f rank%s on %.0f node%s, %.3f s: ", t.ranks, t.ranks == 1 ? "" : "s",
                              t.nodes, t.nodes == 1 ? "" : "s", t.wall);
    if (t.iterations_stolen > 0) {
        // a worker has nothing of its own to do, so all of its time is spare
        const double spare = t.idle + t.workers * t.wall;
        double used = spare > 0 ? 100 * t.stolen / spare : 0;
        v.line = head + format("ranks waited in MPI %.1f %% of the time", idle);
        if (t.workers > 0)
            v.line += format(" and had %.0f worker%s", t.workers, t.workers == 1 ? "" : "s");
        v.line += format("; stealing computed in %.0f %% of that (%.0f chunks, %.3f s)", used > 100 ? 100 : used,
                         t.chunks_stolen, t.stolen);
        if (!loop.empty())
            v.line += ", most of it from " + loop;
        if (v.speedup >= 1.01)
            v.line += gain_text(v.speedup, f) + give_or_take(t);
        const double lost = t.idle - t.stolen_home;
        if (used < 1) { // next to nothing was stolen: the user asks why, as if it were nothing
            v.reason = why_not(t, f);
            v.line += "; " + v.reason + how_sure(t);
        } else if (lost > 0.25 * t.idle && lost > 0.05 * total && t.inactive == 0) {
            v.rest = largest_cause(t, f);
            v.line += "; it could not be more: " + v.rest + how_sure(t);
        }
        if (t.inactive > 0)
            v.line += format("; %.0f ranks ran without it: %s", t.inactive, f.why_inactive.c_str());
        v.line += also_text(v, f);
        return v;
    }
    v.line = head;
    if (!f.policies.empty() && t.regions + t.regions_off == 0) { // a program without ws loops, balanced in another way
        v.line += format("ranks waited in MPI %.1f %% of the time", idle) + also_text(v, f);
        return v;
    }
    v.reason = why_not(t, f);
    if (t.inactive < t.ranks)
        v.line += format("ranks waited in MPI %.1f %% of the time; ", idle);
    v.line += "nothing was stolen: " + v.reason + how_sure(t);
    if (t.regions == 0 && t.regions_off == 0 && t.inactive == 0 && t.alone_on_node == 0 && t.ranks > 1)
        v.line += "; " + (f.parallel_s > 0 ? hint(t, f) : what_could_be(t));
    v.line += also_text(v, f);
    return v;
}

std::string to_json(const Totals& t, const Verdict& v, const Facts& f, const char* workshare)
{
    auto text = [](const std::string& s) { return s.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(s); };
    nlohmann::ordered_json j = {
        {"schema", stats_schema},
        {"workshare", workshare},
        {"ranks", whole(t.ranks)},
        {"nodes", whole(t.nodes)},
        {"elapsed_s", t.wall},
        {"blocked_s", t.idle},
        {"lent_s", t.lent},
        {"borrowed_s", t.stolen},
        {"close_wait_s", t.close_wait},
        {"executions", whole(t.regions)},
        {"executions_plain", whole(t.regions_off)},
        {"executions_shared", whole(t.regions_shared)},
        {"executions_helped", whole(t.regions_joined)},
        {"iterations_stolen", whole(t.iterations_stolen)},
        {"chunks_stolen", whole(t.chunks_stolen)},
        {"lends", whole(t.lends)},
        {"claims_lost", whole(t.lost)},
        {"recalls", whole(t.recalls)},
        {"rings", whole(t.rings)},
        {"refusals", whole(t.refusals)},
        {"moves", whole(t.moves)},
        {"guests_refused", whole(t.guests_refused)},
        {"guests_barred", whole(t.guests_barred)},
        {"naps", whole(t.sleeps)},
        {"naps_s", t.sleep},
        {"wakes", whole(t.wakes)},
        {"workers", whole(t.workers)},
        {"worker_chunks", whole(t.worker_chunks)},
        {"executions_unpaid", whole(t.unpaid_regions)},
        {"ranks_inactive", whole(t.inactive)},
        {"loop", text(top_loop(f))},
        {"reason", text(v.reason)},
        {"rest", text(v.rest)},
        {"speedup", v.speedup},
        {"helped_s", t.stolen_home},
        {"unblocked_s", t.computing},
        {"loops_s", t.loops},
        {"kept_off_s", t.kept_off},
        {"polls", whole(t.polls)},
        {"most_speedup", most_speedup(t)},
        {"policies", f.policies},
    };
    for (unsigned k = 0; k < refusal_kinds; k++)
        j["refused_s"][refusal_name(k)] = t.refused[k];
    // A loop's name is a file name, which need not be UTF-8.
    return j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace ws::observe
