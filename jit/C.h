// The compiler for C and whatever calls C: opaque handles, plain structs.
#ifndef QUERN_C_H
#define QUERN_C_H

#include <stdint.h>

#if defined(QUERN_BUILDING)
#define QUERN_C_API __attribute__((visibility("default")))
#else
#define QUERN_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct quern_session quern_session;
typedef struct quern_module quern_module;
typedef struct quern_kernel quern_kernel;

// Where a tensor is: 0 for the host's memory, or a vendor and the number of
// its device, QUERN_CUDA + 1.
enum { QUERN_HOST = 0, QUERN_CUDA = 0x10000, QUERN_HIP = 0x20000 };

// A tensor of the caller's: strides count elements.
typedef struct {
  void *data;
  const char *type; // "f32", "bf16", "i64" ...
  int32_t rank;
  const int64_t *sizes, *strides;
  int32_t writable;
  int32_t device;
} quern_tensor;

typedef enum {
  QUERN_NONE, // an optional parameter that is not given
  QUERN_TENSOR,
  QUERN_INTEGER,
  QUERN_REAL,
  QUERN_BOOL,
  QUERN_TEXT // a function or type for a compile-time parameter
} quern_kind;

typedef struct {
  quern_kind kind;
  const char *name; // of a compile-time parameter; else null: by position
  quern_tensor tensor;
  int64_t integer; // also of a bool
  double real;
  const char *text;
} quern_argument;

// Every call that can fail gives null or a number below 0 and, where `error`
// is not null, a message there that quern_free_text releases.

QUERN_C_API const char *quern_version(void);
QUERN_C_API void quern_free_text(char *text);

// `cache`: folder of compiled kernels, "" for the default, "-" for none;
// `threads`: 0 for all processors.
QUERN_C_API quern_session *quern_open(const char *cache, int32_t threads,
                                      char **error);
QUERN_C_API void quern_close(quern_session *session);

// Checks a text; `name` stands in messages.
QUERN_C_API quern_module *quern_compile(quern_session *session,
                                        const char *source, const char *name,
                                        char **error);
// A rendered warning of the checker, by its number from 0; null past the last.
QUERN_C_API const char *quern_warning(const quern_module *module,
                                      int32_t number);
QUERN_C_API void quern_free_module(quern_module *module);

// Solves axes and types and makes the code. Data pointers are not looked at.
// Parameters at the end that are optional or have a default may be left out.
QUERN_C_API quern_kernel *quern_bind(quern_module *module,
                                     const char *declaration,
                                     const quern_argument *arguments,
                                     int32_t count, char **error);
QUERN_C_API void quern_free_kernel(quern_kernel *kernel);

// Outputs the caller is to allocate; `type` is static, `sizes` lives as long
// as the kernel.
QUERN_C_API int32_t quern_output_count(const quern_kernel *kernel);
QUERN_C_API int32_t quern_output(const quern_kernel *kernel, int32_t number,
                                 const char **type, const int64_t **sizes);

// `pointers`: of every tensor given, in order, then of every output. 0: done.
QUERN_C_API int32_t quern_run(quern_kernel *kernel, void *const *pointers,
                              int32_t count, char **error);

// The same in the order of a device's stream, a CUstream or hipStream_t; null
// is the default one. Kernels that check indices wait, others return at once.
QUERN_C_API int32_t quern_run_on(quern_kernel *kernel, void *const *pointers,
                                 int32_t count, void *stream, char **error);

#ifdef __cplusplus
}
#endif
#endif
