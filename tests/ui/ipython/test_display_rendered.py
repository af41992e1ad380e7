"""Displays in a real browser: what is seen in light and dark notebooks, what can be read, what a click on a page does."""
from __future__ import annotations

import html as html_module
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written_trace import tensor, trace_of

from pyfuncdbg.observers.debug.gradients.tape import EdgeMark, Tape, TapeEdge, TapeNode, gradient_of
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.ipython.displays import answer_bundle
from pyfuncdbg.ui.views.sample_trace import sample

BROWSER = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason='needs Chromium')

# What JupyterLab says of tables in outputs.
LAB = '''<style>.jp-RenderedHTMLCommon table{border-collapse:collapse;font-size:12px;table-layout:fixed}
.jp-RenderedHTMLCommon td,.jp-RenderedHTMLCommon th{text-align:right;padding:.5em;max-width:none;white-space:normal}
.jp-RenderedHTMLCommon tbody tr:nth-child(odd){background:#ffffff}
.jp-RenderedHTMLCommon tbody tr:nth-child(even){background:#f5f5f5}</style>'''
JP_LIGHT = '--jp-layout-color0:#ffffff;--jp-content-font-color1:rgba(0,0,0,.87);--jp-code-font-family:monospace'
JP_DARK = '--jp-layout-color0:#111111;--jp-content-font-color1:rgba(255,255,255,1);--jp-code-font-family:monospace'
VS_DARK = '--vscode-editor-background:#1e1e1e;--vscode-editor-foreground:#d4d4d4'
VS_LIGHT = '--vscode-editor-background:#ffffff;--vscode-editor-foreground:#333333'
# By name: attributes of the body, and the scheme that the system prefers.
NOTEBOOKS = {
    'lab light': (f'data-jp-theme-light="true" style="{JP_LIGHT}"', 'light'),
    'lab light, system dark': (f'data-jp-theme-light="true" style="{JP_LIGHT}"', 'dark'),
    'lab dark': (f'data-jp-theme-light="false" style="background:#111;{JP_DARK}"', 'light'),
    'vscode dark': (f'class="vscode-dark" style="background:#1e1e1e;{VS_DARK}"', 'light'),
    'vscode light, system dark': (f'class="vscode-light" style="{VS_LIGHT}"', 'dark'),
    'a page, system light': ('', 'light'), 'a page, system dark': ('', 'dark')}

MEASURE = '''
function rgb(text) { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; }
function over(top, under) { return [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])); }
function light(c) { const [r, g, b] = c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
                    return .2126 * r + .7152 * g + .0722 * b; }
function ground(e) { const all = []; for (; e; e = e.parentElement) all.push(rgb(getComputedStyle(e).backgroundColor));
                     return all.reverse().reduce((under, c) => over(c, under), [255, 255, 255]); }
function contrast(e) { const svg = e instanceof SVGElement, s = getComputedStyle(e), under = ground(e);
  const [a, b] = [light(over(rgb(svg ? s.fill : s.color), under)), light(under)];
  return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); }
function seen(e) { return e.getClientRects().length > 0; }
function texts() { return [...document.querySelectorAll('.pf-rich *')].filter(e => seen(e)
  && !e.closest('.pf-number, .pf-letter') && !['title', 'STYLE'].includes(e.tagName)
  && [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())); }
'''


