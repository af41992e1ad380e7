"""The style sheet of all displays: light or dark as the notebook is, in its colours and its font.

The rules go with every output, as nothing else is sure to be there when a saved notebook is opened. Where a site that shows
notebooks takes them out, what remains is the text, as in a terminal.
"""
from __future__ import annotations

import re

from pyfuncdbg.ui.html.element import Html, element

_LIGHT = {'red': '#b3261e', 'green': '#1a6e2e', 'yellow': '#7a5200', 'blue': '#0b57b8', 'magenta': '#8a1c8f',
          'cyan': '#0a6472', 'dim': '#59636e', 'line': '#d1d9e0', 'shade': '#f3f5f7', 'fg': '#1f2328', 'bg': '#ffffff'}
_DARK = {'red': '#ff8f87', 'green': '#6fd685', 'yellow': '#e3b341', 'blue': '#82b8ff', 'magenta': '#e6a0ea',
         'cyan': '#6cd2e2', 'dim': '#a0a8b1', 'line': '#444c56', 'shade': '#262b31', 'fg': '#e6edf3', 'bg': '#16191d'}
_OF_THE_NOTEBOOK = {
    'fg': '--jp-content-font-color1, var(--vscode-editor-foreground, {})',
    'bg': '--jp-layout-color0, var(--vscode-editor-background, {})',
    'font': '--jp-code-font-family, var(--vscode-editor-font-family, ui-monospace, Menlo, Consolas, monospace)'}
_SAYS_LIGHT = ('[data-jp-theme-light="true"]', '.vscode-light', '.vscode-high-contrast-light', '[data-theme="light"]',
               '[theme="light"]')
_SAYS_DARK = ('[data-jp-theme-light="false"]', '.vscode-dark', '.vscode-high-contrast:not(.vscode-high-contrast-light)',
              '[data-theme="dark"]', '[theme="dark"]')

