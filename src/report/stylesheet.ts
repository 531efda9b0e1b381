// The styles of reports as HTML: colours, text, tables, badges and notices, light and dark. The pages add their own.

export const REPORT_STYLES = `
:root {
  color-scheme: light dark;
  --ground: #ffffff;
  --raised: #f5f6f8;
  --text: #1c2127;
  --quiet: #5b6570;
  --line: #d9dde2;
  --link: #0b57a4;
  --good: #17683a;
  --warn: #845400;
  --bad: #b3261e;
  --good-ground: #e3f4e8;
  --warn-ground: #fdf1d8;
  --bad-ground: #fce8e6;
  --button: #0b57a4;
  --button-text: #ffffff;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #14181d;
    --raised: #1e242b;
    --text: #e6e9ed;
    --quiet: #a3adb8;
    --line: #343c46;
    --link: #8ab8f2;
    --good: #7ed49a;
    --warn: #f0c060;
    --bad: #f59a92;
    --good-ground: #173122;
    --warn-ground: #382b10;
    --bad-ground: #421e1b;
    --button: #8ab8f2;
    --button-text: #10151b;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: break-word;
}
a { color: var(--link); }
a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible {
  outline: 3px solid var(--link);
  outline-offset: 2px;
}
main { max-width: 80rem; margin: 0 auto; padding: 0.5rem 1.5rem 3rem; }
h1 { margin: 1rem 0 0.5rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.15rem; }
h3 { margin: 1.25rem 0 0.25rem; font-size: 1rem; }
p { margin: 0.5rem 0; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
code.nowrap { white-space: nowrap; }
.quiet { color: var(--quiet); }
.strong { font-weight: 600; }
.good { color: var(--good); }
.warn { color: var(--warn); }
.bad { color: var(--bad); }
.badge {
  display: inline-block;
  padding: 0 0.5rem;
  border-radius: 1rem;
  background: var(--raised);
  color: var(--quiet);
  font-size: 0.875rem;
  font-weight: 600;
  white-space: nowrap;
}
.badge.good { background: var(--good-ground); color: var(--good); }
.badge.warn { background: var(--warn-ground); color: var(--warn); }
.badge.bad { background: var(--bad-ground); color: var(--bad); }
.notice {
  margin: 1rem 0;
  padding: 0.5rem 1rem;
  border-left: 4px solid var(--line);
  background: var(--raised);
  overflow-wrap: anywhere;
}
.notice.bad { border-color: var(--bad); background: var(--bad-ground); color: inherit; }
.notice.warn { border-color: var(--warn); background: var(--warn-ground); color: inherit; }
.notice.good { border-color: var(--good); background: var(--good-ground); color: inherit; }
.notice ul { margin: 0.25rem 0; padding-left: 1.25rem; }
.lines { margin: 0.5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 0.9em/1.5 ui-monospace, monospace; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.15rem 1.5rem; margin: 0.75rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: 0.9375rem; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--quiet); font-size: 0.875rem; font-weight: 600; white-space: nowrap; }
tbody tr { border-top: 1px solid var(--line); }
tbody th { font-weight: 600; }
th.number, td.number { padding-right: 1.5rem; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
table.report td, table.report tbody th { overflow-wrap: anywhere; }
table.report thead th:not(.number) { min-width: 6rem; }
table.report thead th:nth-child(1) { width: 6rem; }
table.report thead th:first-child:not(.number) + th:not(:last-child) { width: 14rem; }
details { margin: 2rem 0; }
summary { cursor: pointer; }
summary h2 { display: inline; }
@media screen and (max-width: 44rem) {
  main { padding-left: 1rem; padding-right: 1rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
  table.cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.cards, table.cards tbody, table.cards tr, table.cards td, table.cards tbody th { display: block; }
  table.cards tr { padding: 0.5rem 0; }
  table.cards td, table.cards tbody th { width: auto; padding: 0.05rem 0; text-align: left; overflow-wrap: anywhere; }
  table.cards td:empty { display: none; }
  table.cards td[data-head]::before { content: attr(data-head) ': '; color: var(--quiet); }
}
`.trimStart();

/** The styles of a report that is a file of its own. On paper nothing is folded, and long tables repeat their heads. */
export const FILE_STYLES = `
h4 { margin: 1rem 0 0.25rem; font-size: 0.9375rem; }
article { margin-top: 2.5rem; border-top: 2px solid var(--line); }
summary h3 { display: inline; }
td { overflow-wrap: anywhere; }
td:last-child { min-width: 8rem; }
table.report thead th.number { width: auto; }
@media print {
  :root { color-scheme: light; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  table { font-size: 9pt; }
  table.report thead th:nth-child(n) { width: auto; }
  thead { display: table-header-group; }
  tr, .notice { break-inside: avoid; }
  h1, h2, h3, h4, summary { break-after: avoid; }
  details > summary { list-style: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
`.trimStart();
