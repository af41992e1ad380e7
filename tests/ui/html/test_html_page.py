"""Views as HTML: the same words as in a terminal, tables as tables, and no element but ours whatever a program is called."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from parsed_html import Element, parsed, table_rows
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from written_trace import tensor, trace_of

from pyfuncdbg.observers.record.records import ErrorRecord, OutputRecord, RunRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.html.element import Html, element
from pyfuncdbg.ui.html.page import WIDTH, page_html
from pyfuncdbg.ui.html.pages import MOST, ROWS
from pyfuncdbg.ui.ipython.displays import answer_bundle, bundle
from pyfuncdbg.ui.views.sample_trace import sample

OURS = {'', 'div', 'span', 'pre', 'style', 'table', 'thead', 'tbody', 'tr', 'td', 'th', 'form', 'label', 'input', 'section',
        'details', 'summary', 'svg', 'g', 'rect', 'path', 'circle', 'text', 'title'}
ATTRIBUTES = {'class', 'style', 'hidden', 'scope', 'open', 'type', 'name', 'checked', 'aria-label', 'aria-hidden', 'method',
              'role', 'title', 'width', 'height', 'viewbox', 'x', 'y', 'd', 'fill', 'rx', 'r', 'cx', 'cy', 'stroke-width'}


def rich_part(html: str) -> Element:
    return parsed(html).one('div', 'pf-rich')


def words(text: str) -> list[str]:
    """Without what pictures are made of."""
    return re.findall(r'\w[\w.#]*', text)


@pytest.mark.parametrize('line', ['report', 'calls', 'call 3', 'health', 'info', 'lp', 'out 3', 'help', 'ls'])
def test_a_display_says_what_the_terminal_says(line):
    answer = execute(line, Context(sample()))
    html = answer_bundle(answer)['text/html']
    said = words(' '.join(rich_part(html).pieces))
    assert [word for word in words(answer.text(WIDTH)) if word not in said] == []


def test_a_list_is_a_table_with_its_headers_and_cells():
    html = answer_bundle(execute('calls', Context(sample())))['text/html']
    header, *rows = table_rows(rich_part(html).one('table', 'pf-t'))
    assert header == ['number', 'time ms v', 'site', 'run', 'function', 'inputs', 'outputs', 'duration', 'result']
    assert [row[0] for row in rows] == ['#1', '#2', '#3', '#4', '#5']
    assert rows[2] == ['#3', '20.00', 'norm[1]', '2', 'normalize  model.py:39', 'float32[3,4]', 'float32[3,4]', '210 us',
                       'NaN 4  1 print']


def test_the_style_of_a_text_becomes_a_class():
    tree = parsed(page_html(Text('NaN 4', 'bold red')))
    assert tree.one('span').classes == ['pf-b', 'pf-red']
    cell = Table('a')
    cell.add_row(Text('ok', 'green'))
    assert parsed(page_html(cell)).one('td').one('span').classes == ['pf-green']


def test_columns_of_elements_are_where_no_converter_closes_their_gaps():
    html = answer_bundle(execute('pt #3:0', Context(sample())))['text/html']
    lines = next(pre.text for pre in rich_part(html).all('pre') if '[1, 0]' in pre.text).split('\n')
    assert [re.split(' {2,}', line) for line in lines][1] == ['[1, 0]', 'nan', 'nan', 'nan', 'nan']
    assert len({len(line) for line in lines}) == 1


def test_a_string_in_a_table_or_a_title_is_no_markup_of_rich():
    table = Table('[red]a[/]')
    table.add_row('[bold]x[/]')
    assert table_rows(parsed(page_html(table))) == [['[red]a[/]'], ['[bold]x[/]']]
    assert parsed(page_html(Panel(Text('b'), title=Text('[i]t[/]')))).one('div', 'pf-title').text == '[i]t[/]'


def test_a_long_list_is_on_pages_each_row_once():
    calls = [replace(sample().call(1), number=str(i)) for i in range(1, 3 * ROWS)]
    html = answer_bundle(execute('calls -n 1000', Context(trace_of(calls, []))))['text/html']
    form = rich_part(html).one('form')
    assert form.attributes['method'] == 'dialog'
    assert [label.text for label in form.all('label')] == [f'1–{ROWS}', f'{ROWS + 1}–{2 * ROWS}',
                                                           f'{2 * ROWS + 1}–{len(calls)}']
    assert ['checked' in label.one('input').attributes for label in form.all('label')] == [True, False, False]
    numbers = [row[0] for section in form.all('section') for row in table_rows(section)[1:]]
    assert numbers == [f'#{i}' for i in range(1, len(calls) + 1)]
    assert all(table_rows(section)[0][0] == 'number' for section in form.all('section'))


def test_a_million_calls_make_no_large_output():
    calls = [sample().call(3)] * 1_000_000
    answer = execute('calls', Context(sample()))
    found = answer_bundle(replace(answer, result=replace(answer.result, calls=calls, total=len(calls))))
    assert len(found['text/html']) < 2_000_000
    assert len(found['text/plain']) < 50_000
    tree = rich_part(found['text/html'])
    assert len(tree.all('tr')) == MOST + MOST // ROWS
    assert tree.text.startswith(f'1,000,000 calls, {MOST:,} shown')
    assert found['text/plain'].endswith('further lines')


def test_where_rules_are_taken_out_the_text_is_there_and_the_display_is_not():
    html = answer_bundle(execute('calls', Context(sample())))['text/html']
    root = parsed(html).one('div', 'pyfuncdbg')
    style, plain, rich = (child for child in root.children if isinstance(child, Element))
    assert (style.name, plain.name) == ('style', 'pre')
    assert plain.text == execute('calls', Context(sample())).text().rstrip('\n')
    assert 'hidden' not in plain.attributes
    assert 'hidden' in rich.attributes
    assert 'style' not in rich.attributes                       # only a rule uncovers it
    assert '.pyfuncdbg>.pf-plain{display:none}' in style.text
    assert '.pyfuncdbg>.pf-rich[hidden]{display:block!important' in style.text


def test_text_is_escaped_and_markup_is_not():
    assert element('td', '<b>&"\'', element('i', 'x'), title='"><b>') == (
        '<td title="&quot;&gt;&lt;b&gt;">&lt;b&gt;&amp;&quot;&#x27;<i>x</i></td>')
    assert element('input', checked=True, hidden=False, aria_label='a') == '<input checked aria-label="a">'
    assert isinstance(element('b'), Html)


NASTY = st.one_of(st.sampled_from(['<script>alert(1)</script>', '</pre><img src=x onerror=alert(1)>', '</style><b>', ']]>',
                                   '<!-- ', '&lt;script&gt;', '"onload="x', '\x1b[31m', '</title><script>',
                                   '<svg/onload=x>']),
                  st.text(max_size=30))


def hostile(text: str) -> Trace:
    """Calls in which everything that a program can name is this text."""
    def call(number: int):
        one = sample().call(number)
        outputs = tuple(replace(output, name=text, dtype=text, note=text) for output in one.outputs)
        site = replace(one.site, name=text, op_type=text, function=text, filename=text, source=text, inputs=(text,))
        said = (OutputRecord('out', text), OutputRecord('warning', text, text, text, 3))
        error = ErrorRecord(text, text, (), text) if number == 5 else None
        return replace(one, site=site, outputs=outputs, inputs=tuple(replace(i, name=text) for i in one.inputs), output=said,
                       error=error, element=text, dropped={text: 1})
    runs = [RunRecord(1, 1, text, text, 0.0, 1.0, (tensor(text, np.ones(3)),), (), ErrorRecord(text, text, (), text), (1,))]
    return trace_of([call(number) for number in (1, 2, 3, 4, 5)], runs, name=text)


@settings(max_examples=40, deadline=None)
@given(NASTY)
def test_no_program_can_write_an_element(text):
    trace = hostile(text)
    lines = ('calls', 'call 3', 'call 5', 'lt', 'report', 'health')
    shown = [answer_bundle(execute(line, Context(trace))) for line in lines]
    shown += [bundle(one) for one in (trace.call(3), trace.call(3).outputs[0], trace.runs()[0])]
    for found in shown:
        tree = parsed(found['text/html'])
        for one in tree.all():
            assert one.name in OURS
            assert set(one.attributes) <= ATTRIBUTES
        assert len(tree.all('style')) == 1
        assert len(tree.all('div', 'pyfuncdbg')) == 1


def test_a_script_in_a_name_is_shown():
    found = answer_bundle(execute('calls', Context(hostile('<script>alert(1)</script>'))))['text/html']
    assert 'raised <script>alert(1)</script>: <script>alert(1)</script>' in rich_part(found).text
