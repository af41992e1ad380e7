"""The exported page, in a real browser: hostile names are text, the search finds calls, nothing is asked of the network."""
from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parsed_html import parsed
from written_trace import tensor, trace_of

from pyfuncdbg.observers.record.records import CallRecord, ErrorRecord, OutputRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.exports import html_page
from pyfuncdbg.ui.views.sample_trace import sample

BROWSER = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason='needs Chromium')
HOSTILE = ('<script>window.owned = 1</script>', '<img src=x onerror="window.owned = 2">', "'\"><svg onload=window.owned=3>",
           '</script></summary></details><script>window.owned = 4</script>', '&lt;b&gt; <!-- ')


def export(trace: Trace, path: Path, call: str = '') -> str:
    execute(f'export html {call} -o {path}', Context(trace))
    return path.read_text(encoding='utf-8')


def asked(page: str, folder: Path, script: str, *, policy: bool = False) -> Any:
    """What a script says in the page, as JSON; without the page's policy, which would not let it run."""
    path = folder / 'asked.html'
    text = page if policy else re.sub('<meta http-equiv=.*\n', '', page)
    said = f'<script>const out = document.createElement("pre"); out.id = "said"; out.textContent = JSON.stringify((() => ' \
           f'{{ {script} }})()); document.body.append(out);</script>'
    path.write_text(text.replace('</body>', said + '</body>'), encoding='utf-8')
    done = subprocess.run([str(BROWSER), '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                           f'--user-data-dir={folder / "profile"}', '--dump-dom', path.as_uri()],
                          capture_output=True, text=True, timeout=100, check=True)
    match = re.search('<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    return done.stdout if match is None else json.loads(html.unescape(match[1]))


@pytest.fixture(scope='module')
def hostile() -> Trace:
    """Calls whose names, files, output and errors are markup."""
    calls: list[CallRecord] = []
    for i, text in enumerate(HOSTILE):
        base = sample().call(3)
        site = replace(base.site, id=i + 1, name=text, op_type=text, function=text, filename=f'/{text}.py', source=text)
        error = ErrorRecord(text, text, (), text)
        calls.append(replace(
            base, number=str(i + 1), ordinal=0, site=site, started=i / 10, error=error if i % 2 else None,
            inputs=(tensor(text, np.arange(48.0).reshape(6, 8)),),
            outputs=() if i % 2 else (tensor(text, np.full(40, np.nan)),),
            output=(OutputRecord('out', text, filename=text), OutputRecord('warning', text, text, text, 3, text))))
    return trace_of(calls, [])


@needs_browser
def test_names_of_a_trace_are_text_in_a_browser(hostile: Trace, tmp_path: Path) -> None:
    page = export(hostile, tmp_path / 'page.html')
    said = asked(page, tmp_path, '''
        const tags = [...document.querySelectorAll("script, img, iframe, link, object")].map(e => e.tagName);
        const handlers = [...document.querySelectorAll("*")].filter(
          e => [...e.attributes].some(a => a.name.startsWith("on")));
        return {owned: window.owned ?? 0, tags, handlers: handlers.length, text: document.body.textContent,
                calls: document.querySelectorAll("details.call").length}''')
    assert (said['owned'], said['tags'], said['handlers'], said['calls']) == (0, ['SCRIPT'] * 2, 0, 5)     # ours, the test's
    for text in HOSTILE[:4]:
        assert text in said['text']


@needs_browser
def test_the_policy_lets_its_own_script_run_and_no_other(hostile: Trace, tmp_path: Path) -> None:
    page = export(hostile, tmp_path / 'page.html')
    dom = asked(page.replace('</h1>', '</h1><script>document.title = "owned"</script>'), tmp_path, 'return 1', policy=True)
    assert '5 of 5 calls' in dom and '<title>owned' not in dom and 'id="said"' not in dom.partition('<pre id')[0][-20:]


@needs_browser
def test_the_search_finds_calls_by_what_is_in_their_cards(tmp_path: Path) -> None:
    page = export(sample(), tmp_path / 'page.html')
    said = asked(page, tmp_path, '''
        const seen = [], box = document.getElementById("search");
        for (const text of ["", "NORMALIZE", "row constant", "attributeerror", "scale nan", "nowhere"]) {
          box.value = text; box.dispatchEvent(new Event("input"));
          seen.push([...document.querySelectorAll("details.call")].filter(e => e.getClientRects().length).map(e => e.id));
        }
        location.hash = "#call-4"; dispatchEvent(new HashChangeEvent("hashchange"));
        return [seen, document.getElementById("found").textContent, document.getElementById("call-4").open]''')
    numbers = [[int(name.removeprefix('call-')) for name in names] for names in said[0]]
    assert numbers == [[1, 2, 3, 4, 5], [1, 3, 5], [3], [5], [4], []]
    assert said[1:] == ['0 of 5 calls', True]


def test_a_page_asks_nothing_of_the_network(tmp_path: Path) -> None:
    page = export(sample(), tmp_path / 'page.html')
    assert not re.findall(r'(?:src|href|srcset|action)\s*=|@import|url\(|https?:', page.replace('http-equiv', ''))
    document = parsed(page[page.index('<body'):].replace('</html>', ''))
    assert [heading.text for heading in document.all('h2')] == ['Report', 'NaN and infinity', 'Timeline', 'Program', 'Calls']
    assert page.count('class="pf-map"') == 0 and 'NaN born in call #3' in page


def test_a_page_of_some_calls_and_of_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = export(sample(), tmp_path / 'one.html', '3')
    assert re.findall('id="(call-.*?)"', page) == ['call-3'] and '<h2>Report' not in page
    monkeypatch.setattr(html_page, 'CALLS', 3)
    answer = execute(f'export html -o {tmp_path}/few.html', Context(sample()))
    assert (answer.result.calls, answer.result.skipped) == (3, 2)
    page = (tmp_path / 'few.html').read_text()
    assert re.findall('id="(call-.*?)"', page) == ['call-3', 'call-4', 'call-5'] and '2 calls of this trace not on' in page


def test_pictures_have_a_limit_that_is_said(hostile: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = export(hostile, tmp_path / 'all.html')
    assert page.count('<summary>picture of ') == 8
    monkeypatch.setattr(html_page, '_PICTURES', 1)
    answer = execute(f'export html -o {tmp_path}/few.html', Context(hostile))
    assert answer.result.remarks == ('4 calls without pictures: a page has room for 0 MB of them',)
    assert (tmp_path / 'few.html').read_text().count('<summary>picture of ') == 2
