// The stylesheet of the pages. Its path contains its digest, so that browsers can cache it without a limit.
import { sha256 } from '../../platform/digest.ts';

export const STYLESHEET = `
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
@media (prefers-color-scheme: dark) {
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
}
a { color: var(--link); }
a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible {
  outline: 3px solid var(--link);
  outline-offset: 2px;
}
body > header {
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: 1rem;
  padding: 0.75rem 1.5rem;
  border-bottom: 1px solid var(--line);
}
body > header a { color: inherit; font-weight: 700; text-decoration: none; }
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
form.inline, .actions form { margin: 0; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 1rem 0; }
button {
  min-height: 2.75rem;
  padding: 0.4rem 1.1rem;
  border: 1px solid var(--button);
  border-radius: 0.375rem;
  background: transparent;
  color: var(--link);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button.main { background: var(--button); color: var(--button-text); }
button.small { min-height: 0; padding: 0.1rem 0.75rem; font-weight: 400; }
table.accounts { table-layout: fixed; }
table.accounts th { width: 5.5rem; overflow-wrap: anywhere; }
table.accounts thead th:nth-child(1) { width: auto; }
table.accounts thead th:nth-child(2), table.accounts thead th:nth-child(7) { width: 10.5rem; }
table.accounts thead th:nth-child(3) { width: 7.5rem; }
table.accounts thead th:nth-child(8) { width: 13rem; }
table.report thead th:nth-child(1) { width: 6rem; }
table.report thead th:nth-child(2) { width: 14rem; }
details { margin: 2rem 0; }
summary { cursor: pointer; }
summary h2 { display: inline; }
.foot { margin-top: 2rem; }
.sign-in { max-width: 24rem; margin: 3rem auto; }
.sign-in label { display: block; margin-bottom: 0.25rem; font-weight: 600; }
.sign-in input {
  width: 100%;
  min-height: 2.75rem;
  margin-bottom: 1rem;
  padding: 0.4rem 0.75rem;
  border: 1px solid var(--quiet);
  border-radius: 0.375rem;
  background: var(--ground);
  color: inherit;
  font: inherit;
}
@media (max-width: 64rem) {
  body > header, main { padding-left: 1rem; padding-right: 1rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
  table.cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.cards, table.cards tbody, table.cards tr, table.cards td, table.cards tbody th { display: block; }
  table.cards tr { padding: 0.5rem 0; }
  table.cards td, table.cards tbody th { width: auto; padding: 0.05rem 0; text-align: left; overflow-wrap: anywhere; }
  table.cards td:empty { display: none; }
  table.accounts td { display: inline-block; margin-right: 0.75rem; }
  table.cards td[data-head]::before { content: attr(data-head) ': '; color: var(--quiet); }
}
`.trimStart();

const digest = sha256(STYLESHEET).slice(0, 16);

export const STYLESHEET_PATH = `/assets/pages-${digest}.css`;
export const STYLESHEET_HEADERS = {
  'content-type': 'text/css; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
} as const;
