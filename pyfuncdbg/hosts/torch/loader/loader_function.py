"""Functions of the program that a DataLoader calls, in the main process or in a worker. On the thread of each call."""
from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments

ITEM, COLLATE, INIT = 'DataLoader.item', 'DataLoader.collate_fn', 'DataLoader.worker_init_fn'
"""Op types of the calls."""
_codes: dict[CodeType, bool] = {}
"""Whether frames of a code are between. An item costs as many lookups as there are such frames."""
_STARTERS = ('multiprocessing.', 'torch.')


class LoaderFunction(CalledFunction):
    """A function of a dataset or a loader. Its calls are at the line of the program that takes the batch.

    A forked worker has that line on its stack, below what has forked it; in a process that starts afresh there is none.
    """

    def site(self, frame: FrameType | None, layout: NestedArguments | None, recomputes: bool = False,
             form: list[Any] | None = None) -> CallSite:
        """The site of a call, as `CalledFunction.site`.

        Args:
            frame: Any frame on the stack of the call.
            layout: That of the arguments; None if they are not nested.
            recomputes: Whether PyTorch repeats the call for a backward pass.
            form: That of arguments which are not nested.
        """
        while frame is not None:
            between = _codes.get(frame.f_code)
            if between is None:
                between = _codes[frame.f_code] = _is_between(frame)
            if not between:
                break
            frame = frame.f_back
        return super().site(frame, layout, recomputes, form)


def _is_between(frame: FrameType) -> bool:
    """Whether a frame is between the program's line and the function, or the start of a worker process."""
    filename = frame.f_code.co_filename
    return is_machinery(filename) or filename == '<string>' or str(frame.f_globals.get('__name__')).startswith(_STARTERS)
