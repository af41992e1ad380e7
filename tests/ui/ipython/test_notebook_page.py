"""A notebook as a page in a browser: run, made HTML by nbconvert, and looked at in headless Chromium.

The pages and their pictures stay in `.artefacts/`, for people to look at.
"""
from __future__ import annotations

import re
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any

import notebook_maker as maker
import pytest
from nbconvert import HTMLExporter

ARTEFACTS = maker.ROOT / '.artefacts'
NAME = '04-gradients'
SIZE = (1200, 3800)


def chromium() -> str:
    """The browser; tests that look at pages need one."""
    found = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
    if not found:
        pytest.skip('Chromium is not installed: apt-get install chromium; .ci/run does so')
    return found


@pytest.fixture(scope='module')
def book() -> Any:
    """The notebook, with its HTML."""
    chromium()
    return maker.run(maker.read(NAME), pages=True)


def exported(book: Any, theme: str) -> Path:
    """A page in a theme, which asks nothing of the network."""
    ARTEFACTS.mkdir(exist_ok=True)
    page, _ = HTMLExporter(theme=theme, require_js_url='', mathjax_url='', jquery_url='').from_notebook_node(book)
    path = ARTEFACTS / f'{NAME}-{theme}.html'
    path.write_text(page, encoding='utf-8')
    return path


def browse(page: Path, profile: Path, *options: str) -> str:
    """What Chromium prints about a page."""
    command = [chromium(), '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-dev-shm-usage',
               f'--user-data-dir={profile}', f'--window-size={SIZE[0]},{SIZE[1]}', *options, page.as_uri()]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=100).stdout


def shades(picture: Path) -> int:
    """How many different lines a PNG has: of a blank page, two or three."""
    data, at, packed = picture.read_bytes(), 8, b''
    while at < len(data):
        length, kind = int.from_bytes(data[at:at + 4], 'big'), data[at + 4:at + 8]
        if kind == b'IHDR':
            width, height, depth, colour = (int.from_bytes(data[at + 8:at + 12], 'big'),
                                            int.from_bytes(data[at + 12:at + 16], 'big'), data[at + 16], data[at + 17])
            assert ((width, height), depth) == (SIZE, 8)
        elif kind == b'IDAT':
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    step = 1 + width * {2: 3, 6: 4}[colour]
    lines = zlib.decompress(packed)
    return len({lines[start:start + step] for start in range(0, len(lines), step)})


@pytest.mark.timeout(240)
@pytest.mark.parametrize('theme', ['light', 'dark'])
def test_a_page_in_a_browser(theme: str, book: Any, tmp_path: Path) -> None:
    page = exported(book, theme)
    dom = browse(page, tmp_path, '--dump-dom')
    shown = dom.partition('<body')[2]
    assert f'data-jp-theme-light="{"true" if theme == "light" else "false"}"' in shown[:200]
    assert 'Gradients that lie' in shown
    assert shown.count('class="pyfuncdbg') >= 6
    assert 'BORN' in shown and re.search(r'\bBAD\b', shown)
    drawings = re.findall(r'<svg.*?</svg>', shown, re.DOTALL)
    tape = next(drawing for drawing in drawings if 'distance' in drawing)
    assert 'NaN' in tape
    assert '<title>' in tape                        # the values, on hover
    assert 'Traceback' not in shown
    picture = page.with_suffix('.png')
    browse(page, tmp_path, f'--screenshot={picture}')
    assert shades(picture) > 300
