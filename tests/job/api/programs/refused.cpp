// SPDX-License-Identifier: MIT
//
// Each case must not compile; after "wanted:" stands what the compiler's messages must contain.
#include <list>
#include <vector>
#include <workshare/ws.hpp>

void refused(std::vector<bool>& bits, std::list<int>& list)
{
#if CASE == 1 // wanted: must be callable as const
    int sum = 0;
    ws::for_each(0, 10, [sum](int i) mutable { sum += i; });
#elif CASE == 2 // wanted: elements of std::vector<bool> share words
    ws::for_each(bits, [](auto&& bit) { bit = true; });
#elif CASE == 3 // wanted: no matching function
    ws::for_each(list, [](int) {});
#elif CASE == 4 // wanted: no matching function
    ws::for_each(false, true, [](bool) {});
#elif CASE == 5 // wanted: must be callable as const with an index
    ws::for_each(0, 10, [] {});
#elif CASE == 6 // wanted: must be callable as const with (first, last)
    ws::for_chunks(0, 10, [](int) {});
#elif CASE == 7 // wanted: no matching function
    ws::for_each(static_cast<__int128>(0), static_cast<__int128>(1), [](__int128) {});
#elif CASE == 8 // wanted: no matching function
    ws::for_each(0.0, 1.0, [](double) {});
#endif
    (void)bits, (void)list;
}
