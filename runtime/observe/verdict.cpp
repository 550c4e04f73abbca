// SPDX-License-Identifier: MIT
#include "observe/verdict.h"

#include "observe/estimate.h"
#include "observe/format.h"
#include "observe/loop_cause.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ws::observe {

namespace {

// A cause, and what the user can do about it; an empty hint if that is nothing.
struct Cause {
    std::string why, hint = {};
};

// The kernel counts in steps of 10 ms, and a desktop is never quite idle: less than a tenth is not mentioned.
constexpr double noise_share = 0.1;

// The estimate may be wrong by this part on a quiet machine.
constexpr double sure_share = 0.05;

// "40 % of CPU 1"
std::string used_by_others(const Facts& f)
{
    const std::string cpus = f.others.cpu >= 0    ? format("CPU %.0f", f.others.cpu)
                             : f.others.cpus == 1 ? "the CPU"
                                                  : format("the %.0f CPUs", f.others.cpus);
    return format("%.0f %% of ", 100 * f.others.share) + cpus;
}

Waited waited(const Totals& t)
{
    return {t.wall, t.ranks, t.nodes, t.idle, t.refused[unsigned(Refusal::all_wait)]};
}
double helpable(const Totals& t) { return helpable_s(waited(t)); }

std::string mostly_in_call(const Facts& f) { return f.calls.empty() ? "" : ", mostly in " + f.calls[0].name; }

// Returns the loop whose longest chunk is a large part of an execution, or null.
const LoopFigures* coarse_loop(const Totals& t, const Facts& f, double waited)
{
    const double cores = (t.ranks + t.workers) / std::max(t.nodes, 1.0);
    for (const LoopFigures& l : f.loops)
        if (time_of(l) > 0.2 * t.loops && is_coarse(l, cores, waited))
            return &l;
    return nullptr;
}

Cause tasks_cause(const LoopFigures& l)
{
    return {l.name + " runs OpenMP tasks, which sharing does not divide",
            "-workshare-openmp=lend gives its threads the cores of waiting ranks"};
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
Cause ends_cause(const Totals& t, const Facts& f, double share)
{
    const std::string head = format("%.0f %% of the waiting was at the ends of shared loops", 100 * share);
    const LoopFigures* const l = coarse_loop(t, f, share * t.idle);
    if (l && has_tasks(*l)) {
        const Cause tasks = tasks_cause(*l);
        return {head + ": " + tasks.why, tasks.hint};
    }
    if (l) {
        return {head + format(": a chunk of %s took up to %s of %s per execution, which has %.0f iterations; ",
                              l->name.c_str(), duration(l->counts.longest_chunk_s).c_str(),
                              duration(per_run(*l, time_of(*l))).c_str(),
                              per_run(*l, l->counts.iterations_kept + l->counts.iterations_stolen)) +
                words_of(why_coarse(*l)).text};
    }
    return {head + ", when a hand-over takes longer than the work that is left"};
}

Cause no_core_cause(const Totals& t, const Facts& f)
{
    if (f.other_jobs && t.crowded == 0)
        return {"no core was free: other jobs of yours computed on them"};
    return {"no core was free: there are more ranks than cores"};
}

// In most of the waiting in which others computed. Where ranks share CPUs a part is enough: while another has the CPU
// they wait for it, too, and nothing is shared before it has gone on.
bool no_core_was_free(const Totals& t)
{
    return t.refused[unsigned(Refusal::core_taken)] > (t.crowded > 0 ? 0.1 : 0.5) * helpable(t);
}

// A loop that was hardly shared.
std::string why_unshared(const LoopFigures& l)
{
    const double took = usual_run(l);
    return l.name + (is_short(l) ? format(" was too short to share (%s per execution; a sleeping rank is woken for "
                                          "%s or more)",
                                          duration(took).c_str(), duration(short_run_s).c_str())
                                 : format(" was not shared: no rank waited when its executions began (%s each)",
                                          duration(took).c_str()));
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

// Other programs had the CPUs, and most of the waiting was for the time that ranks lost by that. Ranks that share CPUs
// keep each other off.
bool is_noise(const Totals& t, const Facts& f)
{
    return t.crowded == 0 && !f.other_jobs && f.others.share >= noise_share &&
           t.kept_off * (t.ranks / t.nodes - 1) > 0.5 * t.idle;
}

Cause noise_cause(const Facts& f)
{
    return {"ranks waited for ranks whose CPU other programs used (" + used_by_others(f) + ")",
            "measure on a quiet machine"};
}

// Ranks computed and others waited, but no loop was shared: what did they compute?
Cause nothing_shared_cause(const Facts& f, double share)
{
    const std::string head = format("%.0f %% of the waiting passed while no shared loop ran: ", 100 * share);
    const LoopFigures* unshared = unshared_loop(f);
    if (f.outside >= f.unshared || !unshared)
        return {head + format("rank %.0f computed %s of %s outside of ws loops while others waited%s", f.serial.rank,
                              duration(f.serial.outside).c_str(), duration(f.serial.computing).c_str(),
                              mostly_in_call(f).c_str())};
    if (has_tasks(*unshared)) {
        const Cause tasks = tasks_cause(*unshared);
        return {head + tasks.why, tasks.hint};
    }
    if (unshared->counts.executions_unpaid > 0.5 * unshared->counts.executions)
        return {head + "sharing " + unshared->name + " did not pay, because it is memory-bound or too short"};
    return {head + why_unshared(*unshared)};
}

Cause helps_nobody_cause() { return {"-workshare-victim none lets no rank help another"}; }

Cause no_threads_cause()
{
    return {"the system refused helper threads", "raise the limit on threads (ulimit -u; ws-doctor --check WS301)"};
}

Cause barred_cause()
{
    return {"the ranks may not use each other's cores (cpusets)", "give all ranks of a node one cpuset"};
}

// Returns the main cause of the waiting in which no core computed for another rank.
Cause largest_cause(const Totals& t, const Facts& f)
{
    if (f.helps_nobody)
        return helps_nobody_cause();
    if (is_noise(t, f))
        return noise_cause(f);
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
    switch (most) {
    case handing_over:
        return {format("%.0f %% of the waiting was spent on handing cores over and back, %.0f times", 100 * share,
                       t.lends)};
    case ends:
        return ends_cause(t, f, share);
    case unsigned(Refusal::nothing_shared):
        return nothing_shared_cause(f, share);
    case unsigned(Refusal::all_wait):
        return {format(t.outside_mpi > 0.5 * t.idle
                           ? "%.0f %% of the waiting passed while no rank of the node computed%s"
                           : "%.0f %% of the waiting was for communication, while no rank of the node computed%s",
                       100 * share, mostly_in_call(f).c_str())};
    case unsigned(Refusal::core_taken):
        return no_core_cause(t, f);
    case unsigned(Refusal::full):
        return {"a loop had 1023 helpers, the most that can join it"};
    case unsigned(Refusal::no_guest):
        if (t.guests_refused > 0)
            return no_threads_cause();
        return {"the loops ended before each waiting rank had a helper thread"};
    default:
        return t.guests_refused > 0 ? no_threads_cause() : barred_cause();
    }
}

Cause jobs_of_one_cause(const Facts& f)
{
    if (f.jobs_of_one == unknown_jobs)
        return {"each process is a job of its own, because PMIx started it and this MPI does not know PMIx",
                "srun --mpi=pmi2, or this MPI's mpirun, makes one job of them"};
    if (f.pmi)
        return {format("the mpirun of another MPI started %d jobs of one rank each", f.jobs_of_one),
                "Open MPI's mpirun makes one job of them"};
    return {format("srun%s started %d jobs of one rank each%s", f.pmix ? " --mpi=pmix" : "", f.jobs_of_one,
                   f.pmix ? ", because this MPI does not know PMIx" : ""),
            format("srun --mpi=%s makes one job of them", f.is_open_mpi ? "pmix" : "pmi2")};
}

// Returns why nothing was stolen: the first cause that explains it, from the most basic one on.
Cause why_not(const Totals& t, const Facts& f)
{
    const bool polled = t.polls * 30e-9 > 0.005 * t.wall * t.ranks; // a look in vain takes 30 ns or more
    const Cause needs_poll = {"no rank waited in a call that blocks, but ranks polled (MPI_Test, MPI_Iprobe)",
                              "-workshare-poll lets ranks that poll help"};
    if (t.inactive == t.ranks)
        return {f.why_inactive};
    if (t.ranks == 1 && t.workers == 0) {
        if (f.jobs_of_one == 0)
            return {"there is one rank"};
        const Cause jobs = jobs_of_one_cause(f);
        return {"there is one rank: " + jobs.why, jobs.hint};
    }
    if (t.alone_on_node == t.ranks && t.workers == 0)
        return {"every rank is alone on its node"};
    if (t.regions == 0) {
        if (t.regions_off > 0)
            return {"its ws loops ran on other threads than the one that called MPI_Init",
                    "such loops are shared only under MPI_THREAD_MULTIPLE"};
        return {f.parallel_s > 0 ? "no parallel region was shared"
                                 : "no ws loop ran (compiled without -fws?)"};
    }
    if (t.idle < 0.002 * t.wall * t.ranks && t.workers == 0)
        return polled ? needs_poll : Cause{"no rank had to wait"};
    if (f.helps_nobody)
        return helps_nobody_cause();
    if (t.guests_refused > 0 && t.lends == 0)
        return no_threads_cause();
    if (t.guests_barred > 0 && t.lends == 0)
        return barred_cause();
    if (t.lends == 0 && no_core_was_free(t))
        return no_core_cause(t, f);
    if (const LoopFigures* l = unpaid_loop(f))
        return has_tasks(*l) ? tasks_cause(*l)
                             : Cause{"sharing its loops did not pay, because they are memory-bound or too short"};
    // not none: a loop's first execution may be shared, because its cost is not known yet
    if (t.regions_shared < 0.01 * t.regions && t.loops > 0.25 * (t.computing - t.kept_off)) {
        const LoopFigures* l = unshared_loop(f);
        if (polled && t.idle < 0.02 * t.wall * t.ranks)
            return needs_poll;
        if (no_core_was_free(t))
            return no_core_cause(t, f);
        if (l && has_tasks(*l))
            return tasks_cause(*l);
        if (l && (is_short(*l) || !is_noise(t, f))) // a short loop is the cause, whatever else there was
            return {why_unshared(*l)};
    }
    return largest_cause(t, f);
}

// The part of the ranks' time in which they had no CPU, rounded up to a percent; 0 if the estimate is good all the
// same. That time is part of the elapsed time, and may or may not be part of the time without stealing.
double uncertain_percent(const Totals& t)
{
    const double part = t.wall > 0 ? t.kept_off / (t.wall * t.ranks) : 0;
    return t.crowded == 0 && part >= sure_share ? std::ceil(100 * part) : 0;
}

// The gain, if it is known and worth a word. A program that runs with V virtual threads may take longer than with one
// thread: the gain by help does not include that.
std::string gain_text(const Totals& t, double speedup, const Facts& f)
{
    if (speedup < 1.01)
        return "";
    std::string text = f.virtual_threads ? format("about %.2f times as fast as its %u OpenMP threads without help",
                                                  speedup, f.virtual_threads)
                                         : format("about %.2f times as fast as without sharing", speedup);
    if (const double percent = uncertain_percent(t); percent > 0)
        text += format(", give or take %.0f %%", percent);
    return text;
}

// What a program without ws loops could gain by them.
std::string possible_gain(const Totals& t)
{
    if (t.crowded > 0)
        return "how much sharing loops could gain is unknown, because there are more ranks than cores";
    const double most = most_speedup(t);
    if (most < 1.02)
        return t.idle > 0.05 * t.wall * t.ranks
                   ? "sharing loops would gain nothing: while ranks waited, no other of their node computed"
                   : "sharing loops would gain next to nothing";
    std::string text = format("sharing loops could make this up to %.2f times as fast", most);
    // If one rank loses time to other processes, all others may wait for it.
    if (t.kept_off * (t.ranks / t.nodes - 1) > 0.2 * helpable(t))
        text += ", if that is not noise";
    return text;
}

// What an OpenMP program whose regions are not shared could gain, and what that is computed from.
std::vector<std::string> possible_openmp_gain(const Totals& t, const Facts& f)
{
    const double waiting = helpable(t), ranks = t.ranks / std::max(t.nodes, 1.0);
    const double loops_s = std::max(0.0, f.parallel_s - f.parallel_tasks_s);
    const double most =
        t.crowded == 0 ? speedup_of(waited(t), helpable_in_regions_s(waited(t), loops_s)) : 1;
    std::string gain, regions = format("parallel regions computed for %s", duration(f.parallel_s).c_str());
    if (most < 1.02) {
        gain = "-workshare-openmp=share would gain next to nothing";
        if (loops_s < f.parallel_s / 2)
            regions += ", mostly in tasks, which sharing does not divide,";
    } else {
        gain = format("up to %.2f times as fast with -workshare-openmp=share", most);
        if (t.kept_off * (ranks - 1) > 0.2 * waiting)
            gain += ", if that is not noise";
    }
    return {gain, regions + format(" while ranks waited %s", duration(waiting).c_str())};
}

// "2 ranks on 1 node, 0.265 s"
std::string job_text(const Totals& t)
{
    return format("%.0f rank%s on %.0f node%s, %.3f s", t.ranks, t.ranks == 1 ? "" : "s", t.nodes,
                  t.nodes == 1 ? "" : "s", t.wall);
}

std::string waited_text(const Totals& t)
{
    const double total = t.wall * t.ranks;
    const double share = total > 0 ? 100 * t.idle / total : 0;
    return t.outside_mpi > 0.01 * t.idle ? format("ranks waited in MPI and outside %.1f %% of the time", share)
                                         : format("ranks waited in MPI %.1f %% of the time", share);
}

// The part of the time in which cores were spare that was used. A worker has nothing of its own to do, so all of its
// time is spare.
double used_part(const Totals& t)
{
    const double spare = t.idle + t.workers * t.wall;
    return spare > 0 ? std::min(1.0, t.stolen / spare) : 0;
}

std::string used_text(const Totals& t)
{
    const std::string used =
        format(" %.0f %% of that (%.0f chunks, %.3f s)", 100 * used_part(t), t.chunks_stolen, t.stolen);
    if (t.workers == 0)
        return waited_text(t) + "; helpers used" + used;
    return waited_text(t) +
           format(" and had %.0f worker%s; helpers and workers used", t.workers, t.workers == 1 ? "" : "s") + used;
}

void add_line(Verdict& v, const std::string& text)
{
    if (!text.empty())
        v.lines.push_back(text);
}

// What follows whatever was stolen: what other programs did, policies, and hints.
void add_notes(Verdict& v, const Totals& t, const Facts& f, std::vector<std::string> hints)
{
    const std::string cause = v.reason + v.rest;
    if (!cause.empty() && t.kept_off > 0.2 * t.computing && t.inactive < t.ranks)
        add_line(v, format("note: ranks had no CPU for %.0f %% of the time in which they computed, so the cause is "
                           "uncertain",
                           100 * t.kept_off / t.computing));
    if (f.others.share >= noise_share)
        add_line(v, "note: other programs used " + used_by_others(f));
    if (f.jobs_of_one != 0)
        if (const Cause jobs = jobs_of_one_cause(f); cause.find(jobs.why) == std::string::npos) {
            add_line(v, jobs.why);
            hints.push_back(jobs.hint);
        }
    for (const std::string& policy : f.policies)
        add_line(v, policy);
    for (const std::string& hint : hints)
        add_line(v, hint.empty() ? "" : "hint: " + hint);
}

// The summary of a job in which ranks helped.
void tell_help(Verdict& v, const Totals& t, const Facts& f)
{
    const std::string loop = top_loop(f), gain = gain_text(t, v.speedup, f);
    const double used = used_part(t), lost = t.idle - t.stolen_home;
    Cause why;
    if (used < 0.01) { // the user asks why, as if nothing had been stolen
        why = why_not(t, f);
        v.reason = why.why;
    } else if (lost > 0.25 * t.idle && lost > 0.05 * t.wall * t.ranks && t.inactive == 0) {
        why = largest_cause(t, f);
        v.rest = why.why;
    }
    add_line(v, (gain.empty() ? "loops were shared" : gain) + " (" + job_text(t) + ")");
    add_line(v, used_text(t));
    std::string rest = loop.empty() ? "" : "most helped: " + loop;
    if (!why.why.empty())
        rest += (rest.empty() ? "not more, because " : "; not more, because ") + why.why;
    add_line(v, rest);
    if (const double percent = uncertain_percent(t); percent > 0 && !gain.empty())
        add_line(v, format("note: the gain is uncertain, because ranks had no CPU for %.0f %% of the time", percent));
    if (t.inactive > 0)
        add_line(v,
                 format("%.0f rank%s ran without sharing: ", t.inactive, t.inactive == 1 ? "" : "s") + f.why_inactive);
    add_notes(v, t, f, {why.hint});
}

// The summary of a job in which nothing was stolen.
void tell_no_help(Verdict& v, const Totals& t, const Facts& f)
{
    const Cause why = why_not(t, f);
    v.reason = why.why;
    const std::string job = " (" + job_text(t) + ")";
    std::string because = v.reason;
    if (t.inactive < t.ranks)
        because = waited_text(t) + "; " + because;
    const bool could = t.regions == 0 && t.regions_off == 0 && t.inactive == 0 && t.alone_on_node == 0 && t.ranks > 1;
    if (could && f.parallel_s > 0) {
        const std::vector<std::string> gain = possible_openmp_gain(t, f);
        v.lines = {gain[0] + job, because, gain[1]};
    } else {
        v.lines = {(could ? possible_gain(t) : "no rank helped another") + job, because};
    }
    add_notes(v, t, f, {why.hint});
}

// Breaks a line of the summary before the 101st column, but not behind a number.
std::string wrapped(const std::string& line)
{
    constexpr size_t columns = 100;
    std::string text, row = "workshare:";
    for (size_t at = 0, end = 0; at < line.size(); at = end + 1) {
        end = std::min(line.find(' ', at), line.size());
        while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end - 1])))
            end = std::min(line.find(' ', end + 1), line.size());
        if (row.size() + 1 + end - at > columns && at > 0) {
            text += row + "\n";
            row = "workshare:  ";
        }
        row += " " + line.substr(at, end - at);
    }
    return text + row + "\n";
}

} // namespace

double most_speedup(const Totals& t) { return speedup_of(waited(t), helpable(t)); }

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
    v.speedup = t.wall > 0 && !f.gain_is_unknown ? 1 + f.lag / t.wall : 1;
    if (t.iterations_stolen > 0) {
        tell_help(v, t, f);
    } else if (!f.policies.empty() && t.regions + t.regions_off == 0) { // without ws loops, balanced in another way
        add_line(v, waited_text(t) + " (" + job_text(t) + ")");
        add_notes(v, t, f, {});
    } else {
        tell_no_help(v, t, f);
    }
    return v;
}

std::string Verdict::line() const
{
    std::string text = "workshare: ";
    for (size_t i = 0; i < lines.size(); i++)
        text += (i ? "; " : "") + lines[i];
    return text;
}

std::string Verdict::text() const
{
    std::string text;
    for (const std::string& line : lines)
        text += wrapped(line);
    return text;
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
