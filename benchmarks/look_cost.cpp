// SPDX-License-Identifier: MIT
//
// What one look of a thief costs on a node where nobody has work: the runtime's own Chooser on a window of --ranks
// ranks. No MPI.
//
// While it looks the window is mapped without the right to write: a look that writes to a shared line kills the
// program.
#include "base/mapping.h"
#include "lend/chooser.h"
#include "lend/victims.h"
#include "loop/chaos.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <vector>

namespace ws::loop {
Chaos chaos; // loop/region.cpp's, which is not linked
}

namespace {

double median(std::vector<double> v)
{
    std::nth_element(v.begin(), v.begin() + long(v.size() / 2), v.end());
    return v[v.size() / 2];
}

} // namespace

int main(int argc, char** argv)
{
    unsigned ranks = 128;
    bool json = false;
    for (int i = 1; i < argc; i++)
        if (!std::strcmp(argv[i], "--json"))
            json = true;
        else if (!std::strcmp(argv[i], "--ranks") && i + 1 < argc && std::atoi(argv[i + 1]) > 1 &&
                 std::atoi(argv[i + 1]) <= 1000)
            ranks = unsigned(std::atoi(argv[++i]));
        else {
            std::fprintf(stderr, "look_cost [--ranks N (2 to 1000; 128)] [--json]: a look over a node without work\n");
            return 2;
        }

    const size_t bytes = ws::window::Window::bytes(ranks, ranks);
    const ws::base::Mapping mapping = ws::base::map_anonymous(ws::base::read_write, bytes);
    void* const base = mapping.get_address();
    if (!base) {
        std::perror("look_cost: mmap");
        return 1;
    }
    ws::window::Window window;
    for (unsigned r = ranks; r-- > 0;) { // the last is rank 0, the looker
        window.map(base, ranks, ranks, r);
        window.init_own(int(r), ranks, 0, {});
    }
    for (unsigned r = 0; r < ranks; r++) { // guests listen everywhere
        ws::base::Hardware::store_relaxed(window.guest(r, 0).state, ws::window::guest_ready);
        for (unsigned c = 1; c < ranks; c++)
            ws::base::Hardware::store_relaxed(window.guest(r, c).state, ws::window::guest_ready);
    }

    ws::lend::Chooser chooser;
    chooser.start(window, 0, ws::lend::victims[0], false);
    // the first look tells all that somebody waits, and so it writes
    unsigned found = bool(chooser.choose(ws::window::asleep_hungry, false, 0));
    mprotect(base, bytes, PROT_READ);

    std::vector<double> batches;
    constexpr int looks = 200;
    for (int b = 0; b < 501; b++) {
        auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < looks; k++)
            found += bool(chooser.choose(ws::window::asleep_hungry, false, 0));
        batches.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
                          looks);
    }
    double ns = median(batches);

    // It does see work where there is some.
    mprotect(base, bytes, PROT_READ | PROT_WRITE);
    window.row(ranks - 1).loops[0].publish(0, {1000, 0, 100});
    ws::base::Hardware::store_release(window.open(ranks - 1), 1);
    ws::lend::Target target = chooser.choose(ws::window::asleep_hungry, false, 0);
    if (found || target.rank != ranks - 1) {
        std::fprintf(stderr,
                     "look_cost: WRONG: found work %u times where there was none, then rank %d's instead of %u's\n",
                     found, int(target.rank), ranks - 1);
        return 1;
    }
    std::printf(json ? "{\"program\": \"look_cost\", \"ranks\": %u, \"look_ns\": %.2f, \"window_kib_per_rank\": %.1f}\n"
                     : "a look over %u ranks: %.1f ns; window: %.1f KiB per rank\n",
                ranks, ns, double(bytes) / 1024 / ranks);
    return 0;
}
