"""HTML and SVG elements: the only place where text becomes markup, so that text of a program is always escaped.

Pure; called by every other module of this folder.
"""
from __future__ import annotations

import html

_VOID = frozenset(('input', 'br'))


class Html(str):
    """Markup, as opposed to text: it goes into an element as it is."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str | float | bool | None) -> Html:
    """'<td class="pf-r">1.5</td>'.

    Args:
        name: Of the element.
        *children: Markup, or text, which is escaped.
        **attributes: By name, '_' for '-' and a '_' at the end left out; one that is None or False is left out.
    """
    attribute_text = ''.join(_attribute(key, value) for key, value in attributes.items() if value is not None
                             and value is not False)
    if name in _VOID:
        return Html(f'<{name}{attribute_text}>')
    return Html(f'<{name}{attribute_text}>{joined(*children)}</{name}>')


def joined(*children: str) -> Html:
    """Markup and texts behind one another."""
    return Html(''.join(child if isinstance(child, Html) else html.escape(child) for child in children))


def _attribute(key: str, value: str | float | bool) -> str:
    name = key.rstrip('_').replace('_', '-')
    if value is True:
        return f' {name}'
    text = value if isinstance(value, str) else f'{value:g}'
    return f' {name}="{html.escape(text)}"'
