"""CONTRIBUTING names files that are there, and no term twice."""
from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / 'CONTRIBUTING.md').read_text(encoding='utf-8')
PACKAGE = ROOT / 'pyfuncdbg'


def section(title: str) -> str:
    return TEXT.partition(f'## {title}\n')[2].partition('\n## ')[0]


def test_the_ways_lead_through_files_that_are_there() -> None:
    ways = section('Five ways in')
    assert len(re.findall(r'^\*\*', ways, re.MULTILINE)) == 5
    files = re.findall(r'`([\w/]+/[\w.]*|\w+\.py)`', ways)
    assert len(files) > 25 and [name for name in files if not (PACKAGE / name).exists()] == []


def test_the_glossary_has_each_term_once_with_the_file_that_says_more() -> None:
    rows = re.findall(r'^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$', section('Glossary'), re.MULTILINE)
    terms = [term for term, _ in rows]
    assert len(rows) >= 60 and terms == sorted(set(terms), key=str.lower)
    assert [name for _, name in rows if not (PACKAGE / name).exists()] == []


def test_the_tree_it_draws_is_the_package() -> None:
    drawn = section('The picture').partition('\npyfuncdbg/\n')[2].partition('\n\n')[0]
    for path in PACKAGE.iterdir():
        if path.name not in ('__pycache__', '__init__.py', '__main__.py', 'py.typed'):
            assert re.search(rf'\b{re.escape(path.name)}\b', drawn), path.name
