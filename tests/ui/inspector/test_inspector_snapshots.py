"""The inspector's screens are the pictures that are kept of them."""
from __future__ import annotations

import asyncio

import pytest
from snapshots import FOLDER, SCREENS, VERSIONS, Screen, drawn, text_of, versions, workplace


@pytest.mark.parametrize('screen', SCREENS, ids=lambda screen: screen.name)
def test_the_screen_is_the_one_that_was_kept(screen: Screen, tmp_path) -> None:
    with workplace() as trace:
        now = asyncio.run(drawn(screen, trace))
    kept = (FOLDER / f'{screen.name}.svg').read_text(encoding='utf-8')
    changed = tmp_path / f'{screen.name}.svg'
    changed.write_text(now, encoding='utf-8')
    told = f'{changed} is the screen now; if that is right: python tests/ui/inspector/snapshots.py'
    assert text_of(now) == text_of(kept), told
    if VERSIONS.read_text(encoding='utf-8') == versions():
        assert now == kept, 'the colours differ: ' + told


def test_the_text_of_a_picture_is_what_was_drawn() -> None:
    kept = (FOLDER / 'mistake.svg').read_text(encoding='utf-8')
    assert any("'colour' is not a sort key" in line for line in text_of(kept))
    assert text_of('<text class="a" x="12.2" y="20" b="1">a&#160;&lt;b</text><text x="73.2" y="20">c</text>'
                   '<text x="0" y="44.4">d</text>') == [' a <b c', 'd']
