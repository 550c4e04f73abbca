// SPDX-License-Identifier: MIT
//
// The report as one table in long form: each line is a figure, after the cells that say what it is a figure of. An
// empty cell means all.
#include "observe/parts.h"
#include "observe/report.h"

#include <cmath>
#include <cstdio>
#include <string_view>

namespace ws::observe {

namespace {

// What a line is of.
struct Key {
    std::string node, rank, loop, call, phase;
};

std::string quoted(const std::string& s)
{
    if (s.find_first_of(",\"\r\n") == s.npos)
        return s;
    std::string q = "\"";
    for (char c : s) {
        if (c == '"')
            q += '"';
        q += c;
    }
    return q + '"';
}

std::string phase_text(const PhaseRowFigures& p) { return p.path.empty() ? "(run)" : path_text(p.path); }

class Sheet {
public:
    std::string text = "node,rank,loop,call,phase,metric,value,unit\n";

    void line(const Key& k, const std::string& metric, const std::string& value, const char* unit)
    {
        for (const std::string* s : {&k.node, &k.rank, &k.loop, &k.call, &k.phase})
            text += quoted(*s) + ",";
        text += quoted(metric) + "," + quoted(value) + "," + unit + "\n";
    }

    void number(const Key& k, std::string metric, double value)
    {
        const bool frequency = metric.size() > 3 && metric.compare(metric.size() - 3, 3, "_hz") == 0;
        const bool time = metric.size() > 2 && metric.compare(metric.size() - 2, 2, "_s") == 0;
        const bool share =
            metric.find("efficiency") != metric.npos || metric.find("balance") != metric.npos || metric == "speedup" ||
            metric.find("cores_used") != metric.npos || metric.find("per_cycle") != metric.npos;
        char digits[40];
        if (!std::isfinite(value))
            value = 0;
        std::snprintf(digits, sizeof digits, time || share ? "%.9g" : "%.0f", value);
        metric.resize(metric.size() - (frequency ? 3 : time ? 2 : 0));
        line(k, metric, digits, time ? "s" : frequency ? "Hz" : share ? "ratio" : "count");
    }

    void counts(const Key& k, const RankCounts& c)
    {
        fields_of_rank(c, [&](const char* name, double value) { number(k, name, value); });
        counters(k, "", c);
        refused(k, "", c);
        histogram(k, "steal_latency", c.steal_latency);
        histogram(k, "return_latency", c.return_latency);
    }

    void efficiency(const Key& k, const std::string& prefix, const Efficiency& e)
    {
        fields_of_efficiency(e, [&](const char* name, double value) { number(k, prefix + name, value); });
    }

    void phase(const Key& k, const std::string& prefix, const PhasePart& p)
    {
        fields_of_phase(p.counts, [&](const char* name, double value) { number(k, prefix + name, value); });
        counters(k, prefix, p.counts);
        refused(k, prefix, p.counts);
        number(k, prefix + "cores_used", p.cores);
        efficiency(k, prefix, p.as_is);
        efficiency(k, prefix + "without_stealing_", p.without_stealing);
    }

    // Without figures that are 0, as in JSON.
    void rank_phases(Key k, const std::vector<RankPhase>& all, const std::vector<PhaseRowFigures>& phases)
    {
        for (const RankPhase& p : all) {
            k.phase = phase_text(phases[size_t(p.phase)]);
            const auto put = [&](const std::string& name, double value) {
                if (value != 0)
                    number(k, name, value);
            };
            fields_of_phase(p.counts, put);
            counters(k, "", p.counts);
            for (unsigned i = 0; i < refusal_kinds; i++) {
                put(std::string("refused_") + refusal_name(i), p.counts.refused[i]);
                put(std::string("refused_") + refusal_name(i) + "_s", p.counts.refused_s[i]);
            }
            number(k, "cores_used", p.cores);
            number(k, "useful_s", p.useful_s);
            number(k, "parallel_efficiency", p.parallel);
            number(k, "load_balance", p.load_balance);
        }
    }

