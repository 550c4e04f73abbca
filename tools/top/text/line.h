// SPDX-License-Identifier: MIT
//
// Lines of styled text, and text of a width: characters of valid UTF-8 are counted.
#pragma once

#include <string>
#include <vector>

namespace ws::top {

enum class Style { plain, strong, dim, heading, computing, lent, waiting, borrowed, alert };

struct Piece {
    std::string text;
    Style style;
};

struct Line {
    std::vector<Piece> pieces;

    Line& add(const std::string& text, Style style = Style::plain);
    // Cuts the line or fills it with blanks; a cut one ends in '>'.
    void fit(unsigned width);
    unsigned width() const;
    std::string text() const;
};

// Characters, of valid UTF-8.
unsigned width_of(const std::string& text);

std::string cut(const std::string& text, unsigned n);    // the first `n` characters
std::string behind(const std::string& text, unsigned n); // all but these
std::string cut_in_front(const std::string& text, unsigned n); // the last ones, after "...": of a name, they tell more
std::string padded(const std::string& text, int width);  // cut or filled with blanks; negative: to the left

} // namespace ws::top
