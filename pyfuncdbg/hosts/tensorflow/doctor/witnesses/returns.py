"""Values that a `py_function` really returned, before TensorFlow casts them to `Tout` and drops surplus ones.

Runs around each call, on its thread. Other script ops check their results, and their calls show them unchanged.
"""
from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import current
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_MOST = 4096


class Returns:
    """Counts of the forms in which each site's function returned its values."""

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self._lock = new_lock()
        self._forms: dict[int, Counter[tuple[str, ...]]] = {}
        self._declared: dict[int, list[str]] = {}
        self._cast_changes: dict[tuple[int, int], list[float]] = {}

    def install(self, patches: Patches) -> None:
        """Watch what functions return."""
        kind = self._parts.scripts.EagerFunc
        patches.replace(kind, '_call', self._replace_call(kind._call))

    def _replace_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _call(registered: Any, device: Any, args: Any) -> Any:
            call = current.get()
            if registered._is_grad_func or call is None or call.site.kind != 'python':
                return original(registered, device, args)
            function, dtypes = registered._func, registered._out_dtypes

            def observed(*values: Any) -> Any:
                result = function(*values)
                with contextlib.suppress(Exception):    # an object of the program may raise anything
                    self._note(call.site.id, result, dtypes)
                return result

            # A copy: threads share the registered object.
            stand_in = object.__new__(type(registered))
            vars(stand_in).update(vars(registered), _func=observed)
            return original(stand_in, device, args)
        return _call

    def _note(self, site: int, result: Any, dtypes: Any) -> None:
        several = isinstance(result, (list, tuple))
        values = list(result) if several else [result]
        form = ('list' if several else 'none' if result is None else 'one', *[_dtype_of(value) for value in values[:32]])
        with self._lock:
            if len(self._forms) >= _MOST:
                return
            self._forms.setdefault(site, Counter())[form] += 1
            self._declared[site] = [str(getattr(dtype, 'name', '')) for dtype in dtypes]
            for slot, (value, dtype) in enumerate(zip(values, dtypes, strict=False)):
                if isinstance(value, np.ndarray | np.generic):
                    self._compare(site, slot, value, dtype)

    def _compare(self, site: int, slot: int, value: Any, dtype: Any) -> None:
        """Note how far a cast changes the values."""
        target = getattr(dtype, 'as_numpy_dtype', None)
        array = np.asarray(value)
        if target is None or array.dtype == target or array.dtype.kind not in 'iuf' or np.dtype(target).kind not in 'iuf':
            return
        original = array.astype(np.float64)
        with np.errstate(all='ignore'):
            off = np.abs(array.astype(target).astype(np.float64) - original)
            changed = off > 1e-6 * np.maximum(np.abs(original), 1.0)
        sums = self._cast_changes.setdefault((site, slot), [0.0, 0.0])
        sums[0] += float(np.count_nonzero(changed))
        sums[1] = max(sums[1], float(off[np.isfinite(off)].max(initial=0.0)))

    def facts(self) -> Iterator[Fact]:
        """The forms of each site."""
        with self._lock:
            forms = {site: Counter(counts) for site, counts in self._forms.items()}
            declared, changes = dict(self._declared), dict(self._cast_changes)
        for site, counts in forms.items():
            changed = {str(slot): figures for (of, slot), figures in changes.items() if of == site}
            for form, count in counts.items():
                yield Fact('returned', site, data={'form': form[0], 'dtypes': list(form[1:]), 'calls': count,
                                                   'declared': declared[site], 'changed': changed})


def _dtype_of(value: Any) -> str:
    """The dtype of an array or tensor; of anything else its type, in brackets."""
    dtype = getattr(value, 'dtype', None)
    if isinstance(value, np.ndarray | np.generic):
        return str(value.dtype)
    name = getattr(dtype, 'name', None)
    return name if isinstance(name, str) else f'<{type(value).__name__}>'
