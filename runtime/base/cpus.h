// SPDX-License-Identifier: MIT
//
// Sets of CPUs as the kernel has them, of any size: a cpu_set_t ends at 1,024 CPUs, and is refused by the kernel of a
// machine that may have more.
#pragma once

#include <cstddef>
#include <sched.h>
#include <vector>

namespace ws::base {

// A set in memory that somebody else owns, as in the window. Sets may be of different sizes: a CPU for which a set has
// no bit is not in it.
class CpuMask {
public:
    CpuMask(const unsigned long* words, unsigned size) : words_(words), size_(size) {}

    static constexpr int bits = 8 * sizeof(unsigned long);
    const unsigned long* words() const { return words_; }
    unsigned size() const { return size_; } // in words
    bool has_room(int cpu) const { return cpu >= 0 && unsigned(cpu) / bits < size_; }
    bool has(int cpu) const { return has_room(cpu) && (words_[cpu / bits] >> (cpu % bits) & 1); }
    unsigned count() const
    {
        unsigned sum = 0;
        for (unsigned i = 0; i < size_; i++)
            sum += unsigned(__builtin_popcountl(words_[i]));
        return sum;
    }
    bool empty() const { return count() == 0; }
    // The first from `cpu` on; -1: none. For all: for (int c = m.first(); c >= 0; c = m.first(c + 1))
    int first(int cpu = 0) const
    {
        for (; has_room(cpu); cpu = (cpu / bits + 1) * bits)
            if (const unsigned long rest = words_[cpu / bits] >> (cpu % bits))
                return cpu + __builtin_ctzl(rest);
        return -1;
    }
    // How many CPUs both have.
    unsigned common(CpuMask other) const
    {
        unsigned sum = 0;
        for (unsigned i = 0; i < size_ && i < other.size_; i++)
            sum += unsigned(__builtin_popcountl(words_[i] & other.words_[i]));
        return sum;
    }
    // For the calling thread, or another one by the kernel's number. False with errno: EINVAL if it may use none of
    // them.
    bool bind(int thread = 0) const
    {
        return sched_setaffinity(thread, size_ * sizeof *words_, reinterpret_cast<const cpu_set_t*>(words_)) == 0;
    }

private:
    const unsigned long* words_;
    unsigned size_;
};

// One with memory of its own.
class CpuSet {
public:
    static constexpr unsigned usual = CPU_SETSIZE / CpuMask::bits; // words
    explicit CpuSet(unsigned size = usual) : words_(size) {}
    explicit CpuSet(CpuMask other) : words_(other.words(), other.words() + other.size()) {}
    operator CpuMask() const { return {words_.data(), unsigned(words_.size())}; }
    CpuMask mask() const { return *this; }

    void clear() { words_.assign(words_.size(), 0); }
    // Grows if it has to; never if has_room(cpu).
    void add(int cpu)
    {
        if (unsigned(cpu) / CpuMask::bits >= words_.size())
            words_.resize(unsigned(cpu) / CpuMask::bits + 1);
        words_[unsigned(cpu) / CpuMask::bits] |= 1ul << (cpu % CpuMask::bits);
    }
    void add(CpuMask other)
    {
        if (words_.size() < other.size())
            words_.resize(other.size());
        for (unsigned i = 0; i < other.size(); i++)
            words_[i] |= other.words()[i];
    }
    // Becomes the set of the calling thread. False, and unchanged, if the kernel does not say or wants a larger set.
    bool read_own()
    {
        return sched_getaffinity(0, words_.size() * sizeof words_[0], reinterpret_cast<cpu_set_t*>(words_.data())) == 0;
    }

private:
    std::vector<unsigned long> words_;
};

// The CPUs that the calling thread may run on, in a set as large as the kernel wants it; if it does not say (a
// sandbox), all that are online.
CpuSet own_cpus();

} // namespace ws::base
