// SPDX-License-Identifier: MIT
#include <list>
#include <map>
#include <string>
#include <vector>

void g(int);

struct NoCopy {
    NoCopy() = default;
    NoCopy(const NoCopy &) = delete;
    int v = 0;
};
struct NoDefault {
    explicit NoDefault(int) {}
};
struct Member {
    int n = 3, total = 0;
    void of_another(Member &m) {
#pragma ws for private(m.n)
        for (int i = 0; i < n; i++)
            g(i);
    }
#pragma ws for
    int x;
};

template <class T>
void instantiated(T n, int chunk) {
#pragma ws for schedule(dynamic, n)
    for (int i = 0; i < 10; i++)
        g(i);
}
template void instantiated(int, int);
template void instantiated(double, int);

template <int Chunk>
void with_constant(int n) {
#pragma ws for schedule(dynamic, Chunk)
    for (int i = 0; i < n; i++)
        g(i);
}
template void with_constant<2>(int);
template void with_constant<-2>(int);

void copies(int n) {
    NoCopy a;
    NoDefault b(3);
    std::string s;
#pragma ws for firstprivate(a)
    for (int i = 0; i < n; i++)
        g(a.v + i);
#pragma ws for private(b)
    for (int i = 0; i < n; i++)
        g((&b, i));
#pragma ws for reduction(+ : s)
    for (int i = 0; i < n; i++)
        g(i);
}

void containers(std::list<int> l, std::map<int, int> m, std::vector<int> v) {
#pragma ws for
    for (auto it = l.begin(); it != l.end(); ++it)
        g(*it);
#pragma ws for
    for (auto &e : m)
        g(e.second);
#pragma ws for
    for (auto it = v.begin(); it != v.end(); it += 2)
        g(*it);
}

void jumps(int n) {
    auto lambda = [&] {
#pragma ws for
        for (int i = 0; i < n; i++) {
            if (i == 3)
                return;
            g(i);
        }
    };
    lambda();
}
