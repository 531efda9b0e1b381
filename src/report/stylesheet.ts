// The styles of reports as HTML: colours, text, tables, badges and notices, light and dark. The pages add their own.

export const REPORT_STYLES = `
:root {
  color-scheme: light dark;
  --ground: #fff; --page: #f6f8fa; --raised: #f6f8fa; --line: #dfe5ec; --text: #16202e; --quiet: #566478;
  --good: #13703a; --warn: #845000; --bad: #b3261e; --good-ground: #e6f6ec; --warn-ground: #fdf0d4; --bad-ground: #fdebe9;
  --link: #1d53c2; --link-ground: #e8effd; --button: #1d53c2; --button-text: #fff;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #171d26; --page: #0f141b; --raised: #1f2732; --line: #2f3947; --text: #e6eaf0; --quiet: #a0acbb;
    --good: #7fd49d; --warn: #efbf62; --bad: #f59c94; --good-ground: #15301f; --warn-ground: #36290f; --bad-ground: #411f1c;
    --link: #8cb2f8; --link-ground: #1a2b4b; --button: #8cb2f8; --button-text: #0f141b;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 0.9375rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); }
:is(a, button, input, select, summary, pre):focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main { max-width: 80rem; margin: 0 auto; padding: 0.5rem 1.5rem 3rem; }
h1 { margin: 1rem 0 0.25rem; font-size: 1.5rem; line-height: 1.25; } h2 { margin: 2rem 0 0.5rem; font-size: 1.0625rem; }
h3 { margin: 1rem 0 0.25rem; font-size: 0.9375rem; }
h1, h2, h3, p, li { overflow-wrap: anywhere; } p { margin: 0.5rem 0; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; } code.nowrap { white-space: nowrap; }
.strong { font-weight: 600; } .quiet { color: var(--quiet); } .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.badge { display: inline-block; padding: 0 0.55rem; border-radius: 1rem; background: var(--line); font-size: 0.8125rem; font-weight: 600; line-height: 1.6; white-space: nowrap; }
.notice { margin: 1rem 0; padding: 0.5rem 1rem; border-left: 4px solid var(--line); border-radius: 0.25rem; background: var(--raised); overflow-wrap: anywhere; }
.badge.good, .notice.good { background: var(--good-ground); border-color: var(--good); }
.badge.warn, .notice.warn { background: var(--warn-ground); border-color: var(--warn); }
.badge.bad, .notice.bad { background: var(--bad-ground); border-color: var(--bad); }
.notice:is(.good, .warn, .bad) { color: inherit; }
.lines { margin: 0.5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; font: 0.8125rem/1.5 ui-monospace, monospace; }
pre.lines { padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--raised); }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.15rem 1.5rem; margin: 0.75rem 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th, td { padding: 0.4rem 0.75rem 0.4rem 0; text-align: left; vertical-align: top; }
thead th { color: var(--quiet); font-size: 0.8125rem; white-space: nowrap; } th { font-weight: 600; }
tbody tr { border-top: 1px solid var(--line); }
:is(th, td).number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
table.report { overflow-wrap: anywhere; } table.report code { white-space: normal; } table.changes td:first-child { width: 6.5rem; white-space: nowrap; }
table.report thead th:nth-child(1) { width: 6.5rem; }
table.changes th:nth-child(2):not(:last-child) { width: 14rem; }
@media screen and (max-width: 64rem) { table.changes th:nth-child(2):not(:last-child) { width: auto; } }
table.changes { margin: 0.25rem 0 0.75rem; font: 0.8125rem/1.5 ui-monospace, monospace; }
table.changes :is(tr, td) { border: 0; padding: 0.15rem 0.6rem; } table.changes th { padding: 0 0.6rem; } table.changes [data-head='People'] { white-space: nowrap; }
table.changes tr:has(> td:first-child > .good) { background: var(--good-ground); } table.changes tr:has(> td:first-child > .bad) { background: var(--bad-ground); }
.card { padding: 0.9rem 1.1rem; border: 1px solid var(--line); border-radius: 0.6rem; background: var(--ground); } .card > :last-child { margin-bottom: 0; }
.line { margin: 0.5rem 0; overflow-wrap: anywhere; }
details { margin: 1rem 0; } summary { cursor: pointer; } summary :is(h2, h3) { display: inline; }
details.rest, .rest > summary { display: inline; } .rest > summary { color: var(--link); }
@media screen and (max-width: 44rem) {
  main { padding-left: 1rem; padding-right: 1rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.5rem; }
  table.cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.cards, table.cards :is(tbody, tr, td, tbody th) { display: block; }
  table.cards tr { padding: 0.5rem 0; }
  table.cards :is(td, tbody th) { width: auto; padding: 0.05rem 0; text-align: left; overflow-wrap: anywhere; }
  table.cards td:empty { display: none; }
  table.cards td[data-head]::before { content: attr(data-head) ': '; color: var(--quiet); }
  table.cards.changes td { display: inline; margin-right: 0.5rem; } table.cards.changes tr { padding: 0.15rem 0.3rem; }
  table.cards.changes td[data-head]::before, table.cards.changes [data-head='Id'] { display: none; }
}
`.trimStart();

/** The styles of a report that is a file of its own. On paper nothing is folded, and long tables repeat their heads. */
export const FILE_STYLES = `
body { background: var(--page); } article { margin: 1rem 0; } h1 { font-size: 0.9375rem; color: var(--quiet); }
.verdict { padding-top: 0.5rem; font-size: 1.25rem; line-height: 1.4; } article details:first-child { margin: 0; }
article > details > summary > *, article dl:last-child > * { display: inline; margin-right: 0.5rem; }
article dl:last-child { display: block; font-size: 0.8125rem; } dt { white-space: nowrap; } article dl:last-child > dd { margin-right: 1.25rem; }
@media print {
  :root { color-scheme: light; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  table { font-size: 9pt; }
  table.report thead th:nth-child(n) { width: auto; } .card { padding: 0; border: 0; }
  thead { display: table-header-group; }
  tr, .notice { break-inside: avoid; }
  h1, h2, h3, summary { break-after: avoid; }
  details > summary { list-style: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
`.trimStart();
