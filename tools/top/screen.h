// SPDX-License-Identifier: MIT
//
// The terminal: draws lines, reads keys, gives the terminal back as it was whatever ends the program.
#pragma once

#include "text.h"
#include <string>
#include <vector>

namespace ws::top {

// Text in the terminal's own character set: what it cannot show becomes '?'.
std::string for_locale(const std::string& utf8);

class Screen {
public:
    Screen();
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    bool works() const { return works_; } // else the terminal's type is unknown
    unsigned width() const, height() const;
    void draw(const std::vector<Line>& lines);

    enum ScreenEvent { nothing, key_pressed, resized, gone };
    // Waits for a key, at most so long. A signal that ends programs ends this one, with the terminal as it was.
    ScreenEvent wait(double seconds);
    int key() const { return key_; } // as ncurses numbers them

private:
    void suspend();
    void end_by(int signal);
    bool works_ = false, colours_ = false;
    int key_ = 0;
};

} // namespace ws::top
