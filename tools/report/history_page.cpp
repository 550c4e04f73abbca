// SPDX-License-Identifier: MIT
#include "history_page.h"

#include "history_page_text.h"
#include "observe/format.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ctime>
#include <set>

namespace ws::report {

using observe::format;

namespace {

std::string escaped(const std::string& text)
{
    std::string out;
    for (char c : text)
        out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
    return out;
}

std::string value_text(const Followed& f, double x)
{
    if (!f.is_time)
        return format("%.1f %%", 100 * x);
    return x < 1e-3 ? format("%.3g us", 1e6 * x) : x < 1 ? format("%.3g ms", 1e3 * x) : format("%.4g s", x);
}

std::string date_of(int64_t unix_ns)
{
    const time_t seconds = time_t(unix_ns / 1000000000);
    char text[32] = "";
    if (tm t; localtime_r(&seconds, &t))
        std::strftime(text, sizeof text, "%Y-%m-%d", &t);
    return text;
}

// "12 % longer", "3.0 points lower"
std::string difference(const Followed& f, const Change& c)
{
    if (f.is_time)
        return format("%.3g %% %s", 100 * std::fabs(c.after / c.before - 1), c.after > c.before ? "longer" : "shorter");
    return format("%.1f points %s", 100 * std::fabs(c.after - c.before), c.after > c.before ? "higher" : "lower");
}

bool is_worse(const Followed& f, const Change& c) { return (c.after > c.before) == f.less_is_better; }

// The name of a commit's page: what may stand in a file's name anywhere, and no name twice.
class PageNames {
public:
    std::string of(const std::string& commit)
    {
        std::string name;
        for (char c : commit)
            name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '-';
        std::string unique = name;
        for (unsigned i = 2; !taken_.insert(unique).second; i++)
            unique = name + "-" + std::to_string(i);
        return unique + ".html";
    }

private:
    std::set<std::string> taken_ = {"index"};
};

// Where points lie in a chart of fixed size, which the page scales to its width.
struct Chart {
    static constexpr double width = 720, height = 200, left = 62, right = 10, top = 10, bottom = 24;
    double low, high;
    size_t points;

    double x(double i) const
    {
        const double room = width - left - right;
        return left + (points > 1 ? room * i / double(points - 1) : room / 2);
    }
    double y(double v) const { return height - bottom - (v - low) / (high - low) * (height - top - bottom); }
};

Chart chart_for(const Curve& c)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < c.values.size(); i++)
        for (double v : c.values[i]) {
            low = std::min({low, v, c.levels[i] - 2 * c.noise});
            high = std::max({high, v, c.levels[i] + 2 * c.noise});
        }
    const double room = std::max((high - low) * 0.08, 0.005 * std::fabs(high) + 1e-12);
    return {c.figure->is_time ? std::max(0.0, low - room) : low - room, high + room, c.values.size()};
}

// The level between two changes as a line, and the noise as a band around it: two standard deviations to each side.
std::string bands(const Curve& c, const Chart& chart)
{
    std::string svg;
    for (size_t begin = 0, next = 0; begin < c.levels.size(); begin = next) {
        next = c.levels.size();
        for (const Change& change : c.changes)
            if (change.commit > begin)
                next = std::min(next, change.commit);
        const double from = chart.x(begin == 0 ? 0 : double(begin) - 0.5),
                     to = chart.x(next == c.levels.size() ? double(next) - 1 : double(next) - 0.5);
        const double level = c.levels[begin], upper = chart.y(level + 2 * c.noise),
                     lower = chart.y(level - 2 * c.noise);
        svg += format("<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", from, upper,
                      std::max(1.0, to - from), std::max(1.0, lower - upper));
        svg += format("<path class=\"level\" d=\"M%.1f %.1fH%.1f\"/>", from, chart.y(level), std::max(to, from + 1));
    }
    return svg;
}

