// SPDX-License-Identifier: MIT
//
// A class whose accessors return references, in the manner of LULESH, and what a step over it keeps between its loops:
// class_loops.inc.
#ifndef WS_BENCH_CLASS_DOMAIN_H
#define WS_BENCH_CLASS_DOMAIN_H

#include <cmath>
#include <cstddef>
#include <vector>

namespace {

using Real = double;
using Index = int;

class Domain {
public:
    explicit Domain(Index side)
        : side_(side), corner_of_(8 * std::size_t(nodes())), corners_(nodes()), nodelist_(8 * std::size_t(elements())),
          x_(nodes()), y_(nodes()), z_(nodes()), xd_(nodes()), yd_(nodes()), zd_(nodes()), xdd_(nodes()), ydd_(nodes()),
          zdd_(nodes()), fx_(nodes()), fy_(nodes()), fz_(nodes()), nodal_mass_(nodes(), 1), e_(elements()),
          p_(elements()), q_(elements()), v_(elements(), 1), vnew_(elements(), 1), delv_(elements()), ss_(elements()),
          elem_mass_(elements(), 1)
    {
        const Index edge = side + 1;
        for (Index n = 0; n < nodes(); n++) {
            x(n) = Real(n % edge);
            y(n) = Real(n / edge % edge);
            z(n) = Real(n / edge / edge);
        }
        for (Index i = 0; i < elements(); i++) {
            e(i) = 1 + Real(0.1) * Real(i % 7);
            const Index corner = (i / side / side * edge + i / side % side) * edge + i % side;
            const Index around[8] = {
                0, 1, edge + 1, edge, edge * edge, edge * edge + 1, edge * edge + edge + 1, edge * edge + edge
            };
            for (int c = 0; c < 8; c++) {
                const Index node = corner + around[c];
                nodelist_[8 * i + c] = node;
                corner_of_[8 * node + corners_[node]++] = 8 * i + c;
            }
        }
    }

    Index elements() const { return side_ * side_ * side_; }
    Index nodes() const { return (side_ + 1) * (side_ + 1) * (side_ + 1); }
    Index corners(Index n) const { return corners_[n]; }
    Index corner(Index n, Index c) const { return corner_of_[8 * n + c]; }
    Index *nodelist(Index i) { return &nodelist_[8 * i]; }
    Real &x(Index i) { return x_[i]; }
    Real &y(Index i) { return y_[i]; }
    Real &z(Index i) { return z_[i]; }
    Real &xd(Index i) { return xd_[i]; }
    Real &yd(Index i) { return yd_[i]; }
    Real &zd(Index i) { return zd_[i]; }
    Real &xdd(Index i) { return xdd_[i]; }
    Real &ydd(Index i) { return ydd_[i]; }
    Real &zdd(Index i) { return zdd_[i]; }
    Real &fx(Index i) { return fx_[i]; }
    Real &fy(Index i) { return fy_[i]; }
    Real &fz(Index i) { return fz_[i]; }
    Real &nodal_mass(Index i) { return nodal_mass_[i]; }
    Real &e(Index i) { return e_[i]; }
    Real &p(Index i) { return p_[i]; }
    Real &q(Index i) { return q_[i]; }
    Real &v(Index i) { return v_[i]; }
    Real &vnew(Index i) { return vnew_[i]; }
    Real &delv(Index i) { return delv_[i]; }
    Real &ss(Index i) { return ss_[i]; }
    Real &elem_mass(Index i) { return elem_mass_[i]; }

    bool same(const Domain &o) const
    {
        return x_ == o.x_ && xd_ == o.xd_ && fz_ == o.fz_ && e_ == o.e_ && p_ == o.p_ && v_ == o.v_ && ss_ == o.ss_ &&
               fx_ == o.fx_;
    }

    Real time_step = 0;

private:
    Index side_;
    std::vector<Index> corner_of_, corners_, nodelist_;
    std::vector<Real> x_, y_, z_, xd_, yd_, zd_, xdd_, ydd_, zdd_, fx_, fy_, fz_, nodal_mass_, e_, p_, q_, v_, vnew_,
        delv_, ss_, elem_mass_;
};

// What a step keeps between its loops.
struct Work {
    explicit Work(Index n)
        : sigxx(n), sigyy(n), sigzz(n), e_new(n, 1), p_new(n), comp(n), delvc(n), fx_elem(8 * std::size_t(n)),
          fy_elem(8 * std::size_t(n)), fz_elem(8 * std::size_t(n))
    {
    }
    std::vector<Real> sigxx, sigyy, sigzz, e_new, p_new, comp, delvc, fx_elem, fy_elem, fz_elem;
    Real courant = 0;
};

}   // namespace

#endif
