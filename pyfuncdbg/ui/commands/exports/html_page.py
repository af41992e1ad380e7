"""The report as one HTML page: findings, timeline, gradients, and a card with pictures for each call.

It asks nothing of the network. Text of the trace is escaped by `ui.html.element`; beyond that a policy in the page lets only
its own script run, so that markup in a name could do nothing.
"""
from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import IO, Any

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.debug.gradients.tape import tape_of
from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Command, Context, parser_of
from pyfuncdbg.ui.commands.exports.export_job import ExportJob, Written
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls, status
from pyfuncdbg.ui.commands.health import HEALTH
from pyfuncdbg.ui.commands.report import INFO, REPORT
from pyfuncdbg.ui.commands.timeline import TIMELINE
from pyfuncdbg.ui.html.element import Html, element, joined
from pyfuncdbg.ui.html.page import page_html, text_html
from pyfuncdbg.ui.html.picture import call_pictures, load_pictures
from pyfuncdbg.ui.html.tape import tape_html
from pyfuncdbg.ui.html.theme import RULES
from pyfuncdbg.ui.html.timeline import timeline_drawing
from pyfuncdbg.ui.views.calls.call import call_card, state
from pyfuncdbg.ui.views.calls.timeline import Window
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import count, seconds

CALLS = 1_000
"""Calls that have a card: those that failed, Python calls that met NaN, other Python calls, the rest."""
_PICTURES = 6 << 20
"""Characters of pictures: of calls that failed or met NaN, and as many of the others."""
_TAPES = 8
"""Runs whose gradients are drawn, the first ones."""
SECTIONS: tuple[tuple[str, Command], ...] = (('Report', REPORT), ('NaN and infinity', HEALTH), ('Timeline', TIMELINE),
                                             ('Program', INFO))
_SCRIPT = '''
const box = document.getElementById('search'), found = document.getElementById('found');
const calls = [...document.querySelectorAll('details.call')], texts = calls.map(call => call.textContent.toLowerCase());
function search() {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  calls.forEach((call, i) => {
    call.hidden = !words.every(word => texts[i].includes(word));
    shown += !call.hidden;
  });
  found.textContent = `${shown} of ${calls.length} calls`;
}
function show() {
  const call = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (call instanceof HTMLDetailsElement) { call.open = true; call.scrollIntoView(); }
}
box.addEventListener('input', search);
addEventListener('hashchange', show);
search();
show();
'''
_STYLE = '''
body.pyfuncdbg{margin:0 auto;padding:12px 24px 48px;max-width:1400px}
.pyfuncdbg h1{font-size:18px;margin:8px 0}
.pyfuncdbg h2{font-size:15px;margin:28px 0 8px;border-bottom:1px solid var(--pf-line)}
.pyfuncdbg #bar{position:sticky;top:0;background:var(--pf-bg);padding:8px 0;z-index:1}
.pyfuncdbg #search{font:inherit;color:inherit;background:var(--pf-shade);border:1px solid var(--pf-line);border-radius:4px;
padding:4px 8px;width:min(60ch,70%)}
.pyfuncdbg details.call{border-top:1px solid var(--pf-line);padding:3px 0;scroll-margin-top:48px}
.pyfuncdbg details.call[hidden]{display:none}
.pyfuncdbg details.call>summary{color:inherit;white-space:pre-wrap}
.pyfuncdbg details.call[open]>summary{font-weight:700;background:var(--pf-shade)}
.pyfuncdbg details.call>div{padding:4px 0 8px 2ch}
'''


