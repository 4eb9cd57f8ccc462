"""A script that forks at random moments, and how it is run."""

from __future__ import annotations

import os
import subprocess
import sys

#: `forked(child, limit)` forks, runs `child` in the child and gives the status of its process,
#: or "hangs" where that does not end within `limit` seconds.
FORKED = """
import os, time

def forked(child, limit):
    process = os.fork()
    if process == 0:
        try:
            child()
            os._exit(0)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
    end = time.time() + limit
    while time.time() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(process, 9)
    os.waitpid(process, 0)
    return "hangs"

"""


def run(text: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, without a cache."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED + text, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
        env={**os.environ, "QUERN_CACHE_DIR": "-", **variables},
    )
