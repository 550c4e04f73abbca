/* SPDX-License-Identifier: MIT
 *
 * What a proxy removes when ranks were killed. Included by pmip.c.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <time.h>

static time_t started;          /* the proxy. Not the time of /proc/self, which is when somebody first reads it */

__attribute__((constructor)) static void note_start(void)
{
    started = time(NULL);
}

/* Ranks that were killed while they made files in /dev/shm leave these for good. Removes this user's files that are newer
 * than the proxy, have a name as MPICH and UCX give, and are open in no process, which a lease shows. */
static void remove_files(void)
{
    const char *names[] = { "mpich_shar_tmp", "ucx_shm_posix_" };
    struct dirent *entry;
    struct stat file;
    DIR *folder = opendir("/dev/shm");
    int fd, i;

    if (folder)
        while ((entry = readdir(folder))) {
            for (i = 0; i < 2 && strncmp(entry->d_name, names[i], strlen(names[i])); i++);
            fd = i == 2 ? -1 : openat(dirfd(folder), entry->d_name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
            if (fd < 0)
                continue;
            if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
                file.st_ctime >= started && fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
                unlinkat(dirfd(folder), entry->d_name, 0);
            close(fd);
        }
    if (folder)
        closedir(folder);
}

/* UCX marks a System V segment for removal right after it has made it: ranks that were killed in between leave it for
 * good. Removes this user's segments that are newer than the proxy, have no key, are attached nowhere, and whose maker
 * has ended. */
static void remove_segments(void)
{
    struct shmid_ds segment;
    struct shm_info all;
    int last = shmctl(0, SHM_INFO, (struct shmid_ds *) &all), i, id;

    for (i = 0; i <= last; i++) {
        id = shmctl(i, SHM_STAT, &segment);
        if (id >= 0 && segment.shm_perm.__key == IPC_PRIVATE && segment.shm_perm.cuid == geteuid() &&
            segment.shm_nattch == 0 && segment.shm_ctime >= started && kill(segment.shm_cpid, 0) && errno == ESRCH)
            shmctl(id, IPC_RMID, NULL);
    }
}