def write_html_page(job: ExportJob) -> Written:
    """Write the page.

    Args:
        job: Calls and files.
    """
    trace, file = job.calls.trace, job.files.text()
    calls, left_out = _chosen(job.calls)
    _write_head(trace, file)
    if job.calls.chosen is None:
        for title, html in _sections(trace):
            file.write(element('section', element('h2', title), html) + '\n')
    file.write('<section>' + element('h2', 'Calls') + _search_bar() + '\n')
    room, undrawn = {True: _PICTURES, False: _PICTURES}, 0
    for number, call in enumerate(calls, 1):
        is_bad = status(call) in ('error', 'nan')
        drawn = load_pictures(call)
        pictures = call_pictures(drawn) if room[is_bad] > 0 else Html()
        undrawn += bool(drawn and not pictures)
        room[is_bad] -= len(pictures)
        file.write(_card(load_call(call), pictures) + '\n')
        if job.calls.progress is not None:
            job.calls.progress(number, len(calls))
    notes = [*([f'{count(left_out, "call")} of this trace not on this page'] if left_out else []),
             *([f'{count(undrawn, "call")} without pictures: a page has room for {2 * _PICTURES >> 20} MB of them']
               if undrawn else [])]
    file.write(joined(*(element('div', note, class_='pf-yellow') for note in notes)) + '</section>\n')
    file.write(f'<script>{_SCRIPT}</script>\n</body>\n</html>\n')
    return Written(len(calls), skipped=left_out, remarks=tuple(notes[bool(left_out):]))


def _chosen(calls: ExportedCalls) -> tuple[list[CallRecord], int]:
    """The calls that get a card in order of time, and how many get none."""
    if calls.chosen is not None:
        return list(calls.chosen[:CALLS]), max(0, len(calls.chosen) - CALLS)
    trace, total = calls.trace, calls.trace.count()
    if total <= CALLS:
        return list(calls), 0
    orders: tuple[dict[str, Any], ...] = ({'failed': True}, {'bad': True, 'kind': 'python'}, {'kind': 'python'},
                                          {'bad': True}, {})
    first = {call.number: call for filters in orders for call in trace.calls(limit=CALLS, **filters)}
    return sorted(list(first.values())[:CALLS], key=lambda call: call.started), total - CALLS


def _write_head(trace: Trace, file: IO[str]) -> None:
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    policy = (f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; "
              "form-action 'none'")
    title = one_line(f'{PurePath(trace.path).name}: {" ".join(trace.info().argv)}', 120)
    file.write('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
               f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
               '<meta name="viewport" content="width=device-width">\n'
               f'{element("title", title)}\n<style>{RULES}{_STYLE}</style>\n</head>\n<body class="pyfuncdbg">\n'
               f'{element("h1", title)}\n')


def _search_bar() -> Html:
    return element('div', Html('<input id="search" type="search" placeholder="names, files, values, output, errors" '
                               'aria-label="search calls">'), ' ', element('span', id='found', class_='pf-d'), id='bar')


def _sections(trace: Trace) -> Iterator[tuple[str, Html]]:
    """What commands say of the whole trace, and the gradients of its runs."""
    context = Context(trace)
    for title, command in SECTIONS:
        answer = command.run(context, parser_of(command).parse_args([]))
        is_drawn = isinstance(answer, Window) and answer.timeline.lanes
        yield title, _drawn(answer) if is_drawn else page_html(command.view(answer))
    runs = list(dict.fromkeys(edge.run for edge in trace.edges()))
    for run in runs[:_TAPES]:
        try:
            yield f'Gradients of run {run}', tape_html(tape_of(trace, run))
        except PyfuncdbgError as error:         # of a damaged trace
            yield f'Gradients of run {run}', element('div', str(error), class_='pf-yellow')
    if len(runs) > _TAPES:
        yield 'Further gradients', element('div', f'of {len(runs) - _TAPES} further runs: `tape --run N` draws them')


def _drawn(window: Window) -> Html:
    lanes = window.timeline
    note = f'the longest {lanes.shown:,} of {lanes.total:,} calls' if lanes.shown < lanes.total else ''
    return joined(element('div', timeline_drawing(lanes).picture, class_='pf-scroll'), element('div', note, class_='pf-d'))


def _card(call: CallRecord, pictures: Html) -> Html:
    """The call on one line, which opens its card."""
    facts: list[Any] = [f'#{call.number}  ', one_line(call.label, 80), '  ', text_html(state(call)), '  ',
                        one_line(call.site.function, 80), f'  run {call.run}', f'  {seconds(call.duration)}']
    return element('details', element('summary', *facts), element('div', page_html(call_card(call)), pictures),
                   class_='call', id=f'call-{one_line(call.number)}')
