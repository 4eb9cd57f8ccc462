"""How lit finds and runs Quern's FileCheck tests."""

from __future__ import annotations

import os
import shutil

import lit.formats

# lit puts `config` and `lit_config` into this file's globals.
config.name = "quern"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".qn", ".mlir", ".test"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821

path = os.pathsep.join(
    [config.quern_bin_dir, config.llvm_bin_dir, os.environ["PATH"]]  # noqa: F821
)
config.environment["PATH"] = path  # noqa: F821
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=error"  # noqa: F821
# Tests see neither the user's colours nor the user's kernel cache.
config.environment["NO_COLOR"] = "1"  # noqa: F821
config.environment["QUERN_CACHE_DIR"] = os.path.join(  # noqa: F821
    config.test_exec_root,  # noqa: F821
    "cache",
)

config.substitutions.append(("%src", os.path.dirname(config.test_source_root)))  # noqa: F821

needed = ["FileCheck", "not", "split-file", *filter(None, config.quern_tools)]  # noqa: F821
for tool in needed:
    if shutil.which(tool, path=path) is None:
        lit_config.fatal(f"`{tool}` is not built: run `./dev build`")  # noqa: F821
