"""Parquet: records in files of bounded size, as data tools and the Hugging Face Hub read them. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from focuscrawl.errors import FocusError
from focuscrawl.export.records import COLUMNS, Column

#: Rows of a file, unless told otherwise.
SHARD = 100_000
#: Rows and characters that are held before they are written as one group of rows.
_GROUP, _GROUP_CHARS = 5_000, 8_000_000


def check_pyarrow() -> None:
    """Refuse to go on without pyarrow."""
    if find_spec("pyarrow") is None:
        raise FocusError("Parquet needs pyarrow: pip install 'focuscrawl[export]', or choose --to jsonl")


class Table:
    """A Parquet file that is written group by group."""

    def __init__(self, path: Path, columns: Sequence[Column], about: Mapping[str, str] | None = None) -> None:
        import pyarrow
        import pyarrow.parquet

        self._arrow = pyarrow
        kinds = {
            "string": pyarrow.string(),
            "strings": pyarrow.list_(pyarrow.string()),
            "float": pyarrow.float64(),
            "integer": pyarrow.int64(),
            "boolean": pyarrow.bool_(),
            "time": pyarrow.timestamp("ms", tz="UTC"),
        }
        self._columns = columns
        self._schema = pyarrow.schema([(column.name, kinds[column.kind]) for column in columns], metadata=about)
        self._writer = pyarrow.parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._held: list[Mapping[str, Any]] = []
        self._chars = 0
        self.rows = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Add a row."""
        self._held.append(record)
        self._chars += sum(len(value) for value in record.values() if isinstance(value, str))
        self.rows += 1
        if len(self._held) == _GROUP or self._chars > _GROUP_CHARS:
            self._write()

    def _write(self) -> None:
        if self._held:
            values = {
                column.name: [
                    _time(record[column.name]) if column.kind == "time" else record[column.name]
                    for record in self._held
                ]
                for column in self._columns
            }
            self._writer.write_table(self._arrow.table(values, schema=self._schema))
            self._held, self._chars = [], 0

    def close(self) -> None:
        """Write what is held, and the end of the file."""
        try:
            self._write()
        finally:
            self._writer.close()


def _time(text: str | None) -> datetime | None:
    """A time from the crawl's file, which may say anything."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def write_shards(
    records: Iterable[Mapping[str, Any]],
    folder: Path,
    *,
    rows: int = SHARD,
    columns: Sequence[Column] = COLUMNS,
    about: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write records as `train-00000-of-00003.parquet` and so on into a folder; returns the files."""
    files: list[Path] = []
    for shard in _shards(records, rows):
        path = folder / f"{len(files):05}.parquet"
        _write(path, columns, about, shard)
        files.append(path)
    if not files:  # readers want a schema, even if there is nothing else
        files.append(folder / "00000.parquet")
        _write(files[0], columns, about, ())
    return [path.rename(folder / f"train-{number:05}-of-{len(files):05}.parquet") for number, path in enumerate(files)]


def _write(
    path: Path, columns: Sequence[Column], about: Mapping[str, str] | None, records: Iterable[Mapping[str, Any]]
) -> None:
    table = Table(path, columns, about)
    try:
        for record in records:
            table.add(record)
    finally:
        table.close()


def _shards(records: Iterable[Mapping[str, Any]], rows: int) -> Iterator[Iterator[Mapping[str, Any]]]:
    """The records, so many at a time; each part must be read to its end before the next is asked for."""
    rest = iter(records)
    for first in rest:
        yield _part(first, rest, rows)


def _part(first: Mapping[str, Any], rest: Iterator[Mapping[str, Any]], rows: int) -> Iterator[Mapping[str, Any]]:
    yield first
    for _ in range(rows - 1):
        try:
            yield next(rest)
        except StopIteration:
            return


def count_rows(folder: Path) -> int | None:
    """The rows of the Parquet files in a folder; None without pyarrow. Raises FocusError for a damaged file."""
    if find_spec("pyarrow") is None:
        return None
    import pyarrow
    import pyarrow.parquet

    rows = 0
    for path in sorted(folder.glob("*.parquet")):
        try:
            rows += pyarrow.parquet.ParquetFile(path).metadata.num_rows
        except (OSError, pyarrow.ArrowException) as error:
            raise FocusError(f"{path.name} is damaged: {error}") from None
    return rows
