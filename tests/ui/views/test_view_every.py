"""No input makes a view fail, overflow its width, or send a control character to the terminal."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from written_trace import tensor, trace_of

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.observers.debug.cards.run_card import NodeFailure, RunCard, RunEnd, RunValue, Suggestion
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.observers.debug.numerics.origin_card import origin_card
from pyfuncdbg.observers.debug.reports.summary import summarize
from pyfuncdbg.observers.debug.stepping.node_watch import PassedTensor
from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.observers.record.records import ErrorRecord, OutputRecord, Stats, TensorRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText
from pyfuncdbg.ui.views.calls.call import call_card, call_output
from pyfuncdbg.ui.views.calls.calls import CallListing, call_table
from pyfuncdbg.ui.views.calls.run_card import run_card_view, run_end_view
from pyfuncdbg.ui.views.numerics.origin import origin_view
from pyfuncdbg.ui.views.reports.info import info_view
from pyfuncdbg.ui.views.reports.report import report
from pyfuncdbg.ui.views.sample_trace import sample
from pyfuncdbg.ui.views.tensors.tensors import TensorListing, tensor_table
from pyfuncdbg.ui.views.tensors.value import value_view

NASTY = '[red]x[/] \x1b[2J\x07\r\n\u202e\ud800\U0001f600\u200d日本 ' + 'n' * 500
STYLES = re.compile(r'\x1b\[[\d;]*m')


def call_page(calls, total=None, **shown):
    return call_table(CallListing(calls, len(calls) if total is None else total, **shown))


def tensor_page(rows, total=None, **shown):
    return tensor_table(TensorListing(rows, len(rows) if total is None else total, **shown))


def nasty_trace():
    good = sample().call(3)
    site = replace(good.site, name=NASTY, op_type=NASTY, function=NASTY, filename=NASTY, stack=(Frame(NASTY, 7, NASTY),),
                   inputs=(NASTY,), outputs=(NASTY,))
    bad = np.full((3, 4), np.nan)
    tensors = (tensor(NASTY, bad), tensor('', np.zeros((0, 5))), tensor('t', np.array(2.5)),
               tensor('n', np.array([1e300, -np.inf, 5e-324])), TensorRecord(NASTY, NASTY, (2,) * 30, 10**15, 'none',
                                                                                note=NASTY),
               TensorRecord('b', 'bfloat16', (4,), 8, 'stats', Stats(4, nan=4, first_bad=(0,)), note=NASTY),
               tensor('c', np.array([1 + 2j, complex(np.nan, 0)])), tensor('i', np.array([2**62])))
    said = tuple(OutputRecord(kind, NASTY, NASTY, NASTY, 3, NASTY) for kind in ('out', 'err', 'warning', 'log', 'fp'))
    error = ErrorRecord(NASTY, NASTY, (Frame(NASTY, 3, NASTY),) * 40, NASTY)
    born = replace(good, site=site, inputs=tensors[1:3], outputs=tensors, output=said, dropped={NASTY: 3})
    failed = replace(born, number='4', error=error, outputs=(), inputs=tensors)
    running = replace(born, number='5', duration=None, thread=0, started=1e9)
    return trace_of((born, failed, running), sample().runs(), NASTY)


def _run_cards(trace):
    values = (RunValue(NASTY, NASTY, (2,) * 30, 10**15), RunValue(NASTY)) * 20
    typed = (Suggestion(NASTY, NASTY),)
    failure = NodeFailure(NASTY, NASTY, NASTY, Frame(NASTY, 7, NASTY), trace.call(4).inputs,
                          SourceText(7, (NASTY,), ''))
    passed = (PassedTensor(NASTY, NASTY, NASTY, (2,) * 30, NASTY),) * 20
    return [run_card_view(RunCard(10**12, NASTY, 10**9, NASTY, 10**9, NASTY, values, (NASTY,) * 50, 10**9, 10**9,
                                  NASTY, (NASTY,) * 50, typed)),
            run_card_view(RunCard(1, '', 0, '', 1, '', (), (), 0, 0, '', (), ())),
            run_card_view(RunCard(1, '', 0, '', 1, '', (), (), 0, 0, NASTY, (), ())),
            run_end_view(RunEnd(1, NASTY, 1, NASTY, 1, 1e9, values, '', '', None, NASTY, passed, 10**9, True, typed)),
            run_end_view(RunEnd(1, NASTY, 1, NASTY, 1, 0, (), NASTY, NASTY * 20, failure, '', (), 0, False, typed),
                         tensor_page(trace.tensors()))]


def views():
    trace = nasty_trace()
    info = replace(trace.info(), argv=(NASTY,), host_name=NASTY, python=NASTY, damage=(NASTY,), started=1e300,
                   dropped={NASTY: 1})
    found = [origin_view(origin_card(finding, {'python': 3})) for finding in judge(trace).origins]
    cards = [view(call) for call in trace.calls() for view in (call_card, call_output)]
    values = [value_view(one, NASTY, one.to_numpy(), index=NASTY, ranges=((0, 1),), written=NASTY)
              for one in trace.call(4).inputs if one.level == 'full']
    return [call_page(trace.calls(), filters={NASTY: NASTY}), info_view(info), report(summarize(trace)), *found,
            *cards, *values, *_run_cards(trace),
            tensor_page(trace.tensors(), verdicts=judge(trace).by_call()),
            value_view(trace.call(4).inputs[4], NASTY, None)]


@pytest.mark.parametrize('width', [20, 80, 160])
@pytest.mark.parametrize('color', [False, True])
def test_nothing_nasty_gets_through(draw, width, color):
    for view in views():
        text = draw(view, width, color=color)
        plain = STYLES.sub('', text) if color else text
        assert all(c == '\n' or c.isprintable() for c in plain)
        plain.encode('utf-8')
        assert max(cell_len(line) for line in plain.splitlines()) <= width


def test_markup_is_never_read(draw):
    for view in views():
        text = draw(view, 160)
        if 'x[/]' in text:
            assert '[red]x[/]' in text


@pytest.mark.parametrize('view', [report(summarize(sample())), call_card(load_call(sample().call(3))),
                                  call_page(sample().calls())])
def test_colour_adds_no_words(draw, view):
    assert STYLES.sub('', draw(view, 80, color=True)) == draw(view, 80)


def test_every_view_displays_in_a_notebook():
    for view in (report(summarize(sample())), call_card(load_call(sample().call(3))), call_page(sample().calls())):
        bundle = view._repr_mimebundle_([], [])
        assert set(bundle) == {'text/plain', 'text/html'}
        assert 'norm[1]' in bundle['text/plain']
        assert 'norm[1]' in bundle['text/html']


def test_own_marks_are_ascii_on_an_ascii_console(draw):
    for view in (report(summarize(sample())), call_card(load_call(sample().call(3))), tensor_page(sample().tensors())):
        assert draw(view, ascii_only=True).isascii()