def rendered(body: str, measure: str, tmp_path: Path, *, attributes: str = '', system: str = 'light',
             width: int = 1200) -> Any:
    """What a script in the page says, as JSON."""
    page = tmp_path / 'page.html'
    page.write_text(f'<!doctype html><html><head><meta charset="utf-8">{LAB}</head><body {attributes}>'
                    f'<div class="jp-RenderedHTMLCommon">{body}</div><script>{MEASURE}\n'
                    f'const said = (() => {{ {measure} }})();'
                    'const out = document.createElement("pre"); out.id = "said"; out.textContent = JSON.stringify(said);'
                    'document.body.append(out);</script></body></html>', encoding='utf-8')
    scheme = 0 if system == 'dark' else 1
    done = subprocess.run(
        [str(BROWSER), '--headless', '--no-sandbox', '--disable-gpu', f'--user-data-dir={tmp_path / "profile"}',
         f'--window-size={width},1000', f'--blink-settings=preferredColorScheme={scheme}', '--dump-dom', page.as_uri()],
        capture_output=True, text=True, timeout=90, check=True)
    match = re.search('<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match is not None, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(html_module.unescape(match[1]))


def displays() -> str:
    """One of each kind of display."""
    one, nan = (gradient_of(name, tensor(name, np.array([value]))) for name, value in (('a:0', 1.0), ('w:0', np.nan)))
    steps = tuple(TapeNode(number, f'{number}_grad[0]', f'n{number}', 'Mul', '', '', (one,)) for number in ('5', '6'))
    tape = Tape(3, 1, 'Session.run', steps, (TapeEdge('5', '6', 0, one), TapeEdge('6', '', 0, nan)), ('5',),
                checks=(EdgeMark('5', 0, 'OK', 2e-9),))
    wide = np.sin(np.arange(400.0)).reshape(10, 40)
    wide[3, 4] = np.nan
    lines = ('report', 'calls', 'lt', 'health', 'call 5', 'lp')
    bundles = [answer_bundle(execute(line, Context(sample()))) for line in lines]
    bundles += [one._repr_mimebundle_() for one in (tape, tensor('m:0', wide), tensor('c:0', wide.reshape(-1)))]
    return ''.join(bundle['text/html'] for bundle in bundles)


@pytest.mark.parametrize('notebook', NOTEBOOKS)
def test_everything_can_be_read_in_light_and_dark(notebook, tmp_path):
    attributes, system = NOTEBOOKS[notebook]
    said = rendered(displays(), '''
        const classes = e => e.className.baseVal ?? e.className;
        return {texts: texts().map(e => [contrast(e), e.textContent.slice(0, 40), classes(e)]),
                ground: ground(document.querySelector(".pf-rich"))}''', tmp_path, attributes=attributes, system=system)
    assert len(said['texts']) > 300
    assert [one for one in said['texts'] if one[0] < 4.5] == []
    dark = 'dark' in notebook.split(',')[0] or notebook == 'a page, system dark'
    assert (max(said['ground']) < 60) == dark
    assert (min(said['ground']) > 240) != dark


def test_the_text_is_seen_only_where_the_rules_are_gone(tmp_path):
    body = answer_bundle(execute('calls', Context(sample())))['text/html']
    measure = 'return [".pf-plain", ".pf-rich"].map(name => seen(document.querySelector(name)))'
    assert rendered(body, measure, tmp_path) == [False, True]
    bare = re.sub('<style>.*?</style>', '', body, flags=re.DOTALL)
    assert rendered(bare, measure, tmp_path) == [True, False]


def test_a_click_shows_another_page_of_that_list_only(tmp_path):
    calls = [replace(sample().call(1), number=str(i)) for i in range(1, 61)]
    body = answer_bundle(execute('calls -n 100', Context(trace_of(calls, []))))['text/html']
    said = rendered(body * 2, '''
        const rows = list => [...list.querySelectorAll("tbody tr")].filter(seen).map(r => r.cells[0].textContent);
        const lists = [...document.querySelectorAll(".pyfuncdbg")], before = lists.map(rows);
        lists[1].querySelectorAll("label")[2].click();
        return [before, lists.map(rows)]''', tmp_path)
    first, last = [f'#{i}' for i in range(1, 26)], [f'#{i}' for i in range(51, 61)]
    assert said == [[first, first], [first, last]]


def test_a_narrow_page_does_not_scroll_sideways_as_a_whole(tmp_path):
    said = rendered(displays(), 'return [document.documentElement.scrollWidth, innerWidth]', tmp_path, width=500)
    assert said[0] <= said[1] == 500


def test_tables_look_as_ours_where_the_notebook_has_rules_for_tables(tmp_path):
    body = answer_bundle(execute('calls', Context(sample())))['text/html']
    said = rendered(body, '''
        const rows = [...document.querySelectorAll(".pf-t tbody tr")], style = getComputedStyle, cells = rows[0].cells;
        return [rows.map(r => style(r).backgroundColor), style(cells[2]).textAlign, style(cells[0]).textAlign,
                style(rows[0].cells[2]).fontFamily == style(document.querySelector(".pyfuncdbg")).fontFamily]''', tmp_path,
                    attributes=f'data-jp-theme-light="false" style="{JP_DARK}"')
    assert said == [['rgba(0, 0, 0, 0)'] * 5, 'left', 'right', True]


@pytest.mark.parametrize(('width', 'columns'), [
    (1000, 'time ms, name, call, shape, min, hist, max, mean, flags'),
    (1400, 'time ms, name, call, kind, dtype, shape, bytes, min, hist, max, mean, std, flags')])
def test_flags_are_seen_however_wide_the_output_is(width, columns, tmp_path):
    body = f'<div style="width:{width}px">{answer_bundle(execute("lt", Context(sample())))["text/html"]}</div>'
    said = rendered(body, """
        const heads = [...document.querySelectorAll("th")].filter(seen);
        return [heads.map(e => e.textContent.replace(/ [v^]$/, "")), heads.at(-1).getBoundingClientRect().right]""",
                    tmp_path, width=1600)
    assert ', '.join(said[0]) == columns
    assert said[1] <= width + 20
