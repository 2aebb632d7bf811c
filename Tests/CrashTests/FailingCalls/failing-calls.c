// Lets one call of the system fail, for tests: built as a shared library and loaded with LD_PRELOAD.
//
// Calls that concern files whose path contains FAILING_PATH are counted, the first being number 1. Those of the kinds in FAILING_KINDS count:
// letters out of o (open), r (read), w (write), s (sync), t (truncate). Call number FAILING_AT fails with the number FAILING_ERRNO, a write with
// FAILING_SHORT writes half of its bytes instead, with FAILING_LATE it does all its work before it fails; with FAILING_LASTS all later calls fail
// too. Each sync takes FAILING_SLOW microseconds longer. At the end of the process the letters of all counted calls are written to the file FAILING_LOG.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST = 1 << 20 };

static const char *path, *kinds, *logged;
static long failing_at, failing_errno = EIO;
static int is_short, is_late, lasts;
static useconds_t slowness;
static atomic_long count;
static char letters[MOST];

__attribute__((constructor)) static void begin(void) {
    path = getenv("FAILING_PATH");
    kinds = getenv("FAILING_KINDS");
    logged = getenv("FAILING_LOG");
    if (getenv("FAILING_AT")) failing_at = atol(getenv("FAILING_AT"));
    if (getenv("FAILING_ERRNO")) failing_errno = atol(getenv("FAILING_ERRNO"));
    is_short = getenv("FAILING_SHORT") != NULL;
    is_late = getenv("FAILING_LATE") != NULL;
    lasts = getenv("FAILING_LASTS") != NULL;
    if (getenv("FAILING_SLOW")) slowness = atol(getenv("FAILING_SLOW"));
    if (!kinds) kinds = "orwst";
}

__attribute__((destructor)) static void end(void) {
    if (!logged) return;
    int file = syscall(SYS_openat, AT_FDCWD, logged, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    long all = count < MOST ? count : MOST;
    if (file >= 0 && syscall(SYS_write, file, letters, all) == all) syscall(SYS_close, file);
}

// Whether this call, one of a kind on a file, is to fail: 1, or 2 after its work.
static int fails(char kind, const char *name) {
    if (!path || !name || !strstr(name, path) || !strchr(kinds, kind)) return 0;
    long number = atomic_fetch_add(&count, 1) + 1;
    if (number <= MOST) letters[number - 1] = kind;
    if (failing_at == 0 || number < failing_at) return 0;
    if (number == failing_at) return is_late ? 2 : 1;
    return lasts;
}

static int fails_on(char kind, int file) {
    char link[64], name[4096];
    if (!path) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0) return 0;
    name[length] = 0;
    return fails(kind, name);
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define FAIL do { errno = (int)failing_errno; return -1; } while (0)

#define OPEN(name, first, values) \
    int name first { \
        REAL(name); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); } \
        if (fails('o', file)) FAIL; \
        return real values; \
    }

OPEN(open, (const char *file, int flags, ...), (file, flags, mode))
OPEN(open64, (const char *file, int flags, ...), (file, flags, mode))
OPEN(openat, (int at, const char *file, int flags, ...), (at, file, flags, mode))
OPEN(openat64, (int at, const char *file, int flags, ...), (at, file, flags, mode))

#define READ(name, first, values) ssize_t name first { REAL(name); if (fails_on('r', file)) FAIL; return real values; }

READ(read, (int file, void *bytes, size_t size), (file, bytes, size))
READ(pread, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at))
READ(pread64, (int file, void *bytes, size_t size, off64_t at), (file, bytes, size, at))

#define WRITE(name, first, values) \
    ssize_t name first { \
        REAL(name); \
        int failure = fails_on('w', file); \
        if (!failure || (failure == 2 && real values < 0)) return failure ? -1 : real values; \
        if (!is_short || size < 2) FAIL; \
        size /= 2; \
        return real values; \
    }

WRITE(write, (int file, const void *bytes, size_t size), (file, bytes, size))
WRITE(pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
WRITE(pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
// Of several buffers half are written.
WRITE(writev, (int file, const struct iovec *bytes, int size), (file, bytes, size))
WRITE(pwritev, (int file, const struct iovec *bytes, int size, off_t at), (file, bytes, size, at))
WRITE(pwritev64, (int file, const struct iovec *bytes, int size, off64_t at), (file, bytes, size, at))

#define OTHER(kind, name, first, values) \
    int name first { \
        REAL(name); \
        int failure = fails_on(kind, file); \
        if (kind == 's' && slowness) usleep(slowness); \
        if (!failure || (failure == 2 && real values < 0)) return failure ? -1 : real values; \
        FAIL; \
    }

OTHER('s', fsync, (int file), (file))
OTHER('s', fdatasync, (int file), (file))
OTHER('t', ftruncate, (int file, off_t size), (file, size))
OTHER('t', ftruncate64, (int file, off64_t size), (file, size))
