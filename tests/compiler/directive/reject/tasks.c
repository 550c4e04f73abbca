/* SPDX-License-Identifier: MIT
 *
 * Wrong directives of tasks. */
void f(int n)
{
    int x = 0, y = 0;
#pragma ws task depend(mutexinoutset : x)
    x++;
#pragma ws task depend(x)
    x++;
#pragma ws task detach(x)
    x++;
#pragma ws task affinity(x)
    x++;
#pragma ws task reduction(+ : x)
    x++;
#pragma ws task schedule(dynamic)
    x++;
#pragma ws task grainsize(3)
    x++;
#pragma ws task final
    x++;
#pragma ws task untied(1)
    x++;
#pragma ws task if(task : n)
    x++;
#pragma ws task if(n) if(n)
    x++;
#pragma ws task shared(x) firstprivate(x)
    x++;
#pragma ws task shared(unknown)
    x++;
#pragma ws task default(none)
    x++;
#pragma ws task priority(n > )
    x++;
#pragma ws task in_reduction(x)
    x++;
#pragma ws taskwait depend(in : x)
    x++;
#pragma ws taskwait nowait
    x++;
#pragma ws taskgroup shared(x)
    x++;
#pragma ws taskgroup task_reduction(max, x)
    x++;
#pragma ws taskloop grainsize(3) num_tasks(4)
    for (int i = 0; i < n; i++)
        y++;
#pragma ws taskloop depend(in : x)
    for (int i = 0; i < n; i++)
        y++;
#pragma ws taskloop
    x++;
#pragma ws taskloop nogroup reduction(+ : y)
    for (int i = 0; i < n; i++)
        y++;
#pragma ws taskloop lastprivate(conditional : y)
    for (int i = 0; i < n; i++)
        y++;
    if (n)
#pragma ws taskwait
    x++;
#pragma ws task
    return;
    while (n) {
#pragma ws task
        break;
    }
#pragma ws taskgroup
    return;
#pragma ws taskyield
    x++;
}
