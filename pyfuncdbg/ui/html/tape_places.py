"""Layout of the steps of a gradient tape: rows below the steps before, a column per branch.

Pure; called by `tape`.
"""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.observers.debug.gradients.tape import Tape, TapeEdge, TapeNode

STEPS = 200
"""Steps that are drawn, the first ones in time."""
LEAVES = 200
"""Gradients that leave the tape and are drawn."""


@dataclass(frozen=True, slots=True)
class TapeBox:
    """A step, or a gradient that leaves the tape: `node` is None then, and `edge` leads to it."""

    row: int
    column: int
    node: TapeNode | None
    edge: TapeEdge | None


@dataclass(frozen=True, slots=True)
class Places:
    """The boxes, and the edges with their ends."""

    boxes: tuple[TapeBox, ...]
    edges: tuple[tuple[TapeEdge, TapeBox, TapeBox], ...]

    @property
    def rows(self) -> int:
        return max((box.row for box in self.boxes), default=-1) + 1

    @property
    def columns(self) -> int:
        return max((box.column for box in self.boxes), default=-1) + 1


def places_of(tape: Tape) -> Places:
    """A place for each step that is drawn; edges of others are left out."""
    return _Placing(tape).done()


class _Placing:
    """Depth first, without recursion. A step's first way on stays in its column, further ones go to the right of it."""

    def __init__(self, tape: Tape) -> None:
        self._nodes = {node.number: node for node in tape.nodes[:STEPS]}
        order = {number: i for i, number in enumerate(self._nodes)}
        self._out: dict[str, list[TapeEdge]] = {}
        leaves = 0
        for edge in tape.edges:
            leaves += not edge.target
            # A damaged trace may have a step before the one that it comes from: no row is below itself.
            ahead = edge.target in order and edge.source in order and order[edge.source] < order[edge.target]
            if edge.source in order and (ahead or (not edge.target and leaves <= LEAVES)):
                self._out.setdefault(edge.source, []).append(edge)
        self._rows = self._longest()
        self._below = self._heights()
        self._taken: set[tuple[int, int]] = set()

    def _longest(self) -> dict[str, int]:
        """Each step's row: one more than the lowest that it comes from. Steps are in order of time."""
        rows = dict.fromkeys(self._nodes, 0)
        for number in self._nodes:
            for edge in self._out.get(number, ()):
                if edge.target:
                    rows[edge.target] = max(rows[edge.target], rows[number] + 1)
        return rows

    def _heights(self) -> dict[str, int]:
        """The largest number of rows below each step."""
        below = dict.fromkeys(self._nodes, 0)
        for number in reversed(self._nodes):
            below[number] = max((below[edge.target] + 1 if edge.target else 1 for edge in self._out.get(number, ())),
                                default=0)
        return below

    def done(self) -> Places:
        boxes: dict[str, TapeBox] = {}
        leaves: list[TapeBox] = []
        edges: list[tuple[TapeEdge, TapeBox, TapeBox]] = []
        queue: list[tuple[TapeBox, TapeEdge]] = []
        for number in self._nodes:
            if number not in boxes:
                queue += self._step(number, None, boxes)
            while queue:
                source, edge = queue.pop()
                if not edge.target:
                    leaves.append(self._put(None, edge, source.row + 1, source))
                    edges.append((edge, source, leaves[-1]))
                    continue
                if edge.target not in boxes:
                    queue += self._step(edge.target, source, boxes)
                edges.append((edge, source, boxes[edge.target]))
        return Places((*boxes.values(), *leaves), tuple(edges))

    def _step(self, number: str, source: TapeBox | None, boxes: dict[str, TapeBox]) -> list[tuple[TapeBox, TapeEdge]]:
        """Place a step; its ways on, the one to go first at the end: the longest, then those that leave."""
        boxes[number] = box = self._put(self._nodes[number], None, self._rows[number], source)
        ways = sorted(self._out.get(number, ()), key=lambda edge: -self._below[edge.target] if edge.target else 1)
        return [(box, edge) for edge in reversed(ways)]

    def _put(self, node: TapeNode | None, edge: TapeEdge | None, row: int, source: TapeBox | None) -> TapeBox:
        column, first = (source.column, source.row + 1) if source is not None else (0, row)
        while any((between, column) in self._taken for between in range(first, row + 1)):
            column += 1
        self._taken.update((between, column) for between in range(first, row + 1))
        return TapeBox(row, column, node, edge)
