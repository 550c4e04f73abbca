// SPDX-License-Identifier: MIT
#include "screen.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <curses.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ws::top {

namespace {

constexpr int enders[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile sig_atomic_t ended_by, stop_asked, continued, new_size;

void note(int signal)
{
    if (signal == SIGTSTP)
        stop_asked = 1;
    else if (signal == SIGCONT)
        continued = 1;
    else if (signal == SIGWINCH)
        new_size = 1;
    else
        ended_by = signal;
}

// Signals are blocked except in ppoll(), so that none is missed between a look at the flags and the wait.
sigset_t ours()
{
    sigset_t set;
    sigemptyset(&set);
    for (int s : enders)
        sigaddset(&set, s);
    for (int s : {SIGTSTP, SIGCONT, SIGWINCH})
        sigaddset(&set, s);
    return set;
}

void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(signal, &action, nullptr);
}

int attributes(Style style, bool colours)
{
    switch (style) {
    case Style::strong: return A_BOLD;
    case Style::dim: return colours ? int(A_DIM) : int(A_NORMAL);
    case Style::heading: return A_REVERSE;
    case Style::computing: return colours ? COLOR_PAIR(1) : A_NORMAL;
    case Style::lent: return colours ? COLOR_PAIR(2) : A_NORMAL;
    case Style::waiting: return colours ? COLOR_PAIR(3) : A_NORMAL;
    case Style::borrowed: return colours ? COLOR_PAIR(4) : A_NORMAL;
    case Style::alert: return A_BOLD | (colours ? COLOR_PAIR(5) : 0);
    default: return A_NORMAL;
    }
}

} // namespace

std::string for_locale(const std::string& utf8)
{
    static const bool all = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (all)
        return utf8;
    std::string out;
    for (char c : utf8)
        if ((c & 0xc0) != 0x80)
            out += c & 0x80 ? '?' : c;
    return out;
}

Screen::Screen()
{
    // Before ncurses starts: it takes only signals that have no handler.
    const sigset_t set = ours();
    for (int s : enders) {
        struct sigaction before;
        sigaction(s, nullptr, &before);
        if (before.sa_handler != SIG_IGN) // nohup
            handle(s, note);
    }
    for (int s : {SIGTSTP, SIGCONT, SIGWINCH})
        handle(s, note);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    use_tioctl(TRUE); // LINES and COLUMNS of the environment may be of another window
    if (!newterm(nullptr, stdout, stdin)) {
        sigprocmask(SIG_UNBLOCK, &set, nullptr);
        return;
    }
    works_ = true;
    cbreak();
    noecho();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    const char* without = std::getenv("NO_COLOR");
    if (has_colors() && !(without && *without)) {
        colours_ = true;
        start_color();
        use_default_colors();
        const short colours[] = {COLOR_GREEN, COLOR_CYAN, COLOR_YELLOW, COLOR_MAGENTA, COLOR_RED};
        for (short i = 0; i < 5; i++)
            init_pair(short(i + 1), colours[i], -1);
    }
}

Screen::~Screen()
{
    if (works_)
        endwin();
}

unsigned Screen::width() const { return unsigned(std::max(1, COLS)); }
unsigned Screen::height() const { return unsigned(std::max(1, LINES)); }

void Screen::draw(const std::vector<Line>& lines)
{
    erase();
    for (size_t y = 0; y < lines.size() && int(y) < LINES; y++) {
        move(int(y), 0);
        for (const Piece& p : lines[y].pieces) {
            attrset(attributes(p.style, colours_));
            addstr(for_locale(p.text).c_str());
        }
    }
    attrset(A_NORMAL);
    refresh();
}

void Screen::end_by(int signal)
{
    endwin();
    works_ = false;
    handle(signal, SIG_DFL);
    const sigset_t set = ours();
    raise(signal);
    sigprocmask(SIG_UNBLOCK, &set, nullptr); // here it comes
    _exit(128 + signal);
}

void Screen::suspend()
{
    endwin();
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    handle(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, nullptr); // stops here
    sigprocmask(SIG_BLOCK, &stop, nullptr);
    handle(SIGTSTP, note);
    new_size = 1; // the window may be another one now
}

Screen::ScreenEvent Screen::wait(double seconds)
{
    pollfd in = {STDIN_FILENO, POLLIN, 0};
    key_ = getch(); // one that came with the last
    if (key_ == ERR) {
        sigset_t none;
        sigprocmask(SIG_BLOCK, nullptr, &none);
        for (int s : enders)
            sigdelset(&none, s);
        for (int s : {SIGTSTP, SIGCONT, SIGWINCH})
            sigdelset(&none, s);
        timespec limit = {time_t(seconds), long(std::fmod(seconds, 1) * 1e9)};
        ppoll(&in, 1, &limit, &none);
    }
    if (ended_by)
        end_by(ended_by);
    if (stop_asked) {
        stop_asked = 0;
        suspend();
    }
    if (continued || new_size) {
        const bool resize = new_size;
        continued = new_size = 0;
        winsize size;
        if (resize && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
            resizeterm(size.ws_row, size.ws_col);
        clearok(stdscr, TRUE);
        return resized;
    }
    if (key_ == ERR && (in.revents & POLLIN)) {
        key_ = getch();
        if (key_ == ERR) {
            char c;
            // Readable, but no key: the terminal is gone, or only half of a key's sequence has come.
            if (in.revents & (POLLHUP | POLLERR) ||
                (::read(STDIN_FILENO, &c, 0) < 0 && errno != EAGAIN && errno != EINTR))
                return gone;
        }
    }
    if (key_ == ERR && (in.revents & (POLLHUP | POLLERR | POLLNVAL)))
        return gone;
    return key_ == ERR ? nothing : key_pressed;
}

} // namespace ws::top
