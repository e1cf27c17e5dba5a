"""Runs `scrapy` or `focuscrawl` in processes that are forked from one that has imported everything: 30 ms instead of a second each.

    python tests/forks.py FILENO

is that process. It forks for each command that it is sent over the socket FILENO. A child becomes what
`python -m scrapy …` would be: it has its own directory, environment, arguments and standard streams, measures its own
coverage, and ends as an interpreter ends, except that its modules are not taken down one by one: that took longer than
most commands.

What is decided when an interpreter starts cannot be decided afterwards: for such commands `run` returns None, and the
caller starts a real process.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Variables that the interpreter, the C library or BLAS read only once.
READ_ONCE = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "OMP_", "OPENBLAS_", "MKL_")

#: Modules that commands import when they need them, at half a second or more each.
LATE = (
    "coverage",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "nltk",
    "scipy.sparse",
    "sklearn.linear_model",
)
#: How often each worker of pytest measures the coverage of a command: tracing takes as long as the command, and one that
#: has been run that often has hardly a new line to show.
MEASURED = 15


def run(
    arguments: list[str], cwd: Path, environment: dict[str, str], timeout: float, program: str = "scrapy"
) -> Ended | None:
    """Run a program with arguments, in a directory and an environment; None if only a real process will do."""
    global _server
    if not hasattr(os, "fork") or _needs_an_interpreter(cwd, environment):
        return None
    if not _busy.acquire(blocking=False):  # another thread waits for its command
        return None
    try:
        _server = _server or _Server()
        _runs[program, *arguments[:1]] += 1
        if _runs[program, *arguments[:1]] > MEASURED:
            environment = {name: value for name, value in environment.items() if not name.startswith("COVERAGE_")}
        return _server.run(arguments, cwd, environment, timeout, program)
    finally:
        _busy.release()


def _needs_an_interpreter(cwd: Path, environment: dict[str, str]) -> bool:
    for name in {*environment, *os.environ}:
        if name.startswith(READ_ONCE) and name != "PYTHONPATH" and environment.get(name) != os.environ.get(name):
            return True
    return any(
        (folder / "sitecustomize.py").exists() or ((folder / "focuscrawl").is_dir() and folder.resolve() != ROOT)
        for folder in (Path(cwd), *map(Path, _python_path(environment)))
    )


def _python_path(environment: dict[str, str]) -> list[str]:
    return [folder for folder in environment.get("PYTHONPATH", "").split(os.pathsep) if folder]


class Ended(subprocess.CompletedProcess[str]):
    """A command that has ended."""

    def __init__(self, words: list[str], status: int, out: str, err: str, memory: float) -> None:
        super().__init__(words, status, out, err)
        #: The most memory that it used, in megabytes; what it shares with the process that it was forked from counts.
        self.memory = memory


class _Server:
    """The process that forks, as its user sees it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        # its children measure coverage, each from its own beginning
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "PYTHONPATH"))
        }
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def run(self, arguments: list[str], cwd: Path, environment: dict[str, str], timeout: float, program: str) -> Ended:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            order = {"program": program, "arguments": arguments, "cwd": str(cwd), "environment": environment}
            text = json.dumps(order).encode()
            socket.send_fds(self._socket, [len(text).to_bytes(8, "big")], [out.fileno(), err.fileno()])
            self._socket.sendall(text)
            child = self._number()
            self._socket.settimeout(timeout)
            try:
                status, memory = self._number(), self._number()
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                self._socket.settimeout(None)
                self._number(), self._number()
                raise subprocess.TimeoutExpired([program, *arguments], timeout, _text(out), _text(err)) from None
            finally:
                self._socket.settimeout(None)
            return Ended([program, *arguments], status, _text(out), _text(err), memory / 2**20)

    def _number(self) -> int:
        answer = self._socket.recv(8, socket.MSG_WAITALL)
        if len(answer) < 8:
            raise RuntimeError("the process that forks has ended")
        return int.from_bytes(answer, "big", signed=True)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


def _text(file) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


def close() -> None:
    """End the process that forks, if there is one."""
    global _server
    if _server is not None:
        _server.close()
        _server = None


_busy = threading.Lock()
_server: _Server | None = None
_runs: Counter[tuple[str, ...]] = Counter()


# The rest runs in the process that forks.


def preload() -> None:
    """Import what a crawl imports, and nothing that says or decides something when it is imported."""
    from scrapy.settings import default_settings
    from scrapy.utils.misc import load_object

    for package in ("focuscrawl", "scrapy.commands"):
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            importlib.import_module(module.name)
    for name, components in vars(default_settings).items():
        if name.endswith("_BASE") and isinstance(components, dict):
            for component in (*components, *components.values()):
                if isinstance(component, str) and component.startswith("scrapy."):
                    with contextlib.suppress(ImportError):
                        load_object(component)
    for name in LATE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert "twisted.internet.reactor" not in sys.modules, "each command chooses its own"


def serve(connection: socket.socket) -> dict | None:
    """Fork for each order; returns the order in the child, and None at the end of the orders."""
    while True:
        head, files, _, _ = socket.recv_fds(connection, 8, 2)
        if not head:
            return None
        order = json.loads(connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
        child = os.fork()
        if not child:
            connection.close()
            for number, file in enumerate(files, start=1):
                os.dup2(file, number)
                os.close(file)
            return order
        for file in files:
            os.close(file)
        connection.sendall(child.to_bytes(8, "big", signed=True))
        _, status, usage = os.wait4(child, 0)
        memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        for number in (os.waitstatus_to_exitcode(status), memory):
            connection.sendall(number.to_bytes(8, "big", signed=True))


def become(order: dict) -> None:
    """Be `python -m scrapy`, or `python -m focuscrawl`."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    sys.path[:1] = [os.getcwd(), *_python_path(order["environment"])]
    sys.argv = [order["program"], *order["arguments"]]
    if any(name.startswith("COVERAGE_PROCESS_") for name in os.environ):
        import coverage

        coverage.process_startup()
    sys.modules.pop("focuscrawl.__main__", None)  # it is imported with everything else, and now run
    status = 0
    try:
        runpy.run_module(order["program"], run_name="__main__", alter_sys=True)
    except SystemExit as leaving:
        status = _status(leaving)
    except KeyboardInterrupt:
        raise  # the interpreter ends by the signal
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()  # what is not closed says so
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def _status(leaving: SystemExit) -> int:
    if leaving.code is None or isinstance(leaving.code, int):
        return leaving.code or 0
    print(leaving.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest, which then closes the socket
    preload()
    gc.collect()
    gc.freeze()
    work = serve(socket.socket(fileno=int(sys.argv[1])))
    if work is not None:
        become(work)
