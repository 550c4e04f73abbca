// SPDX-License-Identifier: MIT
//
// ws-top: a live view of the -workshare jobs on this node. docs/man/ws-top.1.scd
#include "json.h"
#include "replay.h"
#include "screen.h"
#include "text.h"
#include "watch.h"
#include "../command_line.h"
#include "../text_of.h"
#include "base/open_file.h"
#include "base/os.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <curses.h>
#include <optional>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ws::top;

namespace {

struct Options {
    Selection selection;
    double interval = 1;
    unsigned long count = 1;
    bool once = false, json = false;
    std::string record, replay;
};

int fail(int status, const std::string& what)
{
    std::fprintf(stderr, "ws-top: %s\n", for_locale(what).c_str());
    return status;
}

std::string user_name(uid_t uid)
{
    const passwd* user = getpwuid(uid);
    return user ? user->pw_name : std::to_string(uid);
}

std::string no_job(const Selection& s)
{
    char host[256] = "this node";
    gethostname(host, sizeof host - 1);
    struct stat process;
    if (s.pid) {
        const std::string who = "process " + std::to_string(s.pid);
        if (stat(("/proc/" + std::to_string(s.pid)).c_str(), &process) != 0)
            return "there is no " + who + " on " + host;
        if (geteuid() != 0 && process.st_uid != geteuid())
            return who + " is of user " + user_name(process.st_uid) + ": only that user and root can view it";
        return who + " is not a rank of a -workshare job, and has not started one";
    }
    const std::string others = geteuid() == 0 && !s.all ? " (--all: of all users)" : "";
    if (!s.job.empty())
        return "no -workshare job on " + std::string(host) + " has a name that begins with " + s.job + others;
    return "no -workshare job" + (s.all ? "" : " of user " + user_name(geteuid())) + " runs on " + host + others;
}

void tell(std::vector<Problem>& problems)
{
    for (const Problem& p : problems)
        fail(0, "process " + std::to_string(p.pid) + ": " + p.what);
}

unsigned output_width()
{
    winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    const char* columns = std::getenv("COLUMNS");
    const int width = columns ? std::atoi(columns) : 0;
    return width > 0 ? unsigned(width) : 120;
}

void sleep_until(double when)
{
    for (double left; (left = when - ws::base::seconds_now()) > 0;) {
        timespec t = {time_t(left), long((left - double(time_t(left))) * 1e9)};
        nanosleep(&t, nullptr);
    }
}

void print(const std::vector<JobSample>& jobs, const View& view)
{
    for (size_t i = 0; i < jobs.size(); i++) {
        if (i)
            std::puts("");
        for (const Line& line : list(jobs[i], view, output_width())) {
            const std::string text = line.text();
            std::puts(for_locale(text.substr(0, text.find_last_not_of(' ') + 1)).c_str());
        }
    }
}

// Writes the snapshots that are shown to a file as --json prints them, each at once: what is there is whole lines, even
// if ws-top is killed.
class Recorder {
public:
    explicit Recorder(const std::string& name) : name_(name)
    {
        if (name.empty())
            return;
        const int fd = ws::base::open_to_write(name.c_str());
        file_ = fd < 0 ? nullptr : fdopen(fd, "w");
        if (!file_)
            fail();
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    ~Recorder()
    {
        if (file_)
            std::fclose(file_);
    }
    void add(const std::string& line)
    {
        if (file_ && (std::fputs((line + "\n").c_str(), file_) < 0 || std::fflush(file_) != 0))
            fail();
    }
    bool records() const { return file_; }

private:
    [[noreturn]] void fail() const { throw std::runtime_error("cannot write " + name_ + ": " + std::strerror(errno)); }
    std::string name_;
    FILE* file_ = nullptr;
};

double unix_seconds()
{
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

std::string json_line(const std::vector<JobSample>& jobs, const std::vector<Problem>& problems, double at)
{
    return to_json(jobs, problems, at, WS_VERSION).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Snapshots of a recording on stdout.
int replayed(const Options& options, Replay& replay)
{
    for (unsigned long i = 0; (!options.count || i < options.count) && !replay.at_end(); i++) {
        const std::vector<JobSample> jobs = replay.sample();
        if (options.json)
            std::puts(json_line(jobs, replay.problems(), replay.unix_seconds()).c_str());
        else {
            if (i)
                std::puts("");
            print(jobs, View());
        }
        replay.problems().clear();
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            return fail(1, std::string("cannot write: ") + std::strerror(errno));
    }
    return 0;
}

// Snapshots on stdout.
int snapshots(const Options& options)
{
    Recorder recorder(options.record);
    Watch watch(options.selection);
    std::vector<JobSample> jobs = watch.sample();
    double next = ws::base::seconds_now();
    View view;
    for (unsigned long i = 0; !options.count || i < options.count; i++) {
        if (jobs.empty() && i == 0) {
            tell(watch.problems());
            return watch.problems().empty() || options.selection.pid || !options.selection.job.empty()
                       ? fail(1, no_job(options.selection))
                       : 1;
        }
        sleep_until(next += options.interval);
        jobs = watch.sample(i == 0); // with what began in between, if it is all that will be shown
        const std::string line =
            options.json || recorder.records() ? json_line(jobs, watch.problems(), unix_seconds()) : "";
        recorder.add(line);
        if (options.json)
            std::puts(line.c_str());
        else {
            if (i)
                std::puts("");
            print(jobs, view);
        }
        tell(watch.problems());
        watch.problems().clear();
        if (std::fflush(stdout) != 0 || std::ferror(stdout))
            return fail(1, std::string("cannot write: ") + std::strerror(errno));
        bool over = true;
        for (const JobSample& job : jobs)
            over = over && job.over;
        if (over)
            break;
    }
    return 0;
}

// False to quit.
bool act(int key, View& view, const std::vector<JobSample>& jobs, unsigned page)
{
    const auto turn = [&](int by) {
        if (!jobs.empty())
            view.job = jobs[(shown_job(jobs, view) + jobs.size() + size_t(by)) % jobs.size()].id;
        view.scroll = 0;
    };
    const auto back = [&](unsigned by) { view.scroll -= std::min(view.scroll, by); };
    if (view.help && key != 'q') {
        view.help = false;
        return true;
    }
    switch (key) {
    case 'q': return false;
    case 's': view.sort = Column((int(view.sort) + 1) % columns); break;
    case 'S': view.sort = Column((int(view.sort) + columns - 1) % columns); break;
    case 'r': view.reverse = !view.reverse; break;
    case 't': view.since_start = !view.since_start; break;
    case 'm': view.summary = !view.summary; break;
    case 'l': view.phases = !view.phases; break;
    case 'p':
    case ' ': view.paused = !view.paused; break;
    case 'j':
    case '\t': turn(1); break;
    case 'J': turn(-1); break;
    case '+': view.interval = next_interval(view.interval, true); break;
    case '-': view.interval = next_interval(view.interval, false); break;
    case '?':
    case 'h':
    case KEY_F(1): view.help = true; break;
    case KEY_UP: back(1); break;
    case KEY_DOWN: view.scroll++; break;
    case KEY_PPAGE: back(page); break;
    case KEY_NPAGE: view.scroll += page; break;
    case KEY_HOME: view.scroll = 0; break;
    case KEY_END: view.scroll = 1 << 20; break;
    }
    return true;
}

// `replay`: what is shown in place of this machine's jobs, or null.
int live(const Options& options, Replay* replay)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return fail(2, "stdin or stdout is not a terminal: use --once for text or --json");
    Recorder recorder(options.record);
    Watch of_machine(options.selection);
    Source& watch = replay ? static_cast<Source&>(*replay) : of_machine;
    std::vector<JobSample> jobs = watch.sample();
    if (!replay && jobs.empty() && (options.selection.pid || !options.selection.job.empty()))
        return fail(1, no_job(options.selection));
    Screen screen;
    if (!screen.works())
        return fail(2, "the terminal's type is unknown (TERM=" +
                           std::string(std::getenv("TERM") ? std::getenv("TERM") : "") + "): use --once");
    View view;
    view.interval = options.interval;
    view.replay = replay;
    double next = ws::base::seconds_now() + (replay ? view.interval : std::min(0.3, view.interval)); // shares come soon
    double message_until = 0;
    for (;;) {
        const double now = ws::base::seconds_now();
        if (now >= next && !view.paused) {
            jobs = watch.sample();
            next = now + view.interval;
            if (recorder.records())
                recorder.add(json_line(jobs, watch.problems(), unix_seconds()));
        }
        if (replay)
            view.place = "snapshot " + std::to_string(replay->shown() + 1) + " of " + std::to_string(replay->size());
        if (!watch.problems().empty()) {
            const Problem& p = watch.problems().front();
            view.message = "process " + std::to_string(p.pid) + ": " + p.what;
            message_until = now + 8;
            watch.problems().erase(watch.problems().begin());
        } else if (now > message_until)
            view.message.clear();
        screen.draw(lay_out(jobs, view, screen.width(), screen.height()));
        const double interval = view.interval;
        switch (screen.wait(view.paused ? 3600 : std::max(0.0, next - ws::base::seconds_now()))) {
        case Screen::gone: return 1;
        case Screen::key_pressed:
            view.message.clear();
            if (replay && (screen.key() == KEY_LEFT || screen.key() == KEY_RIGHT)) {
                replay->move(screen.key() == KEY_LEFT ? -1 : 1);
                jobs = replay->sample();
                view.paused = true;
                break;
            }
            if (!act(screen.key(), view, jobs, screen.height() > 12 ? screen.height() - 12 : 1))
                return 0;
            next += view.interval - interval;
            break;
        default: break;
        }
    }
}

} // namespace

int main(int argc, char** argv)
{
    std::setlocale(LC_ALL, "");
    std::setlocale(LC_NUMERIC, "C"); // --interval 0.5, and JSON
    Options options;
    CLI::App app("A live view of the mpirun -workshare jobs on this node: who computes, who waits where, whose core is "
                 "lent to whom.\n"
                 "Without --once or --json it fills the terminal; ? lists the keys.",
                 "ws-top");
    ws::tools::set_up(app, "ws-top " WS_VERSION);
    app.add_flag("--once", options.once, "print one snapshot as text and end")->disable_flag_override();
    app.add_flag("--json", options.json, "print one snapshot as a line of JSON and end, also with --once")
        ->disable_flag_override();
    app.add_option("-i,--interval", options.interval, "seconds between two looks, from 0.05 on; 1 if not given")
        ->check(ws::tools::number("a number of seconds", 0.05, 86400, false))
        ->type_name("SECONDS");
    auto* count =
        app.add_option("-n,--count", options.count,
                       "with --once or --json: the number of snapshots, at most until the jobs end; 0: until then")
            ->check(ws::tools::number("a number of snapshots", 0, 1e9))
            ->type_name("N");
    app.add_option("-p,--pid", options.selection.pid,
                   "only the job with this process: a rank, or what started it, such as mpirun")
        ->check(ws::tools::number("the number of a process,", 1, 4194304))
        ->type_name("PID");
    app.add_option("-j,--job", options.selection.job, "only the jobs whose name begins so")->type_name("NAME");
    app.add_flag("-a,--all", options.selection.all, "root: jobs of all users, not only root's own")
        ->disable_flag_override();
    auto* record =
        app.add_option("-r,--record", options.record, "write each snapshot that is shown to this file, too, as JSON")
            ->type_name("FILE")
            ->check(ws::tools::name_of("a file"));
    app.add_option("-R,--replay", options.replay, "show what --record has written, in place of this node's jobs")
        ->type_name("FILE")
        ->check(ws::tools::name_of("a file"))
        ->excludes(record)
        ->excludes("--pid")
        ->excludes("--all");
    app.footer("Exit status: 0; 1 no such job, or the output cannot be written; 2 wrong use, or no recording.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) ? 2 : 0;
    }
    for (char& c : options.selection.job)
        c = char(std::tolower(c));
    if (options.selection.job.find_first_not_of("0123456789abcdef") != std::string::npos)
        return fail(2, "--job: '" + options.selection.job +
                           "' does not consist of the digits 0-9 and a-f, as the name of a job does");
    if (count->count() && !options.json)
        options.once = true;
    try {
        if (options.replay.empty())
            return options.once || options.json ? snapshots(options) : live(options, nullptr);
        std::string text;
        if (const std::string wrong = ws::base::read_whole(options.replay.c_str(), text); !wrong.empty())
            return fail(2, options.replay + ": " + wrong);
        std::optional<Replay> replay;
        try {
            replay.emplace(text, options.selection.job);
        } catch (const std::exception& e) {
            return fail(2, options.replay + ": " + e.what());
        }
        return options.once || options.json ? replayed(options, *replay) : live(options, &*replay);
    } catch (const std::exception& e) { // the terminal has been given back
        return fail(1, ws::tools::text_of(e));
    }
}
