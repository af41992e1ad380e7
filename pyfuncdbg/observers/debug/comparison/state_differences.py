"""Differences of the states that two calls began in: what their functions read beside their inputs. Pure.

A divergence of a call whose inputs are the same has its cause there, or in the text of its function.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.snapshots.value_encoding import FUNCTION, PLAIN

_OPS = 'ops'
_LONGEST = 60
_PLACE = slice(3, 5)
"""File and line of an encoded function: they may move."""


def drawn_generators(one: CallState, two: CallState, beside_one: CallState, beside_two: CallState) -> tuple[str, ...]:
    """The random generators that were in another state, and that the programs draw from there.

    A generator that nothing draws from says nothing: without a seed it is in another state in each process.

    Args:
        one, two: States that both calls began in.
        beside_one, beside_two: Those of the next calls on both sides, or of the calls before.

    Returns:
        'numpy.random', 'random', 'ops'; none if a state is not known.
    """
    first, second, near_first, near_second = map(_generators, (one, two, beside_one, beside_two))
    return tuple(name for name in first if name in second and first[name] != second[name] and (
        near_first.get(name, first[name]) != first[name] or near_second.get(name, second[name]) != second[name]))


def value_differences(one: CallState, two: CallState) -> tuple[str, ...]:
    """The variables that both functions read and that had other values, as 'global train.scale 2.0 | 3.0'.

    Args:
        one, two: States that both calls began in.
    """
    others = {(variable.module, variable.name): variable.value for variable in two.variables}
    places = [f'global {variable.name}{_sides(variable.value, others[variable.module, variable.name])}'
             for variable in one.variables if (variable.module, variable.name) in others
             and _value(variable.value) != _value(others[variable.module, variable.name])]
    if one.function is not None and two.function is not None and _value(one.function) != _value(two.function):
        places.append('its closure, defaults or object')
    if one.errstate is not None and two.errstate is not None and one.errstate != two.errstate:
        places.append('the error state of NumPy')
    return tuple(places)


def _generators(state: CallState) -> Mapping[str, Any]:
    generators = dict(state.generators or {})
    if state.op_generators:
        generators[_OPS] = state.op_generators
    return generators


def _value(value: Any) -> Any:
    """An encoded value without the places of functions in it."""
    if not isinstance(value, list | tuple):
        return value
    parts = [_value(part) for part in value]
    if parts[:1] == [FUNCTION]:
        parts[_PLACE] = []
    return parts


def _sides(one: Any, two: Any) -> str:
    """' 2.0 | 3.0' of plain data, else ''."""
    if not all(isinstance(value, list) and len(value) == 2 and value[0] == PLAIN for value in (one, two)):
        return ''
    return ' ' + ' | '.join(repr(value[1])[:_LONGEST] for value in (one, two))
