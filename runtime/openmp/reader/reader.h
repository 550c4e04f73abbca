// SPDX-License-Identifier: MIT
//
// Reads machine code, by capstone: whether a region, or what it may call, can learn how many threads there are or which
// one it is. One thread at a time.
//
// GCC's code asks both to deal a static loop: thread t of n gets q * t + r and what follows, with q = iterations / n.
// That is no news to the program: so it is no question if the two numbers go into nothing but such a division, its
// product, and comparisons with its remainder or (t, as for `master`) with 0, on any way through the code; or into
// loops that are run in rounds (round_state.h). Everything else that touches a register or a place on the stack that
// may hold one of them is one.
#pragma once

#include "openmp/binary.h"
#include "openmp/code.h"
#include "openmp/reader/state.h"

#include <set>
#include <vector>

namespace ws::openmp {

class Reader {
public:
    Reader()
    {
        is_open_ = cs_open(CS_ARCH_X86, CS_MODE_64, &capstone_) == CS_ERR_OK;
        if (is_open_)
            cs_option(capstone_, CS_OPT_DETAIL, CS_OPT_ON);
        now_ = is_open_ ? cs_malloc(capstone_) : nullptr;
    }
    ~Reader()
    {
        if (now_)
            cs_free(now_, 1);
        if (is_open_)
            cs_close(&capstone_);
    }
    Reader(const Reader&) = delete;

    RegionCode look_at(uintptr_t function, void (*tell_name)(void* to, const char* name), void* to);
    std::vector<std::pair<uintptr_t, bool>> dealing; // return addresses; whether such a loop follows

private:
    friend class Rounds;
    struct Called {
        uintptr_t to;     // 0: by way of a register or a table
        const char* name; // of another module's function that is called; null: it is none
    };
    const Imports& imports(uintptr_t address);
    bool read(uintptr_t at, uintptr_t end);
    Called called();
    const cs_x86& detail() const { return now_->detail->x86; }
    const cs_x86_op& operand(unsigned i) const { return now_->detail->x86.operands[i]; }

    // What a function does.
    struct Seen {
        bool asks = false;
        bool deals = false;           // with the answers
        bool by_table = false;        // it calls by way of a register or a table
        std::vector<uintptr_t> calls; // what else it may call, of which something is to be known
        std::vector<const char*> names; // OpenMP's functions that it calls
    };
    const Seen& seen(const Function& f, bool is_region);
    bool read_all(const Function& f, bool is_region, Seen& seen);
    void note_address(uintptr_t address, const Function& f, Seen& seen);
    bool deals_first(uintptr_t function);
    bool somebody_asks();
    bool flows_out(uintptr_t question, Kind told, const Function& f, bool is_region, std::set<uintptr_t>& seen);
    bool flows_out(uintptr_t begin, const State& state, const Function& f, bool is_region);
    bool deals_in_rounds(uintptr_t question, Kind told, const Function& f, bool is_region, std::set<uintptr_t>& seen);
    bool callee_takes(uintptr_t callee, const State& s);
    bool leaves(uintptr_t callee, int reg);
    bool step(State& s, uintptr_t at, uintptr_t& to, bool& goes_on, const Function& f, bool is_region);
    bool step_call(State& s, uintptr_t at);
    bool step_jump(const State& s, uintptr_t at, uintptr_t& to, bool& goes_on, const Function& f);
    bool step_move(State& s);
    bool step_compare(const State& s);
    bool step_divide(State& s);
    bool step_address(State& s);
    bool step_otherwise(State& s);
    bool is_dealing(State& s);
    int register_of(unsigned operand) const;
    bool addresses(const State& s) const;
    Kind kind(const State& s, const cs_x86_op& op) const;
    bool is_stack(const cs_x86_op& op) const;
    bool is_own_place(const Place& place, unsigned bytes) const;
    void note_stack(bool& has_called);
    // A switch jumps by a table of distances: one is loaded, what it counts from is added.
    struct Table {
        int loaded = -1, sum = -1; // the registers
    };
    bool is_switch(Table& table) const;
    static Place place(const State& s, const cs_x86_op& op);
    bool touches(const State& s) const;
    void write(State& s) const;

    csh capstone_ = 0;
    bool is_open_ = false;
    cs_insn* now_ = nullptr;
    std::map<uintptr_t, Imports> modules_; // by where their text begins
    // Of the function that is looked at: rbp is where its frame begins; the lowest places on the stack whose addresses
    // it makes, by either register.
    bool has_frame_ = false;
    int64_t lowest_[2] = {};
    Function frame_of_ = {};
    bool deals_ = false;
    unsigned depth_ = 0; // of calls that numbers are followed into
    std::set<uintptr_t>* questions_ = nullptr;
    unsigned steps_left_ = 1000000; // some 0.5 s, of the whole process
    std::map<uintptr_t, Seen> functions_; // by their first address
    int program_asks_ = -1;
};

} // namespace ws::openmp
