// The styles of what only pages have. Those of reports come before them.

export const PAGE_STYLES = `
body > header {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem 1.5rem;
  padding: 0.5rem 1.5rem;
  border-bottom: 1px solid var(--line);
}
body > header a { padding: 0.35rem 0; color: inherit; text-decoration: none; }
body > header .brand { font-weight: 700; }
body > header nav { display: flex; gap: 1.25rem; }
body > header nav a { border-bottom: 2px solid transparent; }
body > header nav a:hover { border-color: var(--line); }
body > header nav a[aria-current] { border-color: var(--link); }
body > header form.inline { margin-left: auto; }
.skip { position: absolute; left: -100rem; padding: 0.5rem 1rem; background: var(--ground); }
.skip:focus { left: 0.5rem; top: 0.5rem; z-index: 1; }
main:focus { outline: none; }
form.inline, .actions form { margin: 0; }
.actions form { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; }
.actions label { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; }
.actions input { min-width: 0; }
.filter { display: flex; flex-wrap: wrap; align-items: end; gap: 0.5rem 1rem; margin: 0.75rem 0; }
.filter label { display: block; color: var(--quiet); font-size: 0.875rem; }
.filter input, .filter select { display: block; max-width: 100%; }
.filter > a { padding: 0.6rem 0; }
input, select {
  min-height: 2.5rem;
  padding: 0.35rem 0.6rem;
  border: 1px solid var(--quiet);
  border-radius: 0.375rem;
  background: var(--ground);
  color: var(--text);
  font: inherit;
}
select:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.filter button { min-height: 2.5rem; }
.counts { display: flex; flex-wrap: wrap; gap: 0.5rem; margin: 0.5rem 0 1rem; padding: 0; list-style: none; }
.counts a { display: block; padding: 0.1rem 0.7rem; text-decoration: none; }
.counts a:hover { text-decoration: underline; }
.counts a[aria-current] { outline: 2px solid currentcolor; outline-offset: 1px; }
.pager { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; margin: 1rem 0; }
.note { color: var(--quiet); font-size: 0.875rem; font-weight: 400; overflow-wrap: anywhere; }
.updates { margin-top: 0.5rem; }
.ago { font-size: 0.875rem; font-weight: 400; white-space: nowrap; }
svg.strip { display: block; max-width: 100%; margin-top: 0.15rem; }
svg.strip path { fill: currentcolor; fill-rule: evenodd; }
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
table.accounts, table.runs.several { table-layout: fixed; }
table.accounts tbody th, table.runs .name { overflow-wrap: anywhere; }
table.accounts thead th { width: 6.5rem; }
table.accounts thead th:nth-child(1) { width: auto; }
table.accounts thead th:nth-child(2) { width: 13rem; }
table.accounts thead th:nth-child(3) { width: 10.5rem; }
table.accounts thead th:nth-child(5), table.accounts thead th:nth-child(6) { width: 5.5rem; }
table.runs.several thead th { width: 6rem; }
table.runs.several thead th:nth-child(1) { width: 16rem; }
table.runs.several thead th:nth-child(3) { width: 7.5rem; }
table.runs.several thead th:nth-child(2) { width: auto; }
table.runs.several thead th:nth-child(4) { width: 10rem; }
.foot { margin-top: 2rem; }
.sign-in { max-width: 24rem; margin: 3rem auto; }
.sign-in label { display: block; margin-bottom: 0.25rem; font-weight: 600; }
.sign-in input {
  width: 100%;
  min-height: 2.75rem;
  margin-bottom: 1rem;
  padding: 0.4rem 0.75rem;
}
@media (min-width: 44.01rem) and (max-width: 75rem) {
  .ago { display: block; }
  table.accounts .number, table.runs .number { padding-right: 0.75rem; }
  table.runs td.number { white-space: normal; }
  table.accounts thead th { width: 5.5rem; }
  table.accounts thead th:nth-child(2) { width: 11.5rem; }
  table.accounts thead th:nth-child(5) { width: 4.5rem; }
  table.accounts thead th:nth-child(6) { width: 3.75rem; }
  table.runs.several thead th { width: 4.75rem; }
  table.runs.several thead th:nth-child(1) { width: 10rem; }
  table.runs.several thead th:nth-child(3) { width: 7rem; }
  table.runs.several thead th:nth-child(4) { width: 6rem; }
  table.runs.several thead th:last-child { width: 5.25rem; }
}
/* The pages of the account and of the run show what is left out here. */
@media (min-width: 44.01rem) and (max-width: 60rem) {
  table.accounts tr > :nth-child(3), table.runs.several tr > :is(:nth-child(4), :last-child) { display: none; }
}
@media (max-width: 44rem) {
  body > header { padding-left: 1rem; padding-right: 1rem; }
  table.accounts td, table.runs td:not(.name) { display: inline-block; margin-right: 0.75rem; }
  table.accounts td:has(svg) { display: block; }
  svg.strip { display: inline-block; vertical-align: baseline; }
}
`.trimStart();

/** Of the pages of accounts and runs: progress and plans. */
export const DETAIL_STYLES = `
h1, h2, h3, p, li { overflow-wrap: anywhere; }
.progress { margin: 1rem 0; padding: 0.75rem 1rem; background: var(--raised); }
progress {
  display: block;
  width: 100%;
  height: 0.75rem;
  border: 0;
  border-radius: 0.375rem;
  overflow: hidden;
  background: var(--line);
  color: var(--link);
  accent-color: var(--link);
  appearance: none;
}
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--link); }
progress::-moz-progress-bar { background: var(--link); }
.approval { padding-top: 1rem; border-top: 1px solid var(--line); }
.approval button { white-space: normal; text-align: left; }
`;
