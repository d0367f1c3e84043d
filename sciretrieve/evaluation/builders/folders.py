"""Creates a folder with all its files, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...base.errors import InvalidRequest
from ...files.writing import LOCK, folder_entries, make_folder, remove, remove_lock, rename, sync_file, work_lock


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `target` when the block ends; if the block fails, it is removed.

    Raises:
        InvalidRequest: `target` exists, or `target`.partial is something else.
        IndexBusy: another process is making the same folder.
    """
    target = target.resolve()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidRequest(f"{target} is there already; name a new folder with `to`, or remove it")
    partial = target.with_name(target.name + ".partial")
    with work_lock(partial):
        try:
            for left in folder_entries(partial):  # left by a killed process
                if left.name != LOCK:
                    remove(left)
            yield partial
            for folder in (*(path for path in partial.rglob("*") if path.is_dir()), partial):
                sync_file(folder)
            make_folder(target.parent)
            remove_lock(partial)
            rename(partial, target)
            sync_file(target.parent)
        except BaseException:
            remove(partial)
            raise
