"""The metrics of a run on this machine, column by column: what was fetched from its tracker, tick
by tick.

Each tick appends its new rows to the file that is open, as one block; a file that is full is
written again as one block with its columns together, and is never touched again. So a tick costs
what it brings, however long the run, and a reader of one metric reads that metric. What a crash
tore off is no block, and is fetched again from the block before it: each names the tracker's cursor
behind its rows. It all can be deleted: the next ticks fetch it again.

The format is our own, with `array`, `struct` and `zlib` of the standard library, for want of a
small one that can be appended to: Parquet (pyarrow, fastparquet) and Feather bring 40 to 150 MB of
packages and write a footer at the end, so that each tick would make or rewrite a file; numpy is
20 MB for what `array` does here;
SQLite keeps rows and not columns, at twice the size; with a compressed blob for each column,
200,000 rows of 5 metrics take 11.6 MB against 4.6 MB, and a tick 11 ms against 17 ms. 10^6 rows of
5 metrics take about 27 MB in full files. Beyond 512 MiB of one source every second of the oldest
rows goes; see `coarsen`.

A row is known by its attempt and its step: of what was logged twice the last counts, and the steps
that two attempts share are kept of both. A value that is not there is not a NaN, and NaN and
infinities stay what they are.
"""

from herorun.system.metrics_cache.points import Attempt, Point, PointColumns, columns_of_points
from herorun.system.metrics_cache.reader import FetchedRows, generations, read_fetched
from herorun.system.metrics_cache.writer import Writer

__all__ = [
    "Attempt",
    "FetchedRows",
    "Point",
    "PointColumns",
    "Writer",
    "columns_of_points",
    "generations",
    "read_fetched",
]
