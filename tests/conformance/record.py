"""Write down what TensorFlow prints, or where pyfuncdbg prints something else.

    python tests/conformance/record.py [AREA|FILE...]             writes the .txt of programs (needs TensorFlow)
    python tests/conformance/record.py --show [NAME...]           prints the differences that have no reason yet
    python tests/conformance/record.py --differences [NAME...]    writes all differences there, keeping reasons

NAME is a program (`gradient/second_order`), an area (`gradient`) or a probe (`B17`); without any, all.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import differences
from lines import normal
from outputs import IMPORTS, PROGRAMS, Output, probes, program, programs
from worker import Worker

OURS = 'pyfuncdbg.tf'


def record(names: list[str]) -> None:
    worker = Worker('tensorflow')
    for path in sorted(PROGRAMS.glob('*/[!_]*.py')):
        area, own = path.parent.name, f'{path.parent.name}/{path.stem}'
        if names and not {area, own} & {name.removesuffix('.py') for name in names} and \
                path.resolve() not in {Path(name).resolve() for name in names}:
            continue
        one = program(path)
        if not one.code.startswith(IMPORTS):
            raise SystemExit(f'{path} does not begin with `{IMPORTS}`')
        lines = normal(worker.run(one.stem, one.code), one.stem)
        path.with_suffix('.txt').write_text('\n'.join(lines) + '\n')
        print(f'{own}: {len(lines)} lines' + ''.join(f'\n    {line}' for line in lines
                                                     if line.startswith(('UNCAUGHT', 'TIMEOUT', 'PROCESS EXIT'))))
    worker.close()


def chosen(names: list[str]) -> list[Output]:
    everything = [*programs(), *probes()]
    wanted = {name.removesuffix('.py') for name in names}
    found = [one for one in everything if not wanted or {one.name, one.name.split('/')[0]} & wanted]
    if not found:
        raise SystemExit(f'no program or probe is called {" ".join(names)}')
    return [one for one in found if one.recorded is not None]


def compare(names: list[str], *, writing: bool) -> None:
    worker = Worker(OURS)
    lines = matched = 0
    for one in chosen(names):
        assert one.recorded is not None
        found = differences.between(one.recorded, normal(worker.run(one.stem, one.code), one.stem, OURS))
        lines += len(one.recorded)
        matched += len(one.recorded) - sum(len(difference.tensorflow) for difference in found)
        listed = differences.read()      # read anew each time: others may be writing theirs
        found = differences.with_reasons(found, listed.outputs.get(one.name, []))
        if writing:
            listed.outputs.pop(one.name, None)
            if found:
                listed.outputs[one.name] = found
            differences.write(listed)
        known = {known.lines for known in listed.outputs.get(one.name, []) if known.reason != differences.NOT_EXAMINED}
        for difference in found:
            if difference.lines not in known:
                print(f'{one.name}', *(f'  - {line}' for line in difference.tensorflow),
                      *(f'  + {line}' for line in difference.pyfuncdbg), sep='\n')
    worker.close()
    print(f'{matched} of {lines} lines match ({100 * matched / max(lines, 1):.1f}%)')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('names', nargs='*', metavar='NAME')
    parser.add_argument('--differences', action='store_true', help='write the differences of pyfuncdbg, keeping reasons')
    parser.add_argument('--show', action='store_true', help='print the differences that have no reason yet')
    options = parser.parse_args()
    if options.differences or options.show:
        compare(options.names, writing=options.differences)
    else:
        record(options.names)


if __name__ == '__main__':
    main()
