// The C interface over sessions, modules and bound kernels.
#include "jit/C.h"

#include "frontend/ElementType.h"
#include "jit/Jit.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

using namespace quern;

struct quern_session {
  std::shared_ptr<Session> session;
};
struct quern_module {
  Module module;
};
struct quern_kernel {
  BoundKernel kernel;
};

/// Hands a message out and gives the value of failure.
static std::nullptr_t fail(std::string_view message, char **error) {
  if (error)
    *error = strndup(message.data(), message.size());
  return nullptr;
}

/// What `body` gives; where memory ends, the value of failure and a message.
template <typename Body>
static auto forC(Body body, decltype(body()) failure, char **error) {
  try {
    return body();
  } catch (const std::exception &) {
    fail("out of memory", error);
    return failure;
  }
}

static Result<Argument> argumentOf(const quern_argument &given) {
  switch (given.kind) {
  case QUERN_NONE:
    return Argument();
  case QUERN_INTEGER:
    return Argument(given.integer);
  case QUERN_REAL:
    return Argument(given.real);
  case QUERN_BOOL:
    return Argument(given.integer != 0);
  case QUERN_TEXT:
    return Argument(std::string(given.text ? given.text : ""));
  case QUERN_TENSOR:
    break;
  }
  const quern_tensor &tensor = given.tensor;
  auto type = elementTypeNamed(tensor.type ? tensor.type : "");
  if (!type)
    return Error{"there is no element type `" +
                     std::string(tensor.type ? tensor.type : "") + "`",
                 {}};
  bool hasAxes = tensor.rank > 0 && tensor.sizes && tensor.strides;
  if (tensor.rank != 0 && !hasAxes)
    return Error{"a tensor of " + std::to_string(tensor.rank) +
                     " axes has no sizes and strides",
                 {}};
  auto rank = static_cast<std::size_t>(tensor.rank);
  DeviceId device{static_cast<DeviceKind>(tensor.device >> 16),
                  tensor.device & 0xffff};
  if (device.kind > DeviceKind::Hip)
    return Error{"there is no device " + std::to_string(tensor.device), {}};
  return Argument(TensorView{.data = tensor.data,
                             .type = static_cast<DType>(*type),
                             .sizes = {tensor.sizes, rank},
                             .strides = {tensor.strides, rank},
                             .writable = tensor.writable != 0,
                             .device = device});
}

const char *quern_version(void) { return QUERN_VERSION; }

void quern_free_text(char *text) { std::free(text); }

quern_session *quern_open(const char *cache, int32_t threads, char **error) {
  return forC(
      [&]() -> quern_session * {
        auto session = Session::create({.threads = threads,
                                        .cacheDirectory = cache ? cache : "",
                                        .target = ""});
        if (!session)
          return fail(session.error().message, error);
        return new quern_session{std::move(*session)};
      },
      nullptr, error);
}

void quern_close(quern_session *session) { delete session; }

quern_module *quern_compile(quern_session *session, const char *source,
                            const char *name, char **error) {
  return forC(
      [&]() -> quern_module * {
        auto module =
            session->session->compile(source, name ? name : "<string>");
        if (!module)
          return fail(module.error().message, error);
        return new quern_module{std::move(*module)};
      },
      nullptr, error);
}

const char *quern_warning(const quern_module *module, int32_t number) {
  std::span<const std::string> all = module->module.warnings();
  bool isThere = number >= 0 && static_cast<std::size_t>(number) < all.size();
  return isThere ? all[number].c_str() : nullptr;
}

void quern_free_module(quern_module *module) { delete module; }

quern_kernel *quern_bind(quern_module *module, const char *declaration,
                         const quern_argument *arguments, int32_t count,
                         char **error) {
  return forC(
      [&]() -> quern_kernel * {
        std::vector<Argument> given;
        std::vector<std::pair<std::string, Argument>> constants;
        for (const quern_argument &each :
             std::span(arguments, static_cast<std::size_t>(count))) {
          auto argument = argumentOf(each);
          if (!argument)
            return fail(argument.error().message, error);
          if (each.name)
            constants.emplace_back(each.name, std::move(*argument));
          else
            given.push_back(std::move(*argument));
        }
        auto kernel = module->module.bind(declaration, given, {}, constants);
        if (!kernel)
          return fail(kernel.error().message, error);
        if (auto ready = kernel->ready(); !ready)
          return fail(ready.error().message, error);
        return new quern_kernel{std::move(*kernel)};
      },
      nullptr, error);
}

void quern_free_kernel(quern_kernel *kernel) { delete kernel; }

int32_t quern_output_count(const quern_kernel *kernel) {
  return static_cast<int32_t>(kernel->kernel.outputs().size());
}

int32_t quern_output(const quern_kernel *kernel, int32_t number,
                     const char **type, const int64_t **sizes) {
  std::span<const TensorSpec> outputs = kernel->kernel.outputs();
  if (number < 0 || static_cast<std::size_t>(number) >= outputs.size())
    return -1;
  const TensorSpec &spec = outputs[number];
  *type = spelling(static_cast<ElementType>(spec.type)).data();
  *sizes = spec.sizes.data();
  return static_cast<int32_t>(spec.sizes.size());
}

int32_t quern_run(quern_kernel *kernel, void *const *pointers, int32_t count,
                  char **error) {
  return quern_run_on(kernel, pointers, count, nullptr, error);
}

int32_t quern_run_on(quern_kernel *kernel, void *const *pointers, int32_t count,
                     void *stream, char **error) {
  auto done =
      kernel->kernel.run({pointers, static_cast<std::size_t>(count)}, stream);
  if (done)
    return 0;
  fail(done.error().message, error);
  return -1;
}
