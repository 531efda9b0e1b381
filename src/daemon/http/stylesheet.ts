// The stylesheet of the pages: the styles of reports, and of what only pages have. Its path contains its digest, so that
// browsers can cache it without a limit.
import { sha256 } from '../../platform/digest.ts';
import { REPORT_STYLES } from '../../report/stylesheet.ts';
import { DETAIL_STYLES } from './detail-styles.ts';

const PAGE_STYLES = `
body > header {
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: 1rem;
  padding: 0.75rem 1.5rem;
  border-bottom: 1px solid var(--line);
}
body > header a { color: inherit; font-weight: 700; text-decoration: none; }
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
  body > header { padding-left: 1rem; padding-right: 1rem; }
  table.accounts td { display: inline-block; margin-right: 0.75rem; }
}
`.trimStart();

export const STYLESHEET = REPORT_STYLES + PAGE_STYLES + DETAIL_STYLES;

const digest = sha256(STYLESHEET).slice(0, 16);

export const STYLESHEET_PATH = `/assets/pages-${digest}.css`;
export const STYLESHEET_HEADERS = {
  'content-type': 'text/css; charset=utf-8',
  'cache-control': 'public, max-age=31536000, immutable',
} as const;
