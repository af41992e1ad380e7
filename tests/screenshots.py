"""The pictures in README: of the inspector, exported by the app from a recording of the demo, and of a stop in the demo.

    python tests/screenshots.py

Records `pyfuncdbg demo` in a temporary folder, opens it, presses the keys a user would, and writes `.pictures/*.svg`.
"""
from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from inspecting import ROOT, inspector, opened, press, settled, type_line

PICTURES = ROOT / '.pictures'
STILL = 5


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: its size in cells, and the keys and command lines (with a colon) that lead there."""

    name: str
    size: tuple[int, int]
    keys: tuple[str, ...] = ()


WANTED = (Picture('panes', (140, 44)), Picture('tensors', (130, 24), (':lt --run 29 --sort flags',)),
          Picture('calls', (110, 24), ('6', ':calls --bad --sort duration')))


async def exported(picture: Picture, trace: Path) -> str:
    """The picture, when the screen is still."""
    async with opened(trace, picture.size) as pilot:
        for key in picture.keys:
            await (type_line(pilot, key[1:]) if key.startswith(':') else press(pilot, key))
        seen: list[str] = []
        while len(seen) < STILL or len(set(seen[-STILL:])) > 1:
            await asyncio.sleep(0.2)
            await settled(pilot)
            seen.append(inspector(pilot).export_screenshot(title='pyfuncdbg open demo.pfd'))
    return re.sub(r'terminal-\d+', f'pyfuncdbg-{picture.name}', seen[-1])


def stop_picture(folder: Path) -> str:
    """A stop in the demo's loss, as the prompt writes it."""
    for name in ('train.py', 'digits.csv.gz'):
        shutil.copyfile(ROOT / 'pyfuncdbg' / 'demo' / name, folder / name)
    script = folder / 'train.py'
    line = next(number for number, text in enumerate(script.read_text(encoding='utf-8').splitlines(), 1)
                if text.endswith('return (pixels - mean) / std'))
    subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '--break', f'train.py:{line}', '--if', 'std.min() == 0',
                    'train.py'], cwd=folder, env=dict(os.environ, PYTHONPATH=str(ROOT)), check=False, timeout=100,
                   input='stop >> stop.svg\nabort\n', text=True, capture_output=True)
    picture = (folder / 'stop.svg').read_text(encoding='utf-8')
    return re.sub(r'terminal-\d+', 'pyfuncdbg-stop', picture)


def main() -> None:
    """Make them all."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'demo'], env=dict(os.environ, PYTHONPATH=str(ROOT)), check=False,
                       stdin=subprocess.DEVNULL, capture_output=True)
        for picture in WANTED:
            path = PICTURES / f'{picture.name}.svg'
            path.write_text(asyncio.run(exported(picture, Path('demo.pfd'))), encoding='utf-8')
            print(path.relative_to(ROOT))
        (PICTURES / 'stop.svg').write_text(stop_picture(Path(place)), encoding='utf-8')
        os.chdir(ROOT)


if __name__ == '__main__':
    main()
