// The files that pages refer to. The path of each contains its digest, so that browsers can cache it without a limit.
import { sha256 } from '../../system/digest.ts';
import { REPORT_STYLES } from '../../report/stylesheet.ts';

/** A list with a check mark, in colours that are visible in light and in dark windows. */
const FAVICON_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b57a4"/>
<path d="M7 9.5h10M7 16h7M7 22.5h5" stroke="#fff" stroke-width="3" stroke-linecap="round" fill="none"/>
<path d="M15.5 20.5l4 4 7-9" stroke="#7ed49a" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round" fill="none"/>
</svg>
`;

/** The styles of what only pages have. Those of reports come before them. */
const PAGE_STYLES = `
body { background: var(--page); } main { padding-top: 1rem; } main:focus { outline: none; } form, .menu { margin: 0; }
body > header { border-bottom: 1px solid var(--line); background: var(--ground); }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.25rem; max-width: 80rem; min-height: 3.25rem; margin: 0 auto; padding: 0 1.5rem; }
.bar nav { display: flex; gap: 1.25rem; margin-right: auto; }
.bar nav a { padding: 0.9rem 0 0.8rem; border-bottom: 2px solid transparent; } .bar nav a[aria-current] { border-color: var(--link); font-weight: 600; }
.bar [role='status'] { flex-basis: 100%; order: 1; }
.bar a, .trail a, .tiles a, table.cards tbody th a { color: inherit; text-decoration: none; }
:is(.bar nav, .trail, tbody th) a:hover { text-decoration: underline; }
.brand { display: flex; align-items: center; gap: 0.5rem; font-weight: 700; } .brand::before { content: ''; width: 1rem; height: 1rem; border-radius: 0.3rem; background: var(--button); }
.installation { padding: 0 0.6rem; border: 1px solid var(--line); border-radius: 1rem; }
#live::before { content: ''; display: inline-block; width: 0.55rem; height: 0.55rem; margin-right: 0.4rem; border-radius: 50%; background: var(--good); } #live.off::before { background: none; box-shadow: inset 0 0 0 2px currentcolor; }
.skip { position: absolute; left: -100rem; padding: 0.5rem 1rem; background: var(--ground); } .skip:focus { left: 0.5rem; top: 0.5rem; z-index: 2; }
.unseen, .diff thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.note, .bar :is(.quiet, .installation), .title > span, .tiles small, .trail, .legend, .foot, button:is(.plain, .copy), .buttons > span, aside { font-size: 0.8125rem; }
.note, .trail { color: var(--quiet); font-weight: 400; overflow-wrap: anywhere; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) 22rem; gap: 0 1.25rem; align-items: start; margin-top: 1rem; }
.columns .notice, .card { margin: 0 0 1rem; } h1 + .card { margin-top: 0.75rem; }
.card.warn { border-left: 4px solid var(--warn); color: inherit; }
.card h2 { margin: 0; } h2 code { font-weight: inherit; } h1 :is(.badges, .badge, code) { vertical-align: middle; font-size: 0.8125rem; }
.title { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1rem; margin-bottom: 0.5rem; }
aside dl { grid-template-columns: max-content minmax(0, 1fr); gap: 0.3rem 1rem; } aside dd { margin: 0; text-align: right; } aside code.nowrap { white-space: normal; }
.tiles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0.9rem; margin-bottom: 1rem; }
.tiles a { padding: 0.7rem 1rem; border: 1px solid var(--line); border-radius: 0.6rem; background: var(--ground); } .tiles a[aria-current] { outline: 2px solid var(--link); }
.tiles :is(b, small) { display: block; } .tiles b { font-size: 1.625rem; line-height: 1.2; }
.above, .filter, .menu form, .buttons { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; } .above { gap: 0.5rem 1rem; margin: 0.75rem 0; }
input, select, button, .menu > summary { max-width: 100%; min-height: 2.25rem; padding: 0.3rem 0.9rem; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--ground); color: inherit; font: inherit; }
input, select { min-width: 0; padding: 0.3rem 0.6rem; border-color: var(--quiet); } input[type='search'] { width: 17rem; }
button, .menu > summary { font-weight: 600; cursor: pointer; }
:is(.tiles a, button, .menu > summary):hover { border-color: var(--link); }
button.main { border-color: var(--button); background: var(--button); color: var(--button-text); }
button.plain { min-height: 0; padding: 0.2rem 0; border: 0; background: none; color: var(--quiet); font-weight: 400; } button.copy { min-height: 0; margin-bottom: 0.25rem; padding: 0 0.7rem; }
.buttons { align-items: flex-start; margin-top: 1rem; } .buttons > span { padding-top: 0.5rem; } .menu form { margin-top: 0.5rem; } .menu > summary { width: fit-content; }
:is(.menu, .held) > summary { list-style: none; } summary::-webkit-details-marker { display: none; }
table.card { padding: 0; border-spacing: 0; border-collapse: separate; overflow: hidden; }
table.card :is(th, td) { padding: 0.5rem 0.75rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
table.card tbody:last-child tr:last-child > * { border-bottom: 0; }
table.card :is(thead, .group) th { background: var(--raised); color: var(--quiet); font-size: 0.8125rem; }
table.card :is(tbody th, .account) { min-width: 9rem; overflow-wrap: anywhere; } .accounts tbody th { width: 13rem; } table.card .what { width: 36%; overflow-wrap: anywhere; }
table.card :is(.last, .next, .strip, .commit), table.runs tbody th { white-space: nowrap; } .trigger { min-width: 13rem; }
.what > div { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
.badges { display: inline-flex; flex-wrap: wrap; gap: 0.2rem; } .badge:is(.is-drift, .is-running, .is-queued) { background: var(--link-ground); color: var(--link); }
.bars { display: inline-flex; align-items: flex-end; gap: 2px; height: 1.25rem; }
.bar-mark { width: 6px; height: 0.45rem; border-radius: 1px; background: var(--quiet); opacity: 0.5; }
.bar-mark:is(.good, .warn, .bad) { height: 0.75rem; background: currentcolor; opacity: 1; } .bar-mark.warn { height: 1rem; } .bar-mark.bad { height: 1.25rem; }
.legend, .pager { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.5rem 1.25rem; margin: 0.75rem 0; }
.diff td:nth-child(2) { min-width: 10rem; } .diff [data-head='Id'] { display: none; }
.held, .more { margin: 0; padding: 0.4rem 0; border-top: 1px solid var(--line); } .held > summary { display: grid; grid-template-columns: 4.5rem minmax(6rem, 14rem) minmax(0, 1fr) max-content; gap: 0 0.75rem; align-items: baseline; }
.held > summary > .quiet { font-size: 0.8125rem; text-decoration: underline; } .held > p { margin-left: 5.25rem; } .change { font: 0.8125rem ui-monospace, monospace; }
.actions { margin: 0; padding: 0; list-style: none; } .actions li + li { border-top: 1px solid var(--line); }
.actions li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: 0.35rem 0; }
.chart { display: block; width: 100%; margin-top: 0.5rem; fill: var(--quiet); font-size: 11px; } .chart path { fill: none; stroke: var(--link); stroke-width: 2; }
progress { display: block; width: 100%; height: 0.6rem; border: 0; border-radius: 0.3rem; overflow: hidden; background: var(--line); color: var(--link); appearance: none; }
progress::-webkit-progress-bar { background: var(--line); } progress::-webkit-progress-value { background: var(--link); } progress::-moz-progress-bar { background: var(--link); }
.narrow { max-width: 30rem; margin: 2rem auto; padding: 0.5rem 1.5rem 1.25rem; } .narrow label { display: block; font-weight: 600; } .narrow input { width: 100%; margin-bottom: 0.75rem; }
@media (max-width: 64rem) { .columns { grid-template-columns: minmax(0, 1fr); } table.cards :is(.next, .commit, .trigger) { display: none; } .accounts .bar-mark { width: 4px; } table.accounts :is(th, td) { padding: 0.5rem; } }
@media (max-width: 44rem) {
  .bar { gap: 0 0.9rem; padding: 0 1rem; } .bar nav { gap: 0.9rem; } .brand { gap: 0; font-size: 0; }
  .bar:has(.installation) { padding-top: 0.6rem; } .bar:has(.installation) nav { order: 1; flex-basis: 100%; } .bar [role='status'] { order: 2; } .installation { margin-right: auto; }
  .bar .visitor, .accounts .number:has(.quiet) { display: none; }
  :is(.accounts, .runs) tbody tr:not(.group) { display: grid; grid-template-columns: minmax(0, 1fr) max-content; } :is(.accounts .what, .accounts .number, .runs .account) { grid-column: 1 / -1; }
  .accounts .last, .runs .state { grid-area: 1 / 2; } .accounts .strip { grid-area: 2 / 2; } :is(.accounts .last, .strip, .runs .state) { text-align: right; } table.cards.runs .number { text-align: right; }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.6rem; }
  table.card.cards :is(th, td) { width: auto; padding: 0.1rem 1rem; border: 0; } table.cards .group { padding: 0; } table.card.cards .group th { padding: 0.3rem 1rem; }
  table.cards td:is(.what, .state, .account, .last, .strip, .runs td)::before { content: none; }
  .card.warn .buttons { display: contents; } .card.warn .buttons > * { display: inline-block; margin: 0.5rem 0.5rem 0 0; vertical-align: top; }
  .card.warn .buttons > :has(.main) { position: sticky; bottom: 0.5rem; display: block; }
  .held > summary { grid-template-columns: 4.5rem minmax(0, 1fr); } .held > summary > :nth-child(n + 3) { grid-column: 2; }
}
`.trimStart();

/**
 * The script of the pages. It changes a page that has `data-live` to a newer one, and the progress of a run, as long as somebody
 * can see them; a button in the frame stops that. A page with another decision is loaded again, or offers it where a plan could
 * be approved or a person has typed. It also adds a button that copies to each block of lines to paste. Without the script
 * every page works.
 *
 * It is plain JavaScript for browsers, so that it is served as it is written here.
 */
const LIVE_SCRIPT = `'use strict';
(() => {
  const SLOW_MS = 15000;
  const FAST_MS = 1500;
  const STORED = 'rolecall-updates-off';
  const main = document.querySelector('main');
  const button = document.getElementById('live');
  let isOff = sessionStorage.getItem(STORED) !== null;
  let lastMs = Date.now();

  function show(problem) {
    if (button === null) return;
    button.hidden = false;
    button.textContent = isOff ? 'stopped' : 'live';
    button.title = isOff ? 'Update this page again' : 'Stop updating this page';
    button.classList.toggle('off', isOff);
    button.nextElementSibling.textContent = problem;
  }

  function loadAgain() {
    const fields = [...main.querySelectorAll('input:not([type=hidden])')];
    const isUsed = fields.some((each) => each.value !== each.defaultValue || each === document.activeElement);
    const isAwaited = main.dataset.live === 'soon' || main.querySelector('[data-progress]') !== null;
    // A newer plan must not come under a pointer that is about to press another button.
    const isSafe = main.querySelector('form') === null || (isAwaited && main.querySelector('[name=digest]') === null);
    if (!isUsed && isSafe) return location.reload();
    const notice = document.getElementById('outdated');
    if (notice !== null) notice.hidden = false;
  }

  /** Changes only what differs, so that the focus, the selection and what is unfolded stay. A link never becomes another. */
  function change(old, next) {
    if (old.isEqualNode(next)) return;
    const isSame = old.nodeName === next.nodeName && old.getAttribute?.('href') === next.getAttribute?.('href');
    if (!isSame) return old.replaceWith(document.importNode(next, true));
    if (old.nodeType !== Node.ELEMENT_NODE) return void (old.nodeValue = next.nodeValue);
    for (const name of [...old.getAttributeNames(), ...next.getAttributeNames()]) {
      if (name === 'open' || name === 'hidden') continue;
      if (next.hasAttribute(name)) old.setAttribute(name, next.getAttribute(name));
      else old.removeAttribute(name);
    }
    const [before, after] = [[...old.childNodes].filter((each) => each.className !== 'copy'), [...next.childNodes]];
    for (const each of before.slice(after.length)) each.remove();
    for (const [index, each] of after.entries()) {
      if (index < before.length) change(before[index], each);
      else old.append(document.importNode(each, true));
    }
  }

  const isShown = () => !isOff && document.visibilityState === 'visible';
  const read = (address) =>
    fetch(address, { headers: { accept: 'text/html' }, signal: AbortSignal.timeout(10000) });

  async function update() {
    if (!isShown()) return;
    try {
      const answer = await read(location.href);
      // The session has ended: the same address shows the form.
      if (answer.status === 401) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      const next = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
      if (next.dataset.version !== main.dataset.version) loadAgain();
      else change(main, next);
      lastMs = Date.now();
      show('');
    } catch {
      const minutes = Math.ceil((Date.now() - lastMs) / 60000);
      show('The server does not answer. What you see is up to ' + minutes + ' min old.');
    }
  }

  async function follow(place) {
    if (isShown()) {
      const answer = await read(place.dataset.progress).catch(() => null);
      if (answer?.status === 200) place.innerHTML = await answer.text();
      else if (answer !== null && answer.status < 500) return loadAgain();
    }
    setTimeout(() => void follow(place), FAST_MS);
  }

  for (const block of document.querySelectorAll('pre')) {
    const copy = document.createElement('button');
    copy.className = 'copy';
    copy.textContent = 'Copy';
    copy.addEventListener('click', () => {
      // The clipboard of the navigator needs https; the selection does not.
      getSelection().selectAllChildren(block);
      copy.textContent = document.execCommand('copy') ? 'Copied' : 'Press Ctrl+C';
    });
    block.after(copy);
  }
  const place = document.querySelector('[data-progress]');
  if (place !== null) setTimeout(() => void follow(place), FAST_MS);
  if (main.dataset.live !== undefined) {
    document.addEventListener('visibilitychange', () => void update());
    setInterval(() => void update(), main.dataset.live === 'soon' ? FAST_MS : SLOW_MS);
  } else if (place === null) return;
  button?.addEventListener('click', () => {
    isOff = !isOff;
    if (isOff) sessionStorage.setItem(STORED, 'yes');
    else sessionStorage.removeItem(STORED);
    show('');
    void update();
  });
  show('');
})();
`;

function asset(name: string, suffix: string, type: string, text: string) {
  return { path: `/assets/${name}-${sha256(text).slice(0, 16)}.${suffix}`, type, text };
}

export const STYLESHEET = asset('pages', 'css', 'text/css; charset=utf-8', REPORT_STYLES + PAGE_STYLES);
export const SCRIPT = asset('app', 'js', 'text/javascript; charset=utf-8', LIVE_SCRIPT);
export const FAVICON = asset('favicon', 'svg', 'image/svg+xml', FAVICON_SVG);

export const ASSETS = [STYLESHEET, SCRIPT, FAVICON];
export const ASSET_CACHING = 'public, max-age=31536000, immutable';
