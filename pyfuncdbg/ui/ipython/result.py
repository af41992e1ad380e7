"""The result of a magic: one command's answer as an object that can be displayed and converted.

Made and used on the kernel's main thread; it holds plain data only, so it lives as long as the user wants.
"""
from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult

from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.commands.engine.to_json import plain
from pyfuncdbg.ui.ipython.conversion import array_of, frame_of, rows_of
from pyfuncdbg.ui.ipython.displays import answer_bundle, plain_text


class CommandResult:
    """The answer of one command.

    In a notebook it displays as HTML, elsewhere as text. A list has a length, can be indexed and iterated over.

    Args:
        answer: What `commands.execute` gave.

    Attributes:
        data: The plain data: records, dataclasses, lists, arrays.
    """

    __slots__ = ('_answer',)

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    @property
    def data(self) -> Any:
        return self._answer.result

    @property
    def text(self) -> str:
        """The picture as text without colour, 100 columns wide; the JSON document where `--json` was asked for."""
        return plain_text(self._answer)

    def to_dict(self) -> Any:
        """The data as `--json` gives it, made of dicts, lists, strings, numbers, bools and None; nothing is cut."""
        return plain(self._answer.result, limit=2**62)

    def to_numpy(self) -> np.ndarray:
        """The values of a tensor.

        Raises:
            CommandError: The command gave no tensor; which would.
            DroppedError: The values were not kept.
        """
        return array_of(self._answer.command.name, self._answer.result)

    def to_pandas(self) -> Any:
        """A list as a DataFrame with a row for each of its lines, or a tensor of at most two axes.

        Raises:
            CommandError: pandas is not installed, or the answer is neither.
        """
        return frame_of(self._answer.command.name, self._answer.result)

    def __len__(self) -> int:
        return len(rows_of(self._answer.command.name, self._answer.result))

    def __iter__(self) -> Iterator[Any]:
        return iter(rows_of(self._answer.command.name, self._answer.result))

    def __getitem__(self, index: int | slice) -> Any:
        return rows_of(self._answer.command.name, self._answer.result)[index]

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Collection[str] | None = None,
                          exclude: Collection[str] | None = None) -> dict[str, str]:
        return answer_bundle(self._answer)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._answer
