"""`--change`: statements of the user that change the inputs of a replay, by the names of the function's parameters."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.argument_form import ArgumentForm


def change_inputs(statements: str, function: Callable[..., Any], arrays: Sequence[np.ndarray],
                  form: ArgumentForm | None = None) -> list[np.ndarray]:
    """Execute statements on inputs.

    Args:
        statements: Python, such as 'x = x[:3]'; np is NumPy, `inputs` the list of all.
        function: Whose parameters name the inputs.
        arrays: The inputs, which the statements may write to.
        form: How they make up nested arguments, by whose names the statements change them; None if each is an argument.

    Returns:
        The inputs after it.

    Raises:
        CommandError: The statements are no Python, fail, or assign to no input.
    """
    positional, keywords = form.arguments(arrays) if form is not None else (list(arrays), {})
    names = [*input_names(function, len(positional)), *keywords]
    values = [*positional, *keywords.values()]
    inputs = list(arrays)
    space: dict[str, Any] = {'np': np, 'inputs': inputs, **dict(zip(names, values, strict=True))}
    before = set(space)
    try:
        exec(compile(statements, '--change', 'exec'), space)
    except Exception as error:                  # of the user's statements
        raise CommandError(f'--change {statements!r}: {type(error).__name__}: {error}. The inputs are {", ".join(names)}') \
            from None
    new = [name for name in space if name not in before and not name.startswith('_')]
    if new:
        raise CommandError(f'--change {statements!r} assigns to {new[0]}, which is no input.{nearest(new[0], names)} '
                           f'The inputs are {", ".join(names)}')
    changed = [space[name] for name in names]
    if form is not None:
        try:
            changed = form.inputs_of(dict(zip(names, changed, strict=True)))
        except ValueError as error:
            raise CommandError(f'--change {statements!r}: {error}: the values may change, not how they are nested') from None
        names = [f'inputs[{place}]' for place in range(len(arrays))]
    listed = space['inputs']
    new_arrays = []
    for place, name in enumerate(names):
        value = changed[place] if changed[place] is not arrays[place] else listed[place]
        try:
            new_arrays.append(np.asarray(value, None if hasattr(value, 'dtype') else arrays[place].dtype))
        except (ValueError, TypeError) as error:
            raise CommandError(f'--change {statements!r}: {name} is no array: {error}') from None
    return new_arrays


def input_names(function: Callable[..., Any], count: int) -> list[str]:
    """Names of a function's inputs.

    Args:
        function: The function.
        count: How many inputs it gets.

    Returns:
        Its positional parameters, then 'in_3' for those beyond.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):             # a builtin
        parameters = ()  # type: ignore[assignment]
    names = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)][:count]
    return names + [f'in_{place}' for place in range(len(names), count)]
