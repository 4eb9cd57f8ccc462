"""How lit finds and runs Quern's FileCheck tests."""

from __future__ import annotations

import os
import resource
import shutil
import sysconfig

import lit.formats

# lit puts `config` and `lit_config` into this file's globals.
config.name = "quern"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".qn", ".mlir", ".test"]
config.excludes = ["Inputs"]

# ptxas and nvdisasm come as packages, beside lit.
cuda_bin_dir = os.path.join(sysconfig.get_path("purelib"), "nvidia", "cu13", "bin")
path = os.pathsep.join(
    [config.quern_bin_dir, config.llvm_bin_dir, cuda_bin_dir, os.environ["PATH"]],
)
config.environment["PATH"] = path
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=error"
# Tests see neither the user's colours nor the user's kernel cache.
config.environment["NO_COLOR"] = "1"
config.environment["QUERN_CACHE_DIR"] = os.path.join(
    config.test_exec_root,
    "cache",
)

config.substitutions.append(("%src", os.path.dirname(config.test_source_root)))

needed = ["FileCheck", "not", "split-file", *filter(None, config.quern_tools)]
for tool in needed:
    if shutil.which(tool, path=path) is None:
        lit_config.fatal(f"`{tool}` is not built: run `./dev build`")

# A tool that runs away is stopped before it takes the machine with it. The
# sanitizers reserve address space without end, so they get no such limit.
GIB = 1 << 30
if not config.quern_sanitized:
    resource.setrlimit(resource.RLIMIT_AS, (8 * GIB, resource.RLIM_INFINITY))
# LLVM's own libraries are built without: what their headers, built here, poison they use.
config.environment["ASAN_OPTIONS"] = "detect_leaks=0:allow_user_poisoning=0"
resource.setrlimit(resource.RLIMIT_CPU, (300, resource.RLIM_INFINITY))