std::string picture(const Experiment& e, const Curve& c, const std::vector<std::string>& pages)
{
    const Chart chart = chart_for(c);
    std::string svg = format("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s by commit\">", Chart::width,
                             Chart::height, c.figure->text);
    for (int i = 0; i <= 2; i++) {
        const double v = chart.low + (chart.high - chart.low) * i / 2;
        svg += format(
            "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
            Chart::left, chart.y(v), Chart::width - Chart::right, Chart::left - 6, chart.y(v) + 4,
            value_text(*c.figure, v).c_str());
    }
    svg += bands(c, chart);
    for (const Change& change : c.changes)
        svg += format("<path class=\"change %s\" d=\"M%.1f %.1fV%.1f\"/>",
                      is_worse(*c.figure, change) ? "worse" : "better", chart.x(double(change.commit) - 0.5),
                      Chart::top, Chart::height - Chart::bottom);
    svg += "<polyline class=\"curve\" points=\"";
    for (size_t i = 0; i < c.medians.size(); i++)
        svg += format("%.1f,%.1f ", chart.x(double(i)), chart.y(c.medians[i]));
    svg += "\"/>";
    for (size_t i = 0; i < c.medians.size(); i++) {
        for (double v : c.values[i])
            svg += format("<circle class=\"run\" cx=\"%.1f\" cy=\"%.1f\" r=\"1.5\"/>", chart.x(double(i)), chart.y(v));
        const Commit& commit = e.commits[i];
        svg +=
            "<a href=\"" + pages[i] + "\"><circle class=\"commit\" " +
            format("cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", chart.x(double(i)), chart.y(c.medians[i])) +
            escaped(commit.name) +
            format(", %s: %s, %zu run%s</title></circle></a>", date_of(commit.started_unix_ns).c_str(),
                   value_text(*c.figure, c.medians[i]).c_str(), commit.runs.size(), commit.runs.size() == 1 ? "" : "s");
    }
    const auto name = [&](size_t i, const char* anchor) {
        return format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", chart.x(double(i)), Chart::height - 6,
                      anchor) +
               escaped(e.commits[i].name.substr(0, 12)) + "</text>";
    };
    svg += name(0, e.commits.size() > 1 ? "start" : "middle");
    if (e.commits.size() > 1)
        svg += name(e.commits.size() - 1, "end");
    return svg + "</svg>\n";
}

// What changed, the newest first; each with the commit's name.
std::string changes_text(const Experiment& e, const std::vector<std::string>& pages)
{
    struct ChangeLine {
        size_t commit;
        std::string text;
    };
    std::vector<ChangeLine> lines;
    for (const Curve& c : e.curves)
        for (const Change& change : c.changes) {
            const Commit& commit = e.commits[change.commit];
            lines.push_back({change.commit,
                             std::string("<li class=\"") + (is_worse(*c.figure, change) ? "worse" : "better") + "\">" +
                                 c.figure->text + ": " + difference(*c.figure, change) + " since <a href=\"" +
                                 pages[change.commit] + "\">" + escaped(commit.name) + "</a> (" +
                                 date_of(commit.started_unix_ns) + "): " + value_text(*c.figure, change.before) +
                                 " &rarr; " + value_text(*c.figure, change.after) + "</li>\n"});
        }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const ChangeLine& a, const ChangeLine& b) { return a.commit > b.commit; });
    std::string text;
    for (const ChangeLine& l : lines)
        text += l.text;
    return text.empty() ? "<p>No figure changed by more than its noise.</p>\n" : "<ul>\n" + text + "</ul>\n";
}

std::string title_of(const Experiment& e)
{
    return e.program + format(", %.0f rank%s on %.0f node%s", e.ranks, e.ranks == 1 ? "" : "s", e.nodes,
                              e.nodes == 1 ? "" : "s");
}

