"""Judges of shapes lost at a script op. The fix is the line that restores them, from the observed shapes.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pyfuncdbg.hooks.declared_outputs import declared_shape, matches_shape
from pyfuncdbg.hooks.diagnosis import CallView, Evidence, Figure, Finding, SiteView, Spot
from pyfuncdbg.hooks.graph_context import DATASET, DECLARED_SHAPES
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import ScriptCall, call_at, call_of

_OVER_SHAPE = re.compile(r'unknown rank|unknown TensorShape|unknown shape|shape .*<unknown>|'
                         r'dimension of the inputs should be defined', re.IGNORECASE)


def find_lost_shapes(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each place whose outputs are used without a known rank."""
    for spot in evidence.spots:
        attributes = [evidence.graph_attributes(site) for site in spot.sites]
        slots = spot.site.attrs.get('_no_rank')
        if isinstance(slots, list) and slots and not any('shapes' in facts for facts in attributes):
            shapeless = _count_after(evidence, spot.site)   # our own runtime reports every node, also unexamined
            if shapeless and any(call.outputs for call in spot.calls):
                yield _finding(evidence, spot, [slot for slot in slots if type(slot) is int], shapeless, False)
            continue
        lost = [facts for facts in attributes if _unknown_slots(facts.get('shapes'))]
        shapeless = max([_count(facts.get('shapeless')) for facts in lost], default=0)
        dataset = any(facts.get('elements_shapeless') is True or (
            facts.get('returns_shapeless') is True and str(facts.get('graph', '')).startswith(DATASET)) for facts in lost)
        if lost and (shapeless or dataset) and any(call.outputs for call in spot.calls):
            yield _finding(evidence, spot, _unknown_slots(lost[0].get('shapes')), shapeless, dataset)


