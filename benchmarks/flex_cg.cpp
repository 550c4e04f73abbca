// SPDX-License-Identifier: MIT
//
// The method of conjugate gradients, preconditioned by the diagonal, on a sparse system, whose rows move by XMPI: of a
// Matrix Market file, or generated.
#include "flex.hpp"

#include <cerrno>
#include <climits>
#include <map>

namespace {

struct Sparse {
    std::vector<int64_t> starts;
    std::vector<int32_t> columns;
    std::vector<double> values;
};

// Rows [displ, displ + count) of what `entries` calls f(row, column, value) with, twice, in the same order. Diagonals
// that are missing, or too small, are set so that the matrix is positive definite if `dominant`.
template <class Entries> Sparse rows_of(MPI_Count count, MPI_Count displ, bool dominant, Entries entries)
{
    Sparse m;
    const auto mine = [&](int64_t row) { return row >= displ && row < displ + count; };
    std::vector<double> sums(size_t(count), 0);
    m.starts.assign(size_t(count) + 1, 0);
    entries([&](int64_t row, int64_t, double value) {
        if (mine(row)) {
            m.starts[size_t(row - displ) + 1]++;
            sums[size_t(row - displ)] += std::fabs(value);
        }
    });
    for (size_t i = 1; i < m.starts.size(); i++)
        m.starts[i] += m.starts[i - 1] + (dominant ? 1 : 0);
    m.columns.resize(size_t(m.starts.back()));
    m.values.resize(size_t(m.starts.back()));
    std::vector<int64_t> at(m.starts);
    for (MPI_Count i = 0; dominant && i < count; i++) {
        const auto k = size_t(at[size_t(i)]++);
        m.columns[k] = int32_t(displ + i);
        m.values[k] = 1.5 * sums[size_t(i)] + 1;
    }
    entries([&](int64_t row, int64_t column, double value) {
        if (mine(row)) {
            const auto k = size_t(at[size_t(row - displ)]++);
            m.columns[k] = int32_t(column);
            m.values[k] = value;
        }
    });
    return m;
}

// ---- Matrix Market: coordinate, real or integer, general or symmetric; a pattern has ones

class MarketFile {
public:
    explicit MarketFile(const flex::Options& o) : o_(o)
    {
        file_ = std::fopen(o.file, "r");
        if (!file_)
            bench_fail(1, "%s: %s: %s", o.program, o.file, std::strerror(errno));
        char line[1100], object[64] = "", format[64] = "", field[64] = "", symmetry[64] = "";
        if (!std::fgets(line, sizeof line, file_) ||
            std::sscanf(line, "%%%%MatrixMarket %63s %63s %63s %63s", object, format, field, symmetry) != 4)
            fail("is no Matrix Market file");
        for (char* word : {object, format, field, symmetry})
            for (char* c = word; *c; c++)
                *c = char(std::tolower(static_cast<unsigned char>(*c)));
        if (std::strcmp(object, "matrix") != 0 || std::strcmp(format, "coordinate") != 0)
            fail("is no sparse matrix (matrix coordinate)");
        pattern_ = !std::strcmp(field, "pattern");
        if (!pattern_ && std::strcmp(field, "real") != 0 && std::strcmp(field, "integer") != 0 &&
            std::strcmp(field, "double") != 0)
            fail(!std::strcmp(field, "complex") ? "is complex: only real matrices can be solved"
                                                : "has numbers of an unknown field");
        symmetric_ = !std::strcmp(symmetry, "symmetric");
        if (!symmetric_ && std::strcmp(symmetry, "general") != 0)
            fail("is neither general nor symmetric");
        do {
            body_ = std::ftell(file_);
            if (!std::fgets(line, sizeof line, file_))
                fail("ends before its sizes");
        } while (line[0] == '%' || line[std::strspn(line, " \t\r\n")] == 0);
        long long rows, columns, entries;
        char rest;
        if (std::sscanf(line, "%lld %lld %lld %c", &rows, &columns, &entries, &rest) != 3 || rows < 1 || entries < 0)
            fail("has a line of sizes that is none");
        if (rows != columns)
            fail("is not square");
        if (rows > INT32_MAX)
            fail("has more than 2147483647 rows");
        rows_ = rows;
        entries_ = entries;
        body_ = std::ftell(file_);
    }
    ~MarketFile() { std::fclose(file_); }
    long rows() const { return rows_; }

