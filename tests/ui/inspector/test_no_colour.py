"""NO_COLOR: every text of the inspector is still told from its ground."""
from __future__ import annotations

import pytest
from inspecting import drive, opened
from textual.color import Color


@pytest.mark.parametrize('theme', ['textual-dark', 'textual-light'])
def test_text_is_readable_without_colours(trace, monkeypatch, theme) -> None:
    monkeypatch.setenv('NO_COLOR', '1')

    async def test() -> None:
        async with opened(trace, (160, 50)) as pilot:
            pilot.app.theme = theme
            await pilot.pause(0.3)
            seen = ''
            for line in pilot.app.screen._compositor.render_strips():
                for text, style, _ in line.apply_filter(pilot.app._filters[0], Color(0, 0, 0)).apply_filter(
                        pilot.app._filters[1], Color(0, 0, 0)).apply_filter(pilot.app._filters[2], Color(0, 0, 0)):
                    if text.strip(' ─│╭╮╰╯▁▂▃▄▅▆▇█') and style and style.color and style.bgcolor:
                        ink, ground = (Color.from_rich_color(color) for color in (style.color, style.bgcolor))
                        assert ink.r == ink.g == ink.b and ground.r == ground.g == ground.b
                        assert abs(ink.brightness - ground.brightness) > 0.3, text
                        seen += text
            assert 'NaN 4' in seen and '> 11' in seen
    drive(test)
