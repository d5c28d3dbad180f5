"""Writer of Parquet files in blocks of rows. The reader is in `own/rows.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from oblique_cli.errors import ConfigError


class ParquetWriter:
    """A Parquet file with a group of rows for each call of `add`; a context manager.

    columns : name -> type of its cells (str, int, float, bool), any of which may be None
    raises ConfigError without pyarrow"""

    def __init__(self, stream: BinaryIO, columns: Mapping[str, type]) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise ConfigError(
                "Parquet needs pyarrow: pip install 'oblique-trees[parquet]', or use --format csv."
            ) from None
        types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
        self._arrow = pyarrow
        self._schema = pyarrow.schema([(name, types[kind]) for name, kind in columns.items()])
        self._file: Any = pyarrow.parquet.ParquetWriter(stream, self._schema)

    def add(self, columns: Sequence[Any]) -> None:
        """Write some rows, column by column: lists or arrays."""
        arrays = [self._arrow.array(cells, type=field.type) for cells, field in zip(columns, self._schema, strict=True)]
        self._file.write_batch(self._arrow.record_batch(arrays, schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        self._file.close()

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
