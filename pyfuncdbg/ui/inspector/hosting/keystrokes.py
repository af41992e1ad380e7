"""Encoding of keys: from Textual's names to the bytes that a terminal sends. Pure."""
from __future__ import annotations

_PLAIN = {'enter': b'\r', 'tab': b'\t', 'backspace': b'\x7f', 'escape': b'\x1b', 'shift+tab': b'\x1b[Z', 'space': b' ',
          'ctrl+at': b'\0', 'ctrl+space': b'\0', 'ctrl+backslash': b'\x1c', 'ctrl+right_square_bracket': b'\x1d',
          'ctrl+circumflex_accent': b'\x1e', 'ctrl+underscore': b'\x1f', 'ctrl+backspace': b'\x08', 'ctrl+j': b'\n'}
_ARROWS = {'up': 'A', 'down': 'B', 'right': 'C', 'left': 'D', 'home': 'H', 'end': 'F'}
_NUMBERED = {'insert': 2, 'delete': 3, 'pageup': 5, 'pagedown': 6, 'f5': 15, 'f6': 17, 'f7': 18, 'f8': 19, 'f9': 20,
             'f10': 21, 'f11': 23, 'f12': 24}
_FIRST = {'f1': 'P', 'f2': 'Q', 'f3': 'R', 'f4': 'S'}
_MODIFIERS = {'shift': 1, 'alt': 2, 'ctrl': 4}


def encode_key(key: str, character: str | None, *, application: bool = False) -> bytes:
    """The bytes of a key; none for one that terminals know nothing of.

    Args:
        key: Its name, such as 'ctrl+c', 'shift+up' or 'a'.
        character: What it types, if anything.
        application: The program wants arrow keys in that form.
    """
    if key in _PLAIN:
        return _PLAIN[key]
    *modifiers, name = key.split('+')
    number = 1 + sum(_MODIFIERS.get(modifier, 0) for modifier in modifiers)
    if name in _ARROWS:
        return f'\x1b[1;{number}{_ARROWS[name]}'.encode() if number > 1 else (
            f'\x1b{"O" if application else "["}{_ARROWS[name]}'.encode())
    if name in _FIRST:
        return f'\x1b[1;{number}{_FIRST[name]}'.encode() if number > 1 else f'\x1bO{_FIRST[name]}'.encode()
    if name in _NUMBERED:
        return f'\x1b[{_NUMBERED[name]}{f";{number}" if number > 1 else ""}~'.encode()
    if modifiers == ['ctrl'] and len(name) == 1 and 'a' <= name <= 'z':
        return bytes([ord(name) & 0x1f])
    if modifiers[:1] == ['alt']:
        rest = encode_key('+'.join((*modifiers[1:], name)), character, application=application)
        return b'\x1b' + rest if rest else b''
    if character and character.isprintable():
        return character.encode()
    return name.encode() if len(name) == 1 else b''


def encode_paste(text: str, *, brackets: bool) -> bytes:
    """The bytes of pasted text: lines ended as by Enter, control characters left out."""
    kept = ''.join(char for char in text.replace('\r\n', '\r').replace('\n', '\r') if char.isprintable() or char in '\r\t')
    return b'\x1b[200~' + kept.encode() + b'\x1b[201~' if brackets else kept.encode()