def find_untrue_shapes(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each output whose shape differs from that in the graph, as by `set_shape`, or in `Tout`."""
    for spot in evidence.spots:
        attributes = {(site.process, site.id): evidence.graph_attributes(site) for site in spot.sites}
        for slot in range(max([len(call.outputs) for call in spot.calls], default=0)):
            for where in ('shapes', DECLARED_SHAPES):
                untrue = [(call, shape) for call in spot.calls if len(call.outputs) > slot and not matches_shape(
                    call.outputs[slot].shape,
                    shape := declared_shape(attributes[call.site.process, call.site.id].get(where), slot))]
                if untrue:
                    yield _untrue_finding(evidence, spot, slot, untrue, where)
                    break


def _untrue_finding(evidence: Evidence, spot: Spot, slot: int, untrue: Sequence[tuple[CallView, list[int | None] | None]],
                    where: str) -> Finding:
    call, declared = untrue[0]
    declared_text, actual = shape_text(declared or ()), shape_text(call.outputs[slot].shape)
    calls = [one for one in spot.calls if len(one.outputs) > slot]
    common = common_shape([one.outputs[slot].shape for one in calls])
    which = 'The output' if len({len(one.outputs) for one in spot.calls} - {1}) == 0 else f'Output {slot}'
    if where == DECLARED_SHAPES:
        what = (f'{which} is {actual} in call #{call.number}, and the TensorSpec in Tout says {declared_text}: nothing '
                f'checks it, and the program goes on with what came out')
        fix = ''
        advice = 'declare the shape that the function returns, None for a size that varies; or return what is declared'
        if common is not None:
            fix = f'tf.TensorSpec({shape_text(common)}, tf.{call.outputs[slot].dtype})'
            advice = f'in Tout, the shape of {_calls(len(calls))}; or return what is declared'
    else:
        what = (f'{which} is {actual} in call #{call.number}, and {declared_text} in the graph, as by set_shape, which is '
                f'taken for true there: what comes after it, such as a batch, fails or goes wrong')
        fix = _fix(call_of(evidence, spot), spot, {slot: common}) if common is not None else ''
        advice = (f'the shape of {_calls(len(calls))}; for a batch make them one size, or use padded_batch'
                  if common is not None else 'the rank differs from call to call: give the outputs one rank, by reshape')
    figures: dict[str, Figure] = {'calls seen': len(calls), 'of another shape': len(untrue),
                                  'shape in Tout' if where == DECLARED_SHAPES else 'shape in the graph': declared_text}
    return Finding('untrue shape', spot.name, spot.place, what, figures, fix, advice,
                   tuple(one.number for one, _ in untrue[:3]))


def find_failed_shapes(evidence: Evidence) -> Iterator[Finding]:
    """The program ended over an unknown rank before a node was called: the newest such node."""
    end = next((fact for fact in evidence.facts_of_kind('ended') if _OVER_SHAPE.search(fact.text('raised'))), None)
    uncalled = [fact for fact in evidence.facts_of_kind('uncalled') if end is None or fact.process == end.process]
    if end is None or not uncalled:
        return
    fact = max(uncalled, key=lambda known: known.number('number'))
    call = call_at(evidence, fact.place, fact.text('function'))
    what = (f'The output has no shape in the graph, not even a rank, and the graph could not be made: '
            f'{end.text("raised")}')
    fix = ''
    if call is not None and call.targets:
        fix = '\n'.join(f'{name}.set_shape([])' for name in call.targets)
    elif call is not None:
        fix = call.statement.replace(call.call, f'tf.ensure_shape({call.call}, [])')
    yield Finding('shape', fact.text('function'), fact.place, what, {}, fix,
                  'it was not called yet, so its shape is not known: [] is a single number; write the sizes, None for one '
                  'that varies')


def _count_after(evidence: Evidence, site: SiteView) -> int:
    """The number of nodes after one, in its graph, that have no rank either."""
    reached, count = set(site.outputs), 0
    for other in evidence.graph_sites(site):
        if other.id != site.id and other.attrs.get('_no_rank') and reached & set(other.inputs):
            reached |= set(other.outputs)
            count += other.op_type != 'Identity'
    return count


def _calls(number: int) -> str:
    return f'all {number:,} calls that were seen' if number > 1 else 'the one call that was seen'


def _unknown_slots(shapes: object) -> list[int]:
    """Slots of unknown rank."""
    return [slot for slot, shape in enumerate(shapes) if shape is None] if isinstance(shapes, list) else []


def _count(value: object) -> int:
    return value if type(value) is int else 0


def _finding(evidence: Evidence, spot: Spot, slots: Sequence[int], shapeless: int, dataset: bool) -> Finding:
    shapes = {slot: common_shape([call.outputs[slot].shape for call in spot.calls if len(call.outputs) > slot])
              for slot in slots}
    used = ('1 node after it knows no shape either' if shapeless == 1 else
            f'{shapeless:,} nodes after it know no shape either')
    used *= shapeless > 0
    ends = 'the elements of the dataset have none: batch and Keras need it' if dataset else ''
    outputs = 'The output has' if len(spot.site.outputs) == 1 else f'Outputs {", ".join(map(str, slots))} have'
    what = f'{outputs} no shape in the graph, not even a rank; {"; ".join(filter(None, (used, ends)))}'
    known_shapes = {slot: shape for slot, shape in shapes.items() if shape is not None}
    judged = sum(1 for call in spot.calls if call.outputs)
    figures: dict[str, Figure] = {'calls seen': judged, 'nodes without shape': shapeless}
    figures |= {f'output {slot}': shape_text(shape) for slot, shape in known_shapes.items()}
    varying = [slot for slot, shape in shapes.items() if shape is None]
    if varying:
        what += f'; the rank of output {varying[0]} differs from call to call, no set_shape can say it'
    call = call_of(evidence, spot)
    advice = f'the shape of {_calls(judged)}'
    advice += ', None where it varied' if any(None in shape for shape in known_shapes.values()) else ''
    return Finding('shape', spot.name, spot.place, what, figures, _fix(call, spot, known_shapes),
                   advice if known_shapes else 'give the outputs one rank, by reshape')


def common_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int | None, ...] | None:
    """The common part of shapes: None for a size that varied; None for shapes of several ranks."""
    if not shapes or len({len(shape) for shape in shapes}) > 1:
        return None
    return tuple([sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True)])


def shape_text(shape: Sequence[int | None]) -> str:
    """'[None, 3]'."""
    return f'[{", ".join(map(str, shape))}]'


def _fix(call: ScriptCall | None, spot: Spot, shapes: dict[int, tuple[int | None, ...]]) -> str:
    if not shapes:
        return ''
    single = len(spot.site.outputs) == 1
    listed = bool(call is not None and call.rest and call.rest[0].removeprefix('Tout=').startswith(('[', '(')))
    if call is not None and call.targets:
        names = {slot: call.targets[slot] if call.unpacked and slot < len(call.targets)
                 else f'{call.targets[0]}[{slot}]' if listed or not single else call.targets[0] for slot in shapes}
        return '\n'.join(f'{names[slot]}.set_shape({shape_text(shape)})' for slot, shape in shapes.items())
    if call is not None and single and not listed:
        return call.statement.replace(call.call, f'tf.ensure_shape({call.call}, {shape_text(shapes[0])})')
    if single and not listed:
        return f'y = tf.ensure_shape(y, {shape_text(shapes[0])})    # y: what the op gave'
    return '\n'.join(f'outputs[{slot}].set_shape({shape_text(shape)})' for slot, shape in shapes.items())
