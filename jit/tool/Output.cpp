// Files are replaced, everything else is written to.
#include "jit/tool/Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace quern;
namespace fs = llvm::sys::fs;

/// Empty when all of the text is written.
static std::error_code writeAll(llvm::raw_fd_ostream &out,
                                llvm::StringRef text) {
  out << text;
  out.flush();
  std::error_code problem = out.error();
  out.clear_error();
  return problem;
}

static std::error_code writeInPlace(llvm::StringRef path,
                                    llvm::StringRef text) {
  std::error_code problem;
  llvm::raw_fd_ostream out(path, problem, fs::CD_OpenExisting);
  if (problem)
    return problem;
  problem = writeAll(out, text);
  return problem == std::errc::broken_pipe ? std::error_code() : problem;
}

static std::error_code replaceFile(llvm::StringRef path, llvm::StringRef text,
                                   fs::perms permissions) {
  auto temporary = fs::TempFile::create(path + "-%%%%%%.tmp", permissions);
  if (!temporary)
    return llvm::errorToErrorCode(temporary.takeError());
  llvm::raw_fd_ostream out(temporary->FD, /*shouldClose=*/false);
  std::error_code problem = writeAll(out, text);
  llvm::Error closed = problem ? temporary->discard() : temporary->keep(path);
  std::error_code other = llvm::errorToErrorCode(std::move(closed));
  return problem ? problem : other;
}

static std::error_code write(llvm::StringRef path, llvm::StringRef text) {
  fs::file_status status;
  if (fs::status(path, status)) {
    // What is not there is made with the permissions that the user's mask has.
    unsigned mask = fs::getUmask();
    return replaceFile(
        path, text,
        static_cast<fs::perms>((fs::all_read | fs::all_write) & ~mask));
  }
  if (status.type() != fs::file_type::regular_file)
    return writeInPlace(path, text);
  llvm::SmallString<128> real;
  if (std::error_code problem = fs::real_path(path, real))
    return problem;
  return replaceFile(real, text, status.permissions());
}

std::string tool::writeOutput(llvm::StringRef path, llvm::StringRef text) {
  if (path == "-") {
    llvm::outs() << text;
    return "";
  }
  std::error_code problem = write(path, text);
  return problem ? "cannot write `" + path.str() + "`: " + problem.message()
                 : "";
}
