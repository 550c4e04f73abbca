/* SPDX-License-Identifier: MIT
 *
 * Cases of blocking.c: files. In their communicator rank 0 comes after LATE, because ordered calls depend on the ranks
 * below. */
#ifndef BLOCKING_FILES_H
#define BLOCKING_FILES_H

#include "collectives.h"

#include <fcntl.h>

#define PLACE reversed.me /* this rank's in the file */

static void open_file(void)
{
    MPI_File_open(reversed.comm, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
}

#define FILES(name, prepare, ...) \
    static void name(enum phase phase) \
    { \
        if (phase == PREPARE) { \
            int hundred = 100 + PLACE; \
            open_file(); \
            MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); \
            MPI_File_write_at_all(file, PLACE, &hundred, 1, MPI_INT, MPI_STATUS_IGNORE); \
            value = -1; \
            prepare; \
            MPI_Barrier(MPI_COMM_WORLD); \
        } else if (phase == ACT) { \
            __VA_ARGS__; \
        } else \
            MPI_File_close(&file); \
    }
#define READ CHECK(value == 100 + PLACE)
#define MINE MPI_File_seek(file, PLACE, MPI_SEEK_SET)
#define AT_MINE file, PLACE
#define ONE_OUT &rank, 1, MPI_INT
#define ONE_IN &value, 1, MPI_INT
#define STATUS MPI_STATUS_IGNORE

FILES(read_all, MINE, MPI_File_read_all(file, ONE_IN, STATUS); READ)
FILES(read_at_all, , MPI_File_read_at_all(AT_MINE, ONE_IN, STATUS); READ)
FILES(write_all, MINE, MPI_File_write_all(file, ONE_OUT, STATUS))
FILES(write_at_all, , MPI_File_write_at_all(AT_MINE, ONE_OUT, STATUS))
FILES(read_all_begin, MINE, MPI_File_read_all_begin(file, ONE_IN); MPI_File_read_all_end(file, &value, STATUS); READ)
FILES(read_at_all_begin, , MPI_File_read_at_all_begin(AT_MINE, ONE_IN); MPI_File_read_at_all_end(file, &value, STATUS);
      READ)
FILES(write_all_begin, MINE, MPI_File_write_all_begin(file, ONE_OUT); MPI_File_write_all_end(file, &rank, STATUS))
FILES(write_at_all_begin, , MPI_File_write_at_all_begin(AT_MINE, ONE_OUT);
      MPI_File_write_at_all_end(file, &rank, STATUS))
FILES(read_ordered, , MPI_File_read_ordered(file, ONE_IN, STATUS); READ)
FILES(write_ordered, , MPI_File_write_ordered(file, ONE_OUT, STATUS))
FILES(read_ordered_begin, , MPI_File_read_ordered_begin(file, ONE_IN); MPI_File_read_ordered_end(file, &value, STATUS);
      READ)
FILES(write_ordered_begin, , MPI_File_write_ordered_begin(file, ONE_OUT);
      MPI_File_write_ordered_end(file, &rank, STATUS))
FILES(iread_all, MINE, WAIT_FOR(MPI_File_iread_all(file, ONE_IN, requests)); READ)
FILES(iread_at_all, , WAIT_FOR(MPI_File_iread_at_all(AT_MINE, ONE_IN, requests)); READ)
FILES(iwrite_all, MINE, WAIT_FOR(MPI_File_iwrite_all(file, ONE_OUT, requests)))
FILES(iwrite_at_all, , WAIT_FOR(MPI_File_iwrite_at_all(AT_MINE, ONE_OUT, requests)))
FILES(iwrite_waitall, , MPI_File_iwrite_at_all(AT_MINE, ONE_OUT, requests); MPI_Waitall(1, requests, statuses))
FILES(iwrite_waitany, , int index; MPI_File_iwrite_at_all(AT_MINE, ONE_OUT, requests);
      MPI_Waitany(1, requests, &index, STATUS))
FILES(file_set_view, , MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL))
FILES(file_set_size, , MPI_File_set_size(file, 4096))
FILES(file_preallocate, , MPI_File_preallocate(file, 4096))
FILES(file_sync, , MPI_File_sync(file))
FILES(file_seek_shared, , MPI_File_seek_shared(file, 0, MPI_SEEK_SET))
FILES(file_set_atomicity, , MPI_File_set_atomicity(file, 1))
FILES(file_set_info, , MPI_File_set_info(file, MPI_INFO_NULL))

static void file_open(enum phase phase)
{
    if (phase == ACT)
        open_file();
    else if (phase == FINISH)
        MPI_File_close(&file);
}

static void file_close(enum phase phase)
{
    if (phase == PREPARE)
        open_file();
    else if (phase == ACT)
        MPI_File_close(&file);
}

#endif
