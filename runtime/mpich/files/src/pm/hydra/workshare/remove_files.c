/* SPDX-License-Identifier: MIT
 *
 * What a proxy removes when ranks were killed. Included by pmip.c.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Ranks that were killed while they made files in /dev/shm leave these for good: those of this user that are newer than
 * the proxy, have a name as MPICH and UCX give, and are open in no process, which a lease shows. */
static void remove_files(void)
{
    const char *names[] = { "mpich_shar_tmp", "ucx_shm_posix_" };
    struct dirent *entry;
    struct stat self, file;
    DIR *folder = opendir("/dev/shm");
    int fd, i;

    if (folder && stat("/proc/self", &self) == 0)
        while ((entry = readdir(folder))) {
            for (i = 0; i < 2 && strncmp(entry->d_name, names[i], strlen(names[i])); i++);
            fd = i == 2 ? -1 : openat(dirfd(folder), entry->d_name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
            if (fd < 0)
                continue;
            if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
                file.st_ctime >= self.st_ctime && fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
                unlinkat(dirfd(folder), entry->d_name, 0);
            close(fd);
        }
    if (folder)
        closedir(folder);
}
