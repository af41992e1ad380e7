"""The value of an expression (`eval`): a tensor as its card with a picture, anything else as `p` shows it."""
from __future__ import annotations

from pyfuncdbg.observers.debug.value import Value
from pyfuncdbg.ui.views.escape import label
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.tensors.value import value_view
from pyfuncdbg.ui.views.tensors.variable import value_page


def evaluated_view(expression: str, value: Value, *, limit: int | None = None, written: str = '') -> Page:
    """The result under its expression.

    Args:
        expression: As typed.
        value: What it gave.
        limit: Elements to list, None for the usual number.
        written: File to which it went.
    """
    if value.tensor is not None and value.array is not None and value.array.ndim:
        return value_view(value.tensor, expression, value.array, limit=limit, written=written)
    page = value_page(value)
    return Page(page, label(f'written to {written}', 'green')) if written else page


if __name__ == '__main__':
    import numpy as np

    from pyfuncdbg.observers.debug.value import describe_value
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(evaluated_view('x * 2', describe_value(np.sin(np.arange(50)))),
         evaluated_view('x.sum()', describe_value(np.float32(2.5))),
         evaluated_view('[x, 1]', describe_value([np.arange(12.0).reshape(3, 4), 1])))
