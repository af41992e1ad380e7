"""Judges of returned values against `Tout`: other dtypes, other counts, nothing at all.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

import ast
import math
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from pyfuncdbg.hooks.declared_outputs import declared_dtype
from pyfuncdbg.hooks.diagnosis import Evidence, Figure, Finding, RecordedFact, Spot
from pyfuncdbg.hooks.syntax_tree import tree_of
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import call_of

_VALUE = re.compile(r'(\d+)-th value returned by \S+ is (\w+), but expects (\w+)')
_COUNT = re.compile(r'returns (\d+) values, but expects to see (\d+) values')
_TENSOR = re.compile(r'Tensor conversion requested dtype (\w+) for Tensor with dtype (\w+)')
_KERNEL = {'double': 'float64', 'float': 'float32', 'half': 'float16'}
_NUMBERS = re.compile(r'u?int\d+|float\d+|bfloat16')


def find_return_faults(evidence: Evidence) -> Iterator[Finding]:
    """One finding a place: the first mismatch."""
    for spot in evidence.spots:
        judged = (judge(evidence, spot) for judge in (_raised_mismatch, _refused_result, _unchecked_dtype, _dropped_values,
                                                      _silent_cast))
        if (found := next((finding for finding in judged if finding is not None), None)) is not None:
            yield found


def _declared(spot: Spot) -> list[str]:
    declared = spot.site.attrs.get('Tout')
    return [str(name) for name in declared] if isinstance(declared, list) else []


def _raised_mismatch(evidence: Evidence, spot: Spot) -> Finding | None:
    """A mismatch that the call itself raised, as in our own runtime and in a `py_function`."""
    for call in spot.calls:
        if call.error is None:
            continue
        message = call.error.message
        if match := _VALUE.search(message):
            return _wrong_dtype(evidence, spot, int(match[1]), _plain(match[2]), _plain(match[3]), spot.failed, call.number)
        if match := _TENSOR.search(message):
            return _wrong_dtype(evidence, spot, 0, _plain(match[2]), _plain(match[1]), spot.failed, call.number)
        if match := _COUNT.search(message):
            return _wrong_count(spot, int(match[1]), int(match[2]), spot.failed, call.number)
    return None


def _refused_result(evidence: Evidence, spot: Spot) -> Finding | None:
    """A result that TensorFlow refuses after the return: it checks `numpy_function` in a graph against `Tout`."""
    declared = _declared(spot)
    if spot.site.op_type not in ('PyFunc', 'PyFuncStateless') or spot.site.attrs.get('graph') is None:
        return None
    returned = [call for call in spot.calls if call.error is None and call.duration is not None]
    for call in returned:
        nothing = len(call.outputs) == 1 and call.outputs[0].dtype not in ('string', *declared) and not _is_number(
            call.outputs[0].dtype)
        if nothing and not declared:            # TensorFlow accepts None for Tout=[]
            continue
        if len(call.outputs) != len(declared) or nothing:
            same = [one for one in returned if len(one.outputs) == len(call.outputs)]
            return _wrong_count(spot, 0 if nothing else len(call.outputs), len(declared), len(same), call.number)
        for slot, (output, dtype) in enumerate(zip(call.outputs, declared, strict=True)):
            if output.dtype != dtype:
                same = [one for one in returned if len(one.outputs) > slot and one.outputs[slot].dtype == output.dtype]
                return _wrong_dtype(evidence, spot, slot, output.dtype, dtype, len(same), call.number)
    return None


def _unchecked_dtype(evidence: Evidence, spot: Spot) -> Finding | None:
    """Another dtype than the declared one, from an eager `numpy_function`, which does not check `Tout`."""
    if spot.site.op_type not in ('PyFunc', 'PyFuncStateless') or spot.site.attrs.get('graph') is not None:
        return None
    for call in spot.calls:
        for slot, output in enumerate(call.outputs):
            declared = declared_dtype(call.site, slot)
            if call.error is None and declared and _is_number(output.dtype) and output.dtype != declared:
                same = sum(1 for one in spot.calls if len(one.outputs) > slot and one.outputs[slot].dtype == output.dtype)
                which = f'Output {slot}' if len(call.outputs) > 1 else 'The output'
                what = (f'{which} is {output.dtype}, Tout says {declared}: eagerly that is not checked, and the program '
                        f'goes on with {output.dtype}; in a graph the op raises. In {same:,} of {spot.count:,} calls')
                figures: dict[str, Figure] = {'calls': spot.count, 'of another dtype': same, 'returned': output.dtype,
                                              'declared': declared}
                return Finding('dtype', spot.name, spot.place, what, figures, recast(evidence, spot, slot, declared),
                               f'in the function; or declare tf.{output.dtype} as Tout', (call.number,))
    return None


def _is_number(dtype: str) -> bool:
    return _NUMBERS.fullmatch(dtype) is not None or dtype.startswith(('bool', 'complex', 'float8', 'int4', 'uint4'))


def _plain(name: str) -> str:
    return _KERNEL.get(name, name)


def _wrong_dtype(evidence: Evidence, spot: Spot, slot: int, actual: str, declared: str, calls: int, number: str) -> Finding:
    which = f'Output {slot}' if len(_declared(spot)) > 1 else 'The output'
    why = ' (a Python float, and most of NumPy, is float64)' if actual == 'float64' else (
        ' (a Python int is int64)' if actual == 'int64' else '')
    what = f'{which} is {actual}{why}, Tout says {declared}: the op raises in {calls:,} of {spot.count:,} calls'
    figures: dict[str, Figure] = {'calls': spot.count, 'refused': calls, 'returned': actual, 'declared': declared}
    return Finding('dtype', spot.name, spot.place, what, figures, recast(evidence, spot, slot, declared),
                   f'in the function; or declare tf.{actual} as Tout', (number,))


def _wrong_count(spot: Spot, actual: int, declared: int, calls: int, number: str) -> Finding:
    returned = 'nothing (None)' if actual == 0 else f'{actual} value{"s" * (actual != 1)}'
    what = f'The function returns {returned}, Tout declares {declared}: the op raises in {calls:,} of {spot.count:,} calls'
    if actual == 0:
        return Finding('outputs', spot.name, spot.place, what,
                       {'calls': spot.count, 'returned': actual, 'declared': declared},
                       'return x' if declared else '', 'every path of the function has to return; Tout=[] is for one that '
                                                     'returns nothing', (number,))
    return Finding('outputs', spot.name, spot.place, what, {'calls': spot.count, 'returned': actual, 'declared': declared},
                   f'Tout=[{", ".join(["tf." + _any(spot)] * actual)}]', 'declare as many as it returns, with their dtypes',
                   (number,))


def _any(spot: Spot) -> str:
    return next(iter(_declared(spot)), 'float32')


def _forms(evidence: Evidence, spot: Spot) -> list[tuple[RecordedFact, list[str], list[str]]]:
    """Each form in which the function of a `py_function` returned: the fact, returned dtypes, declared ones."""
    forms = []
    for fact in evidence.facts_at('returned', spot):
        dtypes, declared = fact.data.get('dtypes'), fact.data.get('declared')
        if isinstance(dtypes, list) and isinstance(declared, list):
            forms.append((fact, [str(name) for name in dtypes], [str(name) for name in declared]))
    return forms


def _dropped_values(evidence: Evidence, spot: Spot) -> Finding | None:
    for fact, dtypes, declared in _forms(evidence, spot):
        calls = fact.number('calls')
        if fact.text('form') == 'none' and declared:
            return _wrong_count(spot, 0, len(declared), calls, '')
        if fact.text('form') == 'list' and len(dtypes) < len(declared):
            return _wrong_count(spot, len(dtypes), len(declared), calls, '')
        if fact.text('form') == 'list' and len(dtypes) > len(declared) > 0:
            what = (f'The function returns {len(dtypes)} values, Tout declares {len(declared)}: TensorFlow silently drops '
                    f'the rest, in {calls:,} of {spot.count:,} calls')
            names = [name if _is_number(name) else 'float32' for name in dtypes]
            return Finding('outputs', spot.name, spot.place, what, {'calls': spot.count, 'returned': len(dtypes),
                                                                    'declared': len(declared)},
                           f'Tout=[{", ".join("tf." + name for name in names)}]', 'declare all of them, or return fewer')
    return None


def _silent_cast(evidence: Evidence, spot: Spot) -> Finding | None:
    for fact, dtypes, declared in _forms(evidence, spot):
        for slot, (got, wanted) in enumerate(zip(dtypes, declared, strict=False)):
            if got == wanted or not _NUMBERS.fullmatch(got) or not _NUMBERS.fullmatch(wanted):
                continue
            count, largest = _cast_change(fact.data.get('changed'), slot)
            narrower = got == 'float64' and wanted in ('float32', 'float16', 'bfloat16')
            if not narrower and not count:
                continue
            figures: dict[str, Figure] = {'calls': spot.count, 'cast': fact.number('calls'), 'returned': got,
                                          'declared': wanted, 'elements changed': count, 'largest change': largest}
            what = (f'The function returns {got}, Tout says {wanted}: TensorFlow silently casts it, in '
                    f'{fact.number("calls"):,} of {spot.count:,} calls')
            what += f'; {count:,} elements changed' if count else ', and the precision of float64 is lost'
            return Finding('dtype', spot.name, spot.place, what, figures, recast(evidence, spot, slot, wanted),
                           f'to say that it is meant; or declare tf.{got} as Tout')
    return None


def _cast_change(changes: Any, slot: int) -> tuple[int, float]:
    """The number of elements that a cast changed, and by how much at most."""
    figures = changes.get(str(slot)) if isinstance(changes, dict) else None
    if isinstance(figures, list) and len(figures) == 2 and all(
            isinstance(number, float) and math.isfinite(number) for number in figures):
        return int(figures[0]), figures[1]
    return 0, 0.0


def recast(evidence: Evidence, spot: Spot, slot: int, dtype: str) -> str:
    """The return statement of a function, or the lambda, with a cast; '' if the dtype is not numeric."""
    if not _is_number(dtype):
        return ''
    kind = f'np.{dtype}'
    call = call_of(evidence, spot)
    if call is not None and call.function.startswith('lambda'):
        head, _, body = call.function.partition(':')
        mended = call.call.replace(call.function, f'{head}: np.asarray({body.strip()}, {kind})', 1)
        return call.statement.replace(call.call, mended, 1)
    text = textwrap.dedent(spot.site.source)
    tree = tree_of(text)
    if tree is None:
        return f'return np.asarray(result, {kind})'
    returns = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None]
    if len(returns) != 1:
        return f'return np.asarray(result, {kind})'
    value = returns[0]
    if isinstance(value, ast.Tuple | ast.List) and slot < len(value.elts):
        items = [ast.get_source_segment(text, item) or '' for item in value.elts]
        items[slot] = f'np.asarray({items[slot]}, {kind})'
        return f'return {", ".join(items)}'
    return f'return np.asarray({ast.get_source_segment(text, value)}, {kind})'
