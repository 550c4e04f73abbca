/* SPDX-License-Identifier: MIT
 *
 * How this version of hydra counts the processes in a barrier of PMI. Included by job.c.
 */
static int is_in_barrier(const struct HYD_pg *pg)
{
    return pg->barrier_count > 0;
}