    template <class F> void each(F f)
    {
        std::fseek(file_, body_, SEEK_SET);
        for (int64_t e = 0; e < entries_; e++) {
            long long i, j;
            double v = 1;
            const int wanted = pattern_ ? 2 : 3;
            const int got =
                pattern_ ? std::fscanf(file_, "%lld %lld", &i, &j) : std::fscanf(file_, "%lld %lld %lf", &i, &j, &v);
            if (got != wanted)
                fail("is damaged: entry " + std::to_string(e + 1) + " of " + std::to_string(entries_) +
                     " cannot be read");
            if (i < 1 || j < 1 || i > rows_ || j > rows_)
                fail("is damaged: entry " + std::to_string(e + 1) + " is of row " + std::to_string(i) + ", column " +
                     std::to_string(j) + "; both count from 1 to " + std::to_string(rows_));
            if (!std::isfinite(v))
                fail("is damaged: entry " + std::to_string(e + 1) + " is no finite number");
            f(i - 1, j - 1, v);
            if (symmetric_ && i != j)
                f(j - 1, i - 1, v);
        }
        int c;
        while ((c = std::fgetc(file_)) != EOF)
            if (!std::isspace(c))
                fail("is damaged: there is more than its " + std::to_string(entries_) + " entries");
    }

private:
    [[noreturn]] void fail(const std::string& what) const
    {
        bench_fail(1, "%s: %s %s", o_.program, o_.file, what.c_str());
    }

    const flex::Options& o_;
    FILE* file_;
    long body_ = 0;
    int64_t rows_ = 0, entries_ = 0;
    bool pattern_ = false, symmetric_ = false;
};

// ---- generated, symmetric

// A cube of finite elements, of which a part is refined: rows there have up to 26 neighbours, elsewhere 6.
template <class F> void elements(long n, F f)
{
    const long side = std::max(1L, long(std::cbrt(double(n))));
    const auto refined = [&](long i) { return (i / side / side) * 3 < side; };
    for (long i = 0; i < n; i++) {
        const long x = i % side, y = i / side % side, z = i / side / side;
        for (long k = 0; k < 27; k++) {
            const long dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1, j = i + dx + dy * side + dz * side * side;
            if (k == 13 || j < 0 || j >= n || x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side ||
                z + dz < 0)
                continue;
            const bool face = std::abs(dx) + std::abs(dy) + std::abs(dz) == 1;
            if (face || (refined(i) && refined(j)))
                f(i, j, -0.1 - 0.9 * flex::random_unit(2, uint64_t(std::min(i, j)), uint64_t(std::max(i, j))));
        }
    }
}

// Degrees by a power law: early rows are hubs.
template <class F> void power_law(long n, F f)
{
    for (long i = 1; i < n; i++)
        for (long k = 0; k < 6; k++) {
            const double u = flex::random_unit(3, uint64_t(i), uint64_t(k));
            const long j = long(double(i) * u * u * u);
            f(i, j, -0.5);
            f(j, i, -0.5);
        }
}

struct Gradients {
    const flex::Options& o;
    MarketFile* file;
    Sparse m;
    std::vector<double> diagonal, x, r, p, all_p; // own; all of p
    double rz = 0, first_rz = 0, waited = 0;