_RULES = '''
.pyfuncdbg{color:var(--pf-fg);background:var(--pf-bg);font:13px/1.45 var(--pf-font);max-width:100%;overflow-wrap:anywhere}
.pyfuncdbg>.pf-plain{display:none}
.pyfuncdbg>.pf-rich[hidden]{display:block!important;padding:6px 8px;container:pyfuncdbg/inline-size}
.pyfuncdbg .pf-line{white-space:pre-wrap}
.pyfuncdbg .pf-pad{padding-left:2ch}
.pyfuncdbg .pf-scroll,.pyfuncdbg .pf-wide{overflow:auto;max-width:100%}
.pyfuncdbg .pf-tall{max-height:760px}
.pyfuncdbg pre.pf-pre{color:inherit;background:none;margin:0;padding:0;border:0;font:inherit;white-space:pre;overflow:auto;
overflow-wrap:normal}
.pyfuncdbg .pf-panel{border:1px solid var(--pf-red);border-radius:4px;padding:4px 10px 6px;margin:4px 0}
.pyfuncdbg .pf-b{font-weight:700}.pyfuncdbg .pf-i{font-style:italic}.pyfuncdbg .pf-u{text-decoration:underline}
.pyfuncdbg .pf-d{color:var(--pf-dim)}.pyfuncdbg .pf-v{outline:1px solid currentColor}
.pyfuncdbg .pf-red{color:var(--pf-red)}.pyfuncdbg .pf-green{color:var(--pf-green)}
.pyfuncdbg .pf-yellow{color:var(--pf-yellow)}.pyfuncdbg .pf-blue{color:var(--pf-blue)}
.pyfuncdbg .pf-magenta{color:var(--pf-magenta)}.pyfuncdbg .pf-cyan{color:var(--pf-cyan)}
.pyfuncdbg table.pf-t,.pyfuncdbg table.pf-g{color:inherit;border:0;border-collapse:collapse;margin:2px 0;width:auto;
display:block;overflow-x:auto;max-width:100%;font:inherit;table-layout:auto}
.pyfuncdbg table.pf-t :is(thead,tbody,tr),.pyfuncdbg table.pf-g :is(tbody,tr){background:none!important;border:0}
.pyfuncdbg table.pf-t :is(td,th),.pyfuncdbg table.pf-g td{color:inherit;background:none;border:0;padding:1px 14px 1px 0;
text-align:left;vertical-align:top;white-space:pre;overflow-wrap:normal;font:inherit;max-width:none;min-width:0}
.pyfuncdbg table.pf-t th{font-weight:600;color:var(--pf-dim);white-space:nowrap}
.pyfuncdbg table.pf-t thead tr{border-bottom:1px solid var(--pf-line)}
.pyfuncdbg table.pf-t tbody tr:hover{background:var(--pf-shade)!important}
.pyfuncdbg table :is(td,th).pf-r{text-align:right}
.pyfuncdbg table td.pf-f{white-space:pre-wrap;overflow-wrap:anywhere;min-width:24ch}
.pyfuncdbg table :is(td,th).pf-d{color:var(--pf-dim)}
@container pyfuncdbg (max-width:1250px){.pyfuncdbg table :is(td,th).pf-low{display:none}}
.pyfuncdbg form.pf-pages{display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline;margin:2px 0}
.pyfuncdbg .pf-pages>section{order:1;flex:0 0 100%;min-width:0}
.pyfuncdbg .pf-pages>label{cursor:pointer;white-space:nowrap;margin:0;font:inherit}
.pyfuncdbg .pf-pages>label>input{margin:0 4px 0 0;vertical-align:-1px}
.pyfuncdbg .pf-pages>label:has(:checked){font-weight:700;text-decoration:underline}
@supports selector(:has(a)){.pyfuncdbg .pf-pages>section{display:none}
.pyfuncdbg .pf-pages>label:has(:checked)+section{display:block}}
.pyfuncdbg details>summary{cursor:pointer;color:var(--pf-dim)}
.pyfuncdbg svg{display:inline-block;vertical-align:middle;overflow:visible;max-width:none;height:auto}
.pyfuncdbg svg text{font:11px var(--pf-font);fill:var(--pf-fg);dominant-baseline:central}
.pyfuncdbg svg .pf-row{text-anchor:end;fill:var(--pf-dim)}
.pyfuncdbg svg .pf-column{text-anchor:middle;fill:var(--pf-dim);dominant-baseline:auto}
.pyfuncdbg svg :is(.pf-letter,.pf-number,.pf-mark){text-anchor:middle;pointer-events:none}
.pyfuncdbg svg .pf-number[fill="#ffffff"]{fill:#fff}.pyfuncdbg svg .pf-number[fill="#000000"]{fill:#000}
.pyfuncdbg svg .pf-bad{fill:#6d0b73;stroke:#fff;stroke-width:1}
.pyfuncdbg svg .pf-cross{stroke:#f5b5f7;stroke-width:1;fill:none;pointer-events:none}
.pyfuncdbg svg .pf-letter{fill:#fff;font-weight:700;stroke:#6d0b73;stroke-width:3px;paint-order:stroke}
.pyfuncdbg svg .pf-mark{fill:var(--pf-red);font-weight:700}
.pyfuncdbg svg rect:hover{stroke:var(--pf-fg);stroke-width:1.5}
.pyfuncdbg svg .pf-hover{fill:transparent}
.pyfuncdbg svg .pf-curve{fill:var(--pf-blue);fill-opacity:.25;stroke:var(--pf-blue);stroke-width:1.5}
.pyfuncdbg svg .pf-box{fill:var(--pf-shade);stroke:var(--pf-line)}
.pyfuncdbg svg .pf-leaf{fill:var(--pf-bg);stroke:var(--pf-cyan)}
.pyfuncdbg svg .pf-box-bad{stroke:var(--pf-red);stroke-width:2;stroke-dasharray:6 3}
.pyfuncdbg svg :is(.pf-name,.pf-what){text-anchor:middle;pointer-events:none}
.pyfuncdbg svg .pf-name{font-weight:700;font-size:12px}.pyfuncdbg svg .pf-what{fill:var(--pf-dim)}
.pyfuncdbg svg path:is(.pf-flow,.pf-odd,.pf-nan){fill:none;stroke:var(--pf-blue);stroke-opacity:.7}
.pyfuncdbg svg path.pf-odd{stroke:var(--pf-yellow)}
.pyfuncdbg svg path.pf-nan{stroke:var(--pf-red);stroke-dasharray:7 4;stroke-opacity:1}
.pyfuncdbg svg .pf-wide-line{fill:none;stroke:transparent;stroke-width:14}
.pyfuncdbg svg g:hover>.pf-wide-line{stroke:var(--pf-fg);stroke-opacity:.15}
.pyfuncdbg svg .pf-on-edge{stroke:var(--pf-bg);stroke-width:4px;paint-order:stroke;pointer-events:none}
.pyfuncdbg svg .pf-odd-text{fill:var(--pf-yellow)}.pyfuncdbg svg .pf-nan-text{fill:var(--pf-red);font-weight:700}
.pyfuncdbg svg .pf-python{fill:var(--pf-blue)}.pyfuncdbg svg .pf-op{fill:var(--pf-dim)}
.pyfuncdbg svg .pf-gradient{fill:var(--pf-magenta)}.pyfuncdbg svg .pf-failed{fill:var(--pf-red)}
.pyfuncdbg svg .pf-running{fill:var(--pf-yellow)}.pyfuncdbg svg .pf-tick{stroke:var(--pf-dim)}
.pyfuncdbg svg .pf-label{fill:var(--pf-bg);pointer-events:none}
.pyfuncdbg svg .pf-dot,.pyfuncdbg svg .pf-bar{fill:var(--pf-blue)}
'''


