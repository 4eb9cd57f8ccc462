// Stands before the C library and lets one allocation, or one call for a file,
// fail: the n-th from when a test asks for it. Where torch is in the process,
// which ends when an allocation of its own fails, only those count that Quern's
// libraries and their LLVM make.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <unwind.h>

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

// Where the code of Quern's libraries lies, and that of the C++ library.
struct Range {
  uintptr_t begin, end;
};
static struct Range ours[64], standard, shim;
static int oursCount;
static atomic_int countsOurs;

static int isWithin(const struct Range *range, const void *code) {
  return (uintptr_t)code >= range->begin && (uintptr_t)code < range->end;
}
static struct Range rangeOf(const struct dl_phdr_info *info) {
  struct Range range = {UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD)
      continue;
    uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    if (begin < range.begin)
      range.begin = begin;
    if (begin + part->p_memsz > range.end)
      range.end = begin + part->p_memsz;
  }
  return range;
}
static int note(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *name = slash ? slash + 1 : info->dlpi_name;
  struct Range range = rangeOf(info);
  if (strstr(name, "quern") || strstr(name, "libLLVM") ||
      strstr(name, "libMLIR")) {
    if (oursCount < 64)
      ours[oursCount++] = range;
  } else if (strstr(name, "libstdc++"))
    standard = range;
  else if (isWithin(&range, (const void *)&note))
    shim = range;
  return 0;
}
// From now on only allocations of Quern's libraries count, which are loaded.
void countOurs(void) {
  oursCount = 0;
  dl_iterate_phdr(note, NULL);
  atomic_store(&countsOurs, oursCount);
}

static int isOurs(const void *code) {
  for (int i = 0; i < oursCount; ++i)
    if (isWithin(&ours[i], code))
      return 1;
  return 0;
}
static _Unwind_Reason_Code findCaller(struct _Unwind_Context *frame,
                                      void *found) {
  void *code = (void *)_Unwind_GetIP(frame);
  if (isWithin(&standard, code) || isWithin(&shim, code))
    return _URC_NO_REASON;
  *(void **)found = code;
  return _URC_END_OF_STACK;
}
// Strings grow inside of the C++ library: then its caller counts.
static int counts(void *caller) {
  if (!atomic_load(&countsOurs))
    return 1;
  if (!isWithin(&standard, caller))
    return isOurs(caller);
  void *found = NULL;
  _Unwind_Backtrace(findCaller, &found);
  return isOurs(found);
}

static int isTurn(atomic_long *left) {
  return atomic_load(left) > 0 && atomic_fetch_sub(left, 1) == 1;
}
// What the C++ library's `new` asks of malloc has been counted already.
static __thread int isInNew, newFails;
static int failsAllocation(void *caller) {
  int fails = 0;
  if (isInNew) {
    fails = newFails;
    isInNew = newFails = 0;
  } else if (atomic_load(&allocationsLeft) > 0 && counts(caller)) {
    fails = isTurn(&allocationsLeft);
  }
  if (fails)
    errno = ENOMEM;
  return fails;
}
// Where it is set, only files whose path has this in it count.
static char folder[PATH_MAX];
void countFilesIn(const char *path) {
  snprintf(folder, sizeof folder, "%s", path);
}
static int isFileIn(int file) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  return strstr(path, folder) != NULL;
}
static int countsFile(int file, const char *path) {
  if (atomic_load(&filesLeft) <= 0 || !folder[0])
    return 1;
  return (path && strstr(path, folder)) || (file >= 0 && isFileIn(file));
}
static int failsFile(int file, const char *path) {
  if (!countsFile(file, path) || !isTurn(&filesLeft))
    return 0;
  errno = atomic_load(&fileError);
  return 1;
}

#define FAILS() failsAllocation(__builtin_return_address(0))
void *malloc(size_t size) { return FAILS() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
  return FAILS() ? NULL : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  return FAILS() ? NULL : __libc_realloc(memory, size);
}
void *memalign(size_t alignment, size_t size) {
  return FAILS() ? NULL : __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return FAILS() ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = FAILS() ? NULL : __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void *ofStandard(const char *symbol) {
  // It is no neighbour of a library that was loaded before all others.
  return dlsym(dlopen("libstdc++.so.6", RTLD_LAZY), symbol);
}
// C++'s `new`, which throws where malloc gives nothing. Its caller is who
// counts.
#define NEW(symbol, parameters, arguments)                                     \
  void *symbol parameters {                                                    \
    static void *(*real)parameters;                                            \
    if (!real)                                                                 \
      real = (__typeof__(real))ofStandard(#symbol);                            \
    newFails = FAILS();                                                        \
    isInNew = 1;                                                               \
    void *made = real arguments;                                               \
    isInNew = newFails = 0;                                                    \
    return made;                                                               \
  }
NEW(_Znwm, (size_t size), (size))
NEW(_Znam, (size_t size), (size))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag), (size, tag))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag), (size, tag))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t,
    (size_t size, size_t alignment, const void *tag), (size, alignment, tag))

static int modeOf(int flags, va_list more) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0;
}
int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = modeOf(flags, more);
  va_end(more);
  return failsFile(-1, path) ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = modeOf(flags, more);
  va_end(more);
  return failsFile(-1, path) ? -1 : REAL(open64)(path, flags, mode);
}
int openat(int place, const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  int mode = modeOf(flags, more);
  va_end(more);
  return failsFile(place, path) ? -1 : REAL(openat)(place, path, flags, mode);
}
ssize_t write(int file, const void *bytes, size_t size) {
  return failsFile(file, NULL) ? -1 : REAL(write)(file, bytes, size);
}
ssize_t read(int file, void *bytes, size_t size) {
  return failsFile(file, NULL) ? -1 : REAL(read)(file, bytes, size);
}
int rename(const char *from, const char *to) {
  return failsFile(-1, from) ? -1 : REAL(rename)(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
  return failsFile(a, from) ? -1 : REAL(renameat)(a, from, b, to);
}
int mkdir(const char *path, mode_t mode) {
  return failsFile(-1, path) ? -1 : REAL(mkdir)(path, mode);
}