std::string table_of(const Experiment& e, const std::vector<std::string>& pages)
{
    std::string html =
        "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th>commit</th><th>date</th><th>runs</th>";
    for (const Curve& c : e.curves)
        html += std::string("<th>") + c.figure->text + "</th>";
    html += "</tr></thead><tbody>\n";
    for (size_t i = e.commits.size(); i-- > 0;) {
        const Commit& commit = e.commits[i];
        html += "<tr><td><a href=\"" + pages[i] + "\">" + escaped(commit.name) + "</a></td><td>" +
                date_of(commit.started_unix_ns) + format("</td><td>%zu</td>", commit.runs.size());
        for (const Curve& c : e.curves)
            html += "<td>" + value_text(*c.figure, c.medians[i]) + "</td>";
        html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
}

std::string section_of(const Experiment& e, const std::vector<std::string>& pages)
{
    std::string html =
        "<section>\n<h2>" + escaped(title_of(e)) + "</h2>\n" + changes_text(e, pages) + "<div class=\"charts\">\n";
    for (const Curve& c : e.curves)
        html +=
            std::string("<figure><figcaption>") + c.figure->text + ": " + value_text(*c.figure, c.medians.back()) +
            (c.figure->is_time ? format(", noise %.2g %%", c.levels.back() > 0 ? 100 * c.noise / c.levels.back() : 0)
                               : format(", noise %.2g points", 100 * c.noise)) +
            "</figcaption>" + picture(e, c, pages) + "</figure>\n";
    return html + "</div>\n<details><summary>all commits</summary>\n" + table_of(e, pages) + "</details>\n</section>\n";
}

void replace(std::string& page, const std::string& mark, const std::string& text)
{
    for (size_t at = page.find(mark); at != page.npos; at = page.find(mark, at + text.size()))
        page.replace(at, mark.size(), text);
}

} // namespace

std::string badge(const std::string& label, double share)
{
    const std::string value = format("%.0f %%", 100 * share);
    const char* const colour = share >= 0.9 ? "#2b7a3d" : share >= 0.75 ? "#8a6100" : "#b3261e";
    constexpr double letter = 6.6, margin = 8; // of the text as drawn: textLength makes it so in any font
    const double left = letter * double(label.size()) + 2 * margin, right = letter * double(value.size()) + 2 * margin;
    const auto text = [&](const std::string& t, double x) {
        return format("<text x=\"%.1f\" y=\"14\" textLength=\"%.1f\">", x, letter * double(t.size())) + escaped(t) +
               "</text>";
    };
    return format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.1f\" height=\"20\" role=\"img\" aria-label=\"",
                  left + right) +
           escaped(label + ": " + value) + "\"><title>" + escaped(label + ": " + value) + "</title>" +
           format("<rect width=\"%.1f\" height=\"20\" rx=\"3\" fill=\"%s\"/><path d=\"M3 0H%.1fV20H3a3 3 0 0 1-3-3V3a3 "
                  "3 0 0 1 3-3z\" fill=\"#444\"/>",
                  left + right, colour, left) +
           "<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" font-weight=\"400\">" +
           text(label, margin) + text(value, left + margin) + "</g></svg>\n";
}

std::vector<PageFile> history_pages(const std::vector<Experiment>& experiments, const std::string& version)
{
    std::vector<PageFile> files;
    PageNames names;
    std::string sections;
    const Commit* newest = nullptr;
    double efficiency = 0;
    for (const Experiment& e : experiments) {
        std::vector<std::string> pages;
        for (size_t i = 0; i < e.commits.size(); i++) {
            const Commit& commit = e.commits[i];
            std::vector<observe::NamedReport> runs;
            for (const Run* run : commit.runs)
                runs.push_back({run->file, &run->report});
            pages.push_back(names.of(commit.name));
            files.push_back({pages.back(), observe::report_html(runs)});
        }
        sections += section_of(e, pages);
        if (!newest || e.commits.back().started_unix_ns > newest->started_unix_ns) {
            newest = &e.commits.back();
            for (const Curve& c : e.curves)
                if (c.figure->name == std::string("parallel_efficiency"))
                    efficiency = c.medians.back();
        }
    }
    const std::string picture = badge("parallel efficiency", efficiency);
    files.push_back({"badge.svg", picture});
    std::string page = observe::history_page;
    replace(page, "@VERSION@", escaped(version));
    replace(page, "@BADGE@", picture);
    replace(page, "@SECTIONS@", sections);
    files.push_back({"index.html", page});
    return files;
}

} // namespace ws::report
