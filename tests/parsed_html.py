"""HTML of the notebook displays read back as a tree, strictly: every element that is opened is closed, in order."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = ('input', 'br')


@dataclass
class Element:
    """An element with its attributes and what is in it."""

    name: str
    attributes: dict[str, str | None]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, as it was before it was escaped."""
        return ''.join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def pieces(self) -> list[str]:
        """The texts in it, one by one."""
        return [text for child in self.children for text in ([child] if isinstance(child, str) else child.pieces)]

    @property
    def classes(self) -> list[str]:
        return (self.attributes.get('class') or '').split()

    def all(self, name: str = '', class_: str = '') -> list[Element]:
        """The elements in it, at any depth, of that name and class."""
        return [one for one in self._walk() if name in ('', one.name) and (not class_ or class_ in one.classes)]

    def one(self, name: str = '', class_: str = '') -> Element:
        """The only such element."""
        (found,) = self.all(name, class_)
        return found

    def _walk(self) -> Iterator[Element]:
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child._walk()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element('', {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), attrs
        made = Element(tag, dict(attrs))
        self.open[-1].children.append(made)
        if tag not in VOID:
            self.open.append(made)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().name == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f'a comment that nobody wrote: {data!r}')

    handle_decl = handle_pi = unknown_decl = handle_comment


def parsed(html: str) -> Element:
    """The tree, under an element without a name."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert len(reader.open) == 1, [one.name for one in reader.open]
    return reader.open[0]


def table_rows(table: Element) -> list[list[str]]:
    """The texts of its cells, by row; the header first if there is one."""
    return [[cell.text for cell in row.children if isinstance(cell, Element)] for row in table.all('tr')]
