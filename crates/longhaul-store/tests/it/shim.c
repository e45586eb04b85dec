/* Stands between a test's process and its disk (LD_PRELOAD), for the files under LONGHAUL_SHIM_FOLDER.
 *
 * It notes every write, truncation, sync and removal in LONGHAUL_SHIM_TRACE, in order, and beside them what the process
 * says on its standard output, so that the test can build what a power cut would have left at any moment. With
 * LONGHAUL_SHIM_FAIL=<n>:<kind> the n-th of these calls fails: `eio` once, `enospc` from then on, `short` after half of
 * its bytes and then for want of space; `kill` ends the process there, with half of the bytes written.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int trace = -2;
static long calls, fail_at = -1;
static char fail_kind;
static const char *folder;

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static void start(void) {
    if (trace != -2) return;
    const char *path = getenv("LONGHAUL_SHIM_TRACE"), *fail = getenv("LONGHAUL_SHIM_FAIL");
    folder = getenv("LONGHAUL_SHIM_FOLDER");
    trace = path ? REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fail) {
        fail_at = atol(fail);
        const char *kind = strchr(fail, ':');
        fail_kind = kind ? kind[1] : 0;
    }
}

/* Returns whether `fd` is a file of ours, and its path. */
static int ours(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0 || !folder) return 0;
    path[length] = 0;
    /* The shared memory of the log is no file that a power cut leaves. */
    return !strncmp(path, folder, strlen(folder)) && !(length > 4 && !strcmp(path + length - 4, "-shm"));
}

static void note(char kind, const char *path, uint64_t offset, const void *data, uint32_t size) {
    if (trace < 0) return;
    uint32_t name = strlen(path);
    size_t total = 17 + name + size;
    char *record = malloc(total);
    record[0] = kind;
    memcpy(record + 1, &name, 4);
    memcpy(record + 5, &offset, 8);
    memcpy(record + 13, &size, 4);
    memcpy(record + 17, path, name);
    if (size) memcpy(record + 17 + name, data, size);
    if (REAL(write)(trace, record, total) != (ssize_t)total) abort();
    free(record);
}

/* Counts a call; returns 0, or how it is to fail. */
static char failing(void) {
    long call = ++calls;
    if (fail_at < 0 || call < fail_at) return 0;
    if (call == fail_at) return fail_kind;
    return fail_kind == 'e' ? 0 : 'n';
}

static ssize_t refuse(char how) {
    errno = how == 'e' ? EIO : ENOSPC;
    return -1;
}

/* `eio` and `kill` strike at every kind of call, a full disk at those that need space: 'e', 'k', 'n' (enospc), 's'. */
static char kind_of(char how, int needs_space) {
    if (how == 'e' || how == 'k') return how;
    return needs_space ? how : 0;
}

#define WRITE(type, name, call, offset_expression)                                                  \
    {                                                                                                \
        char path[4096];                                                                             \
        pthread_mutex_lock(&lock);                                                                   \
        start();                                                                                     \
        ssize_t done;                                                                                \
        if (fd == 1) {                                                                               \
            note('a', "", 0, data, size);                                                            \
            done = call(size);                                                                       \
        } else if (ours(fd, path, sizeof path)) {                                                    \
            char how = kind_of(failing(), 1);                                                        \
            off_t offset = offset_expression;                                                        \
            if ((how == 's' || how == 'k') && size > 1) {                                            \
                done = call(size / 2);                                                               \
            } else {                                                                                 \
                done = how ? refuse(how) : call(size);                                               \
            }                                                                                        \
            if (how == 'k') raise(SIGKILL);                                                          \
            if (done > 0) note('w', path, offset, data, done);                                       \
        } else {                                                                                     \
            done = call(size);                                                                       \
        }                                                                                            \
        pthread_mutex_unlock(&lock);                                                                 \
        return done;                                                                                 \
    }

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
#define CALL(n) REAL(pwrite)(fd, data, n, at)
    WRITE(off_t, pwrite, CALL, at)
#undef CALL
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
#define CALL(n) REAL(pwrite64)(fd, data, n, at)
    WRITE(off64_t, pwrite64, CALL, at)
#undef CALL
}

ssize_t write(int fd, const void *data, size_t size) {
#define CALL(n) REAL(write)(fd, data, n)
    WRITE(off_t, write, CALL, lseek(fd, 0, SEEK_CUR))
#undef CALL
}

#define ON_FILE(kind, number, needs_space, call)                                                    \
    {                                                                                                \
        char path[4096];                                                                             \
        pthread_mutex_lock(&lock);                                                                   \
        start();                                                                                     \
        int done;                                                                                    \
        if (ours(fd, path, sizeof path)) {                                                           \
            char how = kind_of(failing(), needs_space);                                              \
            if (how == 'k') raise(SIGKILL);                                                          \
            done = how ? refuse(how) : call;                                                         \
            if (!done) note(kind, path, number, NULL, 0);                                            \
        } else {                                                                                     \
            done = call;                                                                             \
        }                                                                                            \
        pthread_mutex_unlock(&lock);                                                                 \
        return done;                                                                                 \
    }

int ftruncate(int fd, off_t size) ON_FILE('t', size, 0, REAL(ftruncate)(fd, size))
int ftruncate64(int fd, off64_t size) ON_FILE('t', size, 0, REAL(ftruncate64)(fd, size))
int fsync(int fd) ON_FILE('s', 0, 0, REAL(fsync)(fd))
int fdatasync(int fd) ON_FILE('s', 0, 0, REAL(fdatasync)(fd))

int unlink(const char *path) {
    pthread_mutex_lock(&lock);
    start();
    int done = REAL(unlink)(path);
    if (!done && folder && !strncmp(path, folder, strlen(folder))) note('u', path, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return done;
}
