// SPDX-License-Identifier: MIT
//
// ws::partition: std::vectors follow the rows, are resized in place, and errors are exceptions.
#include <workshare/xmpi.hpp>

#include <cstdio>
#include <cstring>
#include <string>

struct Cell {
    int row;
    double value;
};

// Their former names, till the next release.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static_assert(std::is_same_v<ws::Partition, ws::partition> && std::is_same_v<ws::PartitionError, ws::partition_error>);
#pragma GCC diagnostic pop

static int wrong;

static void check(bool good, const char* what)
{
    if (!good) {
        wrong++;
        std::printf("%s\n", what);
        std::fflush(stdout);
    }
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    {
        ws::partition rows(MPI_COMM_WORLD, 300);
        std::vector<Cell> cells(static_cast<size_t>(rows.count()));
        std::vector<float> matrix(static_cast<size_t>(rows.count()) * 4), next = matrix;
        std::vector<long> starts(1);
        std::vector<int> columns;
        std::vector<double> values, empty;
        for (MPI_Count i = 0; i < rows.count(); i++) {
            const int row = int(rows.displ() + i);
            cells[size_t(i)] = {row, row * 0.5};
            for (int w = 0; w < 4; w++)
                matrix[size_t(i * 4 + w)] = float(row * 4 + w);
            for (int k = 0; k < row % 3; k++) {
                columns.push_back(row + k);
                values.push_back(row - k);
            }
            starts.push_back(long(columns.size()));
        }
        rows.add(cells);
        rows.add(matrix, 4);
        rows.add(next, 4);
        rows.add_csr(starts, columns, values);
        int moves = 0;
        for (int i = 0; i < 40; i++) {
            rows.set_goal(XMPI_GOAL_NONE, 0);
            if (i == 15)
                rows.set_comm(MPI_COMM_WORLD);
            if (i == 20) // without rows, vectors are empty
                rows.resize(1);
            if (i == 30)
                rows.resize(ranks);
            rows.begin_iteration();
            std::swap(matrix, next); // as programs with two copies do: the pointers have changed
            bool moved;
            if (i % 2) {
                rows.begin_move();
                moved = rows.finish_move();
            } else
                moved = rows.end_iteration();
            if (i == 20 || i == 30) {
                MPI_Count with_rows = 0;
                for (const MPI_Count c : rows.counts(ranks))
                    with_rows += c > 0;
                check(moved && with_rows == (i == 20 ? 1 : ranks), "resize");
            } else
                moves += moved;
            if (!moved)
                continue;
            const auto n = size_t(rows.count());
            const auto& mine = i % 2 ? matrix : next;
            check(cells.size() == n && matrix.size() == 4 * n && next.size() == 4 * n && starts.size() == n + 1,
                  "sizes");
            check(columns.size() == size_t(starts.back() - starts.front()) && values.size() == columns.size(),
                  "elements");
            size_t at = 0;
            for (size_t j = 0; j < n; j++) {
                const int row = int(rows.displ()) + int(j);
                check(cells[j].row == row && cells[j].value == row * 0.5, "cells");
                for (int w = 0; w < 4; w++)
                    check(mine[j * 4 + size_t(w)] == float(row * 4 + w), "matrix");
#if __cplusplus >= 202002L
                const auto span = rows.row(i % 2 ? matrix : next, row, 4);
                check(span.size() == 4 && span[0] == float(row * 4) && &span[0] == &mine[j * 4], "span");
#endif
                check(starts[j + 1] - starts[j] == row % 3, "starts");
                for (int k = 0; k < row % 3; k++, at++)
                    check(columns[at] == row + k && values[at] == row - k, "values");
            }
            MPI_Count all = 0;
            for (const MPI_Count c : rows.counts(ranks))
                all += c;
            check(all == 300, "counts");
        }
        std::printf("moves %d\n", moves);
        rows.remove(cells);
        bool thrown = false;
        try {
            rows.remove(cells);
        } catch (const ws::partition_error& e) {
            int error_class;
            MPI_Error_class(e.code(), &error_class);
            thrown = error_class == MPI_ERR_ARG && std::strstr(e.what(), "not that of a registered structure");
        }
        check(thrown, "no exception");
        for (int i = 0; i < 2; i++) { // all three arrays have gone with the first
            rows.remove(starts);
            rows.add_csr(starts, columns, values);
        }
        ws::partition other = std::move(rows), empty_one;
        check(other.handle() != XMPI_PARTITION_NULL && rows.handle() == XMPI_PARTITION_NULL, "moved from");
    }
    MPI_Finalize();
    return wrong != 0;
}
