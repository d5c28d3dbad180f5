/* A disk that fails, is full or loses its process at the n-th change of a folder, and a clock that is set back.
 *
 * Loaded before the C library (LD_PRELOAD), so that Python, SQLite and Arrow meet it. A change is a call that makes,
 * writes, cuts, syncs, renames or removes a file under the folder that faults_arm was given; changes are counted from 1.
 *
 * kind  0  count alone
 *       1  the n-th change fails (EIO), later ones do not
 *       2  the disk is full from the n-th change on (ENOSPC); half of the first write still finds room
 *       3  the process group is killed before the n-th change
 *       4  the process group is killed in the middle of it: half of a write is done
 *       5  the n-th change, if it is a write, takes half of the bytes and says so, as a write may
 *
 * trace: a file that gets every change with its bytes, to be played again; records are as in fault_support.py.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { COUNT, FAIL, FULL, KILL, TORN, SHORT };

static char folder[PATH_MAX];
static size_t folder_size;
static long at, count;
static int kind, tracing = -1;
static long back_after = -1, asked; /* the clock goes back after so many questions */
static time_t back;

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ssize_t plain_write(int fd, const void *bytes, size_t n)
{
    REAL(write);
    return real(fd, bytes, n);
}

void faults_arm(const char *where, long n, int what, const char *trace)
{
    folder_size = strlen(where);
    memcpy(folder, where, folder_size + 1);
    at = n;
    kind = what;
    count = 0;
    if (trace && *trace) {
        REAL(open);
        tracing = real(trace, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    }
}

long faults_count(void) { return count; }

void faults_set_clock_back(long after, long seconds)
{
    back_after = after;
    back = seconds;
}

static int inside(const char *path)
{
    return folder_size && !strncmp(path, folder, folder_size) && path[folder_size] == '/';
}

static int path_of(int fd, char *path)
{
    char link[64] = "/proc/self/fd/";
    char digits[16];
    int i = 0, k = 14;
    if (!folder_size || fd < 0) return 0;
    for (unsigned n = fd; n || !i; n /= 10) digits[i++] = '0' + n % 10;
    while (i) link[k++] = digits[--i];
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return inside(path);
}

static int absolute(int dir, const char *name, char *path)
{
    if (!folder_size || !name || strlen(name) >= PATH_MAX) return 0;
    if (*name == '/') {
        strcpy(path, name);
    } else {
        if (dir == AT_FDCWD) {
            if (!getcwd(path, PATH_MAX)) return 0;
        } else {
            int was = errno;
            path_of(dir, path);
            errno = was;
        }
        if (strlen(path) + strlen(name) + 2 > PATH_MAX) return 0;
        strcat(strcat(path, "/"), name);
    }
    return inside(path);
}

/* One record: which change, what it is, the path, a number (an offset or a size), and bytes or a second path. */
static void record(char what, const char *path, int64_t number, const void *bytes, int64_t n)
{
    if (tracing < 0) return;
    int64_t size = strlen(path);
    struct { int64_t at, what, size, number, n; } head = {count, what, size, number, n};
    plain_write(tracing, &head, sizeof head);
    plain_write(tracing, path, size);
    plain_write(tracing, bytes, n);
}

/* 0: go on; -1: fail, errno is set; 1: half of it, then go on; 2: half of it, then die; 3: half of it, then no room. */
static int change(void)
{
    count++;
    if (kind == COUNT || count < at || (count > at && kind != FULL)) return 0;
    if (kind == FAIL) errno = EIO;
    if (kind == FULL) {
        if (count == at) return 3;
        errno = ENOSPC;
    }
    if (kind == KILL) kill(0, SIGKILL);
    if (kind == TORN) return 2;
    if (kind == SHORT) return 1;
    return -1;
}

/* For a call that cannot be done by half. */
#define WHOLE(failed)                                    \
    do {                                                 \
        int how = change();                              \
        if (how == 2) kill(0, SIGKILL);                  \
        if (how == 3) errno = ENOSPC;                    \
        if (how == -1 || how == 3) return failed;        \
    } while (0)

#define HALVED(n)                                        \
    do {                                                 \
        int how = change();                              \
        if (how == -1) return -1;                        \
        if (how == 3 && (n) < 2) { errno = ENOSPC; return -1; } \
        if (how > 0 && (n) > 1) (n) /= 2;                \
        dying = how == 2;                                \
    } while (0)

ssize_t write(int fd, const void *bytes, size_t n)
{
    REAL(write);
    char path[PATH_MAX];
    int dying = 0, ours = path_of(fd, path);
    if (ours) HALVED(n);
    off_t where = ours ? lseek(fd, 0, SEEK_CUR) : 0;
    if (ours && fcntl(fd, F_GETFL) & O_APPEND) where = lseek(fd, 0, SEEK_END);
    ssize_t done = real(fd, bytes, n);
    if (dying) kill(0, SIGKILL);
    if (ours && done > 0) record('w', path, where, bytes, done);
    return done;
}

#define PWRITE(name, type)                                                  \
    ssize_t name(int fd, const void *bytes, size_t n, type where)           \
    {                                                                       \
        REAL(name);                                                         \
        char path[PATH_MAX];                                                \
        int dying = 0, ours = path_of(fd, path);                            \
        if (ours) HALVED(n);                                                \
        ssize_t done = real(fd, bytes, n, where);                           \
        if (dying) kill(0, SIGKILL);                                        \
        if (ours && done > 0) record('w', path, where, bytes, done);        \
        return done;                                                        \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

/* These three say that they cannot, and every caller then writes. */
ssize_t writev(int fd, const struct iovec *parts, int n)
{
    REAL(writev);
    char path[PATH_MAX];
    if (path_of(fd, path)) return n ? write(fd, parts[0].iov_base, parts[0].iov_len) : 0;
    return real(fd, parts, n);
}

ssize_t sendfile(int out, int in, off_t *where, size_t n)
{
    REAL(sendfile);
    char path[PATH_MAX];
    if (path_of(out, path)) { errno = EINVAL; return -1; }
    return real(out, in, where, n);
}

ssize_t sendfile64(int out, int in, off64_t *where, size_t n)
{
    REAL(sendfile64);
    char path[PATH_MAX];
    if (path_of(out, path)) { errno = EINVAL; return -1; }
    return real(out, in, where, n);
}

#define CUT(name, type)                                                     \
    int name(int fd, type size)                                             \
    {                                                                       \
        REAL(name);                                                         \
        char path[PATH_MAX];                                                \
        int ours = path_of(fd, path);                                       \
        if (ours) WHOLE(-1);                                                \
        int done = real(fd, size);                                          \
        if (ours && !done) record('t', path, size, "", 0);                  \
        return done;                                                        \
    }
CUT(ftruncate, off_t)
CUT(ftruncate64, off64_t)

#define SYNC(name)                                                          \
    int name(int fd)                                                        \
    {                                                                       \
        REAL(name);                                                         \
        char path[PATH_MAX];                                                \
        int ours = path_of(fd, path) || (folder_size && !strcmp(path, folder)); \
        if (ours) WHOLE(-1);                                                \
        int done = real(fd);                                                \
        if (ours && !done) record('s', path, 0, "", 0);                     \
        return done;                                                        \
    }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to)
{
    REAL(rename);
    char old[PATH_MAX], new[PATH_MAX];
    int ours = absolute(AT_FDCWD, to, new) && absolute(AT_FDCWD, from, old);
    if (ours) WHOLE(-1);
    int done = real(from, to);
    if (ours && !done) record('r', old, 0, new, strlen(new));
    return done;
}

int link(const char *from, const char *to)
{
    REAL(link);
    char old[PATH_MAX], new[PATH_MAX];
    int ours = absolute(AT_FDCWD, to, new) && absolute(AT_FDCWD, from, old);
    if (ours) WHOLE(-1);
    int done = real(from, to);
    if (ours && !done) record('l', old, 0, new, strlen(new));
    return done;
}

int unlink(const char *name)
{
    REAL(unlink);
    char path[PATH_MAX];
    struct stat about;
    int ours = absolute(AT_FDCWD, name, path) && !lstat(path, &about);
    if (ours && kind != FULL) WHOLE(-1); /* there is always room to remove a file */
    int done = real(name);
    if (ours && !done) record('u', path, 0, "", 0);
    return done;
}

int mkdir(const char *name, mode_t mode)
{
    REAL(mkdir);
    char path[PATH_MAX];
    struct stat about;
    int ours = absolute(AT_FDCWD, name, path) && stat(path, &about);
    if (ours) WHOLE(-1);
    int done = real(name, mode);
    if (ours && !done) record('m', path, 0, "", 0);
    return done;
}

#define OPEN(name)                                                          \
    int name(const char *file, int flags, ...)                              \
    {                                                                       \
        REAL(name);                                                         \
        va_list more;                                                       \
        va_start(more, flags);                                              \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;   \
        va_end(more);                                                       \
        char path[PATH_MAX];                                                \
        int ours = flags & (O_CREAT | O_TRUNC) && absolute(AT_FDCWD, file, path); \
        struct stat about;                                                  \
        int new = ours && stat(path, &about);                               \
        ours = ours && (new || flags & O_TRUNC);                            \
        if (ours) WHOLE(-1);                                                \
        int fd = real(file, flags, mode);                                   \
        if (ours && fd >= 0) record(new ? 'c' : 't', path, 0, "", 0);       \
        return fd;                                                          \
    }
OPEN(open)
OPEN(open64)

static int is_back(void) { return back_after >= 0 && ++asked > back_after; }

int clock_gettime(clockid_t clock, struct timespec *now)
{
    REAL(clock_gettime);
    int done = real(clock, now);
    if (!done && clock == CLOCK_REALTIME && is_back()) now->tv_sec -= back;
    return done;
}

time_t time(time_t *place)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict place, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    place->tv_sec = now.tv_sec;
    place->tv_usec = now.tv_nsec / 1000;
    return 0;
}
