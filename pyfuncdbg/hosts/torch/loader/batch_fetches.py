"""Fetches of a DataLoader: each item and the collation of a batch become calls. In the process that fetches.

PyTorch's own fetcher does the work, on a copy of itself that reads from the watched dataset: its frames and errors are as
without us.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks import commit_points
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.loader.dataset_items import LoaderFunctions
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.torch_parts import TorchParts


class BatchFetches:
    """The fetches of all loaders.

    Args:
        parts: Modules of the imported PyTorch.
        host: Of the calls.
        calls: Makes them.
    """

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls) -> None:
        self._fetchers = parts.fetchers
        self._host = host
        self._calls = calls
        self._workers = parts.workers
        self._has_committed = False
        self._functions: WeakKeys[Any, LoaderFunctions] = WeakKeys()

    def install(self, patches: Patches) -> None:
        """Replace PyTorch's functions that fetch."""
        fetchers = self._fetchers
        for fetcher in fetchers._MapDatasetFetcher, fetchers._IterableDatasetFetcher:
            patches.replace(fetcher, 'fetch', self._replace_fetch(fetcher.fetch))

    @transparent
    def _replace_fetch(self, original: Callable[..., Any]) -> Callable[..., Any]:
        calls = self._calls

        def fetch(fetcher: Any, possibly_batched_index: Any) -> Any:
            if not calls.watched:
                return original(fetcher, possibly_batched_index)
            watched = self._watched(fetcher)
            failed = True
            try:
                batch = original(watched, possibly_batched_index)
                failed = False
                return batch
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
            finally:
                if hasattr(watched, 'ended'):
                    fetcher.ended = watched.ended
                if self._workers._worker_info is not None:
                    self._commit(failed)
        return fetch

    def _commit(self, failed: bool) -> None:
        """Let a worker's calls be written: the program kills its workers when it ends, with an error of theirs at once.

        The first time takes long, for the log is made.
        """
        commit_points.reach(failed or not self._has_committed)
        self._has_committed = True

    def _watched(self, fetcher: Any) -> Any:
        """A copy of a fetcher that reads from the watched dataset. Made for each batch: the program may change its own."""
        functions = self._functions.get(fetcher)
        if functions is None:
            functions = self._functions[fetcher] = LoaderFunctions(self._host, self._calls)
        copy = object.__new__(type(fetcher))
        vars(copy).update(vars(fetcher))
        copy.collate_fn = functions.collate(fetcher.collate_fn)
        if hasattr(fetcher, 'dataset_iter'):
            copy.dataset_iter = functions.iterator(fetcher.dataset_iter, fetcher.dataset)
        else:
            copy.dataset = functions.dataset(fetcher.dataset)
        return copy
