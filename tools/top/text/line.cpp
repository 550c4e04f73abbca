// SPDX-License-Identifier: MIT
#include "line.h"

#include <algorithm>
#include <cstdlib>

namespace ws::top {

unsigned width_of(const std::string& text)
{
    return unsigned(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string cut(const std::string& text, unsigned n)
{
    size_t i = 0;
    for (unsigned seen = 0; i < text.size(); i++)
        if ((text[i] & 0xc0) != 0x80 && seen++ == n)
            break;
    return text.substr(0, i);
}

std::string behind(const std::string& text, unsigned n) { return text.substr(cut(text, n).size()); }

std::string cut_in_front(const std::string& text, unsigned n)
{
    if (width_of(text) <= n)
        return text;
    return n > 3 ? "..." + behind(text, width_of(text) - (n - 3)) : cut(text, n);
}

std::string padded(const std::string& text, int width)
{
    const unsigned want = unsigned(std::abs(width)), has = width_of(text);
    if (has > want)
        return cut(text, want);
    const std::string blanks(want - has, ' ');
    return width < 0 ? text + blanks : blanks + text;
}

Line& Line::add(const std::string& text, Style style)
{
    if (!text.empty())
        pieces.push_back({text, style});
    return *this;
}

unsigned Line::width() const
{
    unsigned sum = 0;
    for (const Piece& p : pieces)
        sum += width_of(p.text);
    return sum;
}

std::string Line::text() const
{
    std::string all;
    for (const Piece& p : pieces)
        all += p.text;
    return all;
}

void Line::fit(unsigned width)
{
    if (this->width() <= width)
        return;
    const std::string all = text();
    // What is only blanks beyond the edge is not missed.
    const size_t last = all.find_last_not_of(' ');
    const bool missed = last != std::string::npos && width_of(all.substr(0, last + 1)) > width;
    unsigned left = missed && width ? width - 1 : width;
    std::vector<Piece> kept;
    for (Piece& p : pieces) {
        kept.push_back({cut(p.text, left), p.style});
        left -= width_of(kept.back().text);
    }
    pieces = std::move(kept);
    if (missed && width)
        add(">", Style::dim);
}

} // namespace ws::top