    void make(const flex::Rows& rows)
    {
        if (file)
            m = rows_of(rows.count, rows.displ, false, [&](auto f) { file->each(f); });
        else if (!std::strcmp(o.kind, "power"))
            m = rows_of(rows.count, rows.displ, true, [&](auto f) { power_law(o.rows, f); });
        else
            m = rows_of(rows.count, rows.displ, true, [&](auto f) { elements(o.rows, f); });
        diagonal.assign(size_t(rows.count), 1);
        for (size_t i = 0; i < diagonal.size(); i++)
            for (auto k = size_t(m.starts[i]); k < size_t(m.starts[i + 1]); k++)
                if (m.columns[k] == rows.displ + MPI_Count(i) && m.values[k] > 0)
                    diagonal[i] = m.values[k];
        x.assign(size_t(rows.count), 0);
        r.assign(size_t(rows.count), 1);
        p.resize(size_t(rows.count));
        double first = 0;
        for (size_t i = 0; i < p.size(); i++) {
            p[i] = r[i] / diagonal[i];
            first += r[i] * p[i];
        }
        rz = first_rz = sum(first);
        all_p.assign(size_t(o.rows), 0);
        exchange(rows);
    }
    void add(ws::partition& partition)
    {
        partition.add_csr(m.starts, m.columns, m.values);
        for (std::vector<double>* v : {&diagonal, &x, &r, &p})
            partition.add(*v);
    }
    void moved(const flex::Rows&) {}
    double sum(double mine)
    {
        double all;
        const double began = bench_now();
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        waited += bench_now() - began;
        return all;
    }
    double iterate(const flex::Rows& rows, long)
    {
        if (!(rz > 1e-28 * first_rz)) // solved: the rest is for the time that it takes
            return double(m.starts.back() - m.starts[0]);
        std::vector<double> q(size_t(rows.count), 0);
        double pq = 0, next = 0;
        for (size_t i = 0; i < q.size(); i++) {
            for (auto k = size_t(m.starts[i]); k < size_t(m.starts[i + 1]); k++)
                q[i] += m.values[k] * all_p[size_t(m.columns[k])];
            pq += p[i] * q[i];
        }
        const double alpha = rz / sum(pq);
        for (size_t i = 0; i < q.size(); i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            next += r[i] * r[i] / diagonal[i];
        }
        next = sum(next);
        for (size_t i = 0; i < q.size(); i++)
            p[i] = r[i] / diagonal[i] + next / rz * p[i];
        rz = next;
        return double(m.starts.back() - m.starts[0]);
    }
    void exchange(const flex::Rows& rows)
    {
        MPI_Allgatherv(p.data(), int(rows.count), MPI_DOUBLE, all_p.data(), rows.counts.data(), rows.displs.data(),
                       MPI_DOUBLE, MPI_COMM_WORLD);
    }
    std::vector<double> solution(const flex::Rows& rows) const
    {
        std::vector<double> all(size_t(o.rows), 0);
        MPI_Allgatherv(x.data(), int(rows.count), MPI_DOUBLE, all.data(), rows.counts.data(), rows.displs.data(),
                       MPI_DOUBLE, MPI_COMM_WORLD);
        return all;
    }
    const char* compare(const Gradients& other, const flex::Rows& rows, const flex::Rows& equal) const
    {
        const std::vector<double> a = solution(rows), b = other.solution(equal);
        double apart = 0, largest = 0;
        for (size_t i = 0; i < a.size(); i++) {
            apart = std::max(apart, std::fabs(a[i] - b[i]));
            largest = std::max(largest, std::fabs(b[i]));
        }
        return apart <= 1e-10 * largest ? "within 1e-10" : nullptr;
    }
};

} // namespace

int main(int argc, char** argv)
{
    bench_init(&argc, &argv);
    flex::Options o;
    o.program = "flex_cg";
    o.rows = 8000;
    o.kind = "elements";
    flex::read_options(o, argc, argv, "conjugate gradients on a sparse matrix; a unit of work is an element of it",
                       "  --file FILE        a Matrix Market file: symmetric positive definite, real\n"
                       "  --kind K           elements: finite elements, a part of them refined; power: degrees by a "
                       "power law (elements)\n");
    if (std::strcmp(o.kind, "elements") != 0 && std::strcmp(o.kind, "power") != 0)
        bench_fail(2, "%s: --kind is elements or power, not '%s'", o.program, o.kind);
    std::unique_ptr<MarketFile> file;
    if (o.file) {
        file = std::make_unique<MarketFile>(o);
        o.rows = file->rows();
    }
    Gradients program{o, file.get(), {}, {}, {}, {}, {}, {}}, reference{o, file.get(), {}, {}, {}, {}, {}, {}};
    return flex::run(o, program, reference, false);
}
