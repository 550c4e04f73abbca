/* SPDX-License-Identifier: MIT
 *
 * How this version of hydra counts the processes in a barrier of PMI. Included by job.c. Barriers have names, and exist until all have come. Barriers
 * of a part of the group (sessions) do not count: nobody in them waits for the other processes.
 */
static int is_in_barrier(const struct HYD_pg *pg)
{
    struct HYD_barrier *barrier;

    HASH_FIND_STR(pg->barriers, "WORLD", barrier);
    return barrier != NULL;
}
