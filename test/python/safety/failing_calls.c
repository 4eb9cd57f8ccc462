// Stands before the C library and lets one allocation, or one call for a file,
// fail: the n-th from when a test asks for it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long allocationsLeft, filesLeft;
static atomic_int fileError;

// Below 1 nothing fails.
void failAllocation(long number) { atomic_store(&allocationsLeft, number); }
void failFile(long number, int error) {
  atomic_store(&fileError, error);
  atomic_store(&filesLeft, number);
}
// Above 0: it has not come to that call.
long allocationsToGo(void) { return atomic_load(&allocationsLeft); }
long filesToGo(void) { return atomic_load(&filesLeft); }

static int isTurn(atomic_long *left) {
  return atomic_load(left) > 0 && atomic_fetch_sub(left, 1) == 1;
}
static int failsAllocation(void) {
  if (!isTurn(&allocationsLeft))
    return 0;
  errno = ENOMEM;
  return 1;
}
static int failsFile(void) {
  if (!isTurn(&filesLeft))
    return 0;
  errno = atomic_load(&fileError);
  return 1;
}

void *malloc(size_t size) {
  return failsAllocation() ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  return failsAllocation() ? NULL : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  return failsAllocation() ? NULL : __libc_realloc(memory, size);
}
void *memalign(size_t alignment, size_t size) {
  return failsAllocation() ? NULL : __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int modeOf(int flags, va_list more) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
}
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = modeOf(flags, more);
  va_end(more);
  return failsFile() ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = modeOf(flags, more);
  va_end(more);
  return failsFile() ? -1 : REAL(open64)(path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = modeOf(flags, more);
  va_end(more);
  return failsFile() ? -1 : REAL(openat)(folder, path, flags, mode);
}
ssize_t write(int file, const void *bytes, size_t size) {
  return failsFile() ? -1 : REAL(write)(file, bytes, size);
}
ssize_t read(int file, void *bytes, size_t size) {
  return failsFile() ? -1 : REAL(read)(file, bytes, size);
}
int rename(const char *from, const char *to) {
  return failsFile() ? -1 : REAL(rename)(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
  return failsFile() ? -1 : REAL(renameat)(a, from, b, to);
}
int mkdir(const char *path, mode_t mode) {
  return failsFile() ? -1 : REAL(mkdir)(path, mode);
}