def display_html(plain: str, rich: Html) -> str:
    """One output: the rules, the text for where they are taken out, and the display, which they uncover."""
    return element('div', element('style', Html(RULES)), element('pre', plain, class_='pf-plain'),
                   element('div', rich, class_='pf-rich', hidden=True), class_='pyfuncdbg')


def svg_rules() -> str:
    """The rules of drawings for an SVG document: plain selectors and light colours, which every reader of SVG knows."""
    rules = []
    for selectors, body in re.findall(r'([^{}]+){([^{}]*)}', _RULES):
        if '.pyfuncdbg svg' in selectors and ':hover' not in selectors:
            plain = re.sub(r'[a-z]*:is\((.*?)\)', r'\1', selectors.replace('.pyfuncdbg svg', '').strip())
            rules.append(f'{plain or "svg"}{{{body}}}')
    text = '\n'.join(rules).replace('var(--pf-font)', 'DejaVu Sans Mono, Menlo, Consolas, monospace')
    return re.sub(r'var\(--pf-(\w+)\)', lambda match: _LIGHT[match[1]], text)


def _palette(colors: dict[str, str]) -> str:
    named = {**colors, 'font': ''}
    return ';'.join(f'--pf-{name}:' + (f'var({_OF_THE_NOTEBOOK[name].format(color)})' if name in _OF_THE_NOTEBOOK else color)
                    for name, color in named.items())


def _rules() -> str:
    light, dark = _palette(_LIGHT), _palette(_DARK)
    inside_light, inside_dark = (','.join(f'{one} .pyfuncdbg' for one in says) for says in (_SAYS_LIGHT, _SAYS_DARK))
    return (f'.pyfuncdbg{{{light};color-scheme:light}}'
            f'@media (prefers-color-scheme:dark){{.pyfuncdbg{{{dark};color-scheme:dark}}}}'
            f'{inside_light}{{{light};color-scheme:light}}{inside_dark}{{{dark};color-scheme:dark}}{_RULES}')


RULES = _rules()
"""Of elements in one of class `pyfuncdbg`, which follows the theme of its notebook, or of the system."""