    void loops(Key k, const std::vector<LoopFigures>& all)
    {
        for (const LoopFigures& l : all) {
            k.loop = l.name;
            fields_of_loop(l.counts, [&](const char* name, double value) { number(k, name, value); });
        }
    }

private:
    // Only where the processor's counters were read.
    template <class Counts> void counters(const Key& k, const std::string& prefix, const Counts& counts)
    {
        const Counters c = counters_of(counts);
        if (c.hertz == 0)
            return;
        number(k, prefix + "instructions_per_cycle", c.per_cycle);
        number(k, prefix + "frequency_hz", c.hertz);
    }

    template <class Counts> void refused(const Key& k, const std::string& prefix, const Counts& c)
    {
        for (unsigned i = 0; i < refusal_kinds; i++) {
            number(k, prefix + "refused_" + refusal_name(i), c.refused[i]);
            number(k, prefix + "refused_" + refusal_name(i) + "_s", c.refused_s[i]);
        }
    }

    void histogram(const Key& k, const std::string& name, const Histogram& h)
    {
        number(k, name + "_p50_s", h.quantile(0.5));
        number(k, name + "_p95_s", h.quantile(0.95));
        number(k, name + "_longest_s", h.longest());
        for (unsigned i = 0; i < latency_buckets; i++)
            if (h.counts[i] > 0)
                number(k, name + "_below_" + std::to_string(int64_t(1) << (i + 1)) + "_ns", h.counts[i]);
    }
};

} // namespace

std::string report_csv(const Report& r)
{
    Sheet t;
    const Key all;
    t.line(all, "schema", report_schema, "");
    t.line(all, "workshare", r.workshare, "");
    t.line(all, "program", r.program, "");
    t.line(all, "verdict", r.verdict, "");
    t.number(all, "ranks", r.ranks);
    t.number(all, "nodes", r.nodes);
    t.number(all, "cores", r.cores);
    t.number(all, "speedup", r.speedup);
    t.efficiency(all, "", r.as_is);
    if (const OpenMPEfficiency e = openmp_efficiency(r); e.parallel < 1)
        for (const OpenMPLevel& level : openmp_levels)
            t.number(all, std::string("openmp_") + level.name, e.*level.value);
    t.efficiency(all, "without_stealing_", r.without_stealing);
    t.counts(all, r.totals);
    for (const NodeRow& n : r.node) {
        Key k;
        k.node = std::to_string(n.node);
        t.line(k, "host", n.host, "");
        t.number(k, "ranks", n.ranks);
        t.number(k, "cores", n.cores);
        t.efficiency(k, "", n.as_is);
        t.efficiency(k, "without_stealing_", n.without_stealing);
        t.counts(k, n.counts);
    }
    for (const RankRow& n : r.rank) {
        Key k;
        k.node = std::to_string(n.node);
        k.rank = std::to_string(n.rank);
        t.number(k, "workers", double(n.workers));
        if (!n.inactive.empty())
            t.line(k, "inactive", n.inactive, "");
        t.counts(k, n.counts);
        for (const CoresFrom& c : n.cores) {
            const std::string deal = "openmp_deal_" + std::to_string(c.deal);
            t.number(k, deal + "_at_s", c.at_s);
            t.number(k, deal + "_periods", c.periods);
            t.number(k, deal + "_cores", c.cores);
        }
        t.loops(k, n.loops);
        t.rank_phases(k, n.phases, r.phases);
    }
    t.loops(all, r.loops);
    for (const CallFigures& c : r.calls) {
        Key k;
        k.call = c.name;
        fields_of_call(c.counts, [&](const char* name, double value) { t.number(k, name, value); });
    }
    for (const PhaseRowFigures& p : r.phases) {
        Key k;
        k.phase = phase_text(p);
        t.phase(k, "", p.own);
        t.phase(k, "whole_", p.whole);
    }
    return std::move(t.text);
}

} // namespace ws::observe
