"""Script ops in a SavedModel, whose functions another process cannot call.

Reads each model that the program saves, on its thread, and watches calls of functions that are in no registry.
"""
from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.program_line import NOWHERE
from pyfuncdbg.hosts.interception.traceback_frames import drop_outermost_frame
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


class Exports:
    """Witness of saved models that need functions of this process, and of calls for missing functions."""

    def __init__(self, parts: TensorFlowParts, place_of: Callable[[str], Frame | None]) -> None:
        """`place_of` tells where the op of a token was made."""
        self._parts = parts
        self._place_of = place_of
        self._lock = new_lock()
        self._saved: dict[tuple[str, str, str], Frame] = {}
        self._missing: Counter[str] = Counter()

    def install(self, patches: Patches) -> None:
        """Watch the saving of models and the look-up of functions."""
        saving = sys.modules.get('tensorflow.python.saved_model.save')
        if saving is not None and hasattr(saving, 'save_and_return_nodes'):
            patches.replace(saving, 'save_and_return_nodes', self._replace_save(saving.save_and_return_nodes))
        registry = self._parts.scripts.FuncRegistry
        patches.replace(registry, 'get', self._replace_get(registry.get))

    def _replace_save(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def save_and_return_nodes(obj: Any, export_dir: Any, *args: Any, **options: Any) -> Any:
            try:
                result = original(obj, export_dir, *args, **options)
            except BaseException as error:
                drop_outermost_frame(error)
                raise
            try:
                self._read_model(os.fspath(export_dir))
            except Exception:                   # a model that cannot be read here (another file system)
                return result
            return result
        return save_and_return_nodes

    def _read_model(self, folder: str) -> None:
        model = sys.modules['tensorflow.core.protobuf.saved_model_pb2'].SavedModel()
        model.ParseFromString((Path(folder) / 'saved_model.pb').read_bytes())
        for meta in model.meta_graphs:
            functions = meta.graph_def.library.function
            for node in [*meta.graph_def.node, *[node for function in functions for node in function.node_def]]:
                if node.op in SCRIPTS:
                    token = node.attr['token'].s.decode(errors='replace')
                    with self._lock:
                        self._saved[folder, token, node.op] = self._place_of(token) or NOWHERE

    def _replace_get(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def get(registry: Any, token: Any, default: Any = None) -> Any:
            function = original(registry, token, default)
            if function is None and sys._getframe(1).f_code.co_name == '__call__':
                with self._lock:
                    self._missing[str(token)] += 1
            return function
        return get

    def facts(self) -> Iterator[Fact]:
        """Models by function, and functions that are missing."""
        with self._lock:
            saved, missing = dict(self._saved), dict(self._missing)
        for (folder, token, op_type), place in saved.items():
            yield Fact('export', 0, place.filename, place.line, {'folder': folder, 'token': token, 'op_type': op_type})
        for token, count in missing.items():
            yield Fact('missing', data={'token': token, 'calls': count})
