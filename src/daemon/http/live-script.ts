// The script of the pages. It replaces the part of a page that has the id `live` by a newer one, and the progress of a
// run, as long as somebody can see it. When a queued run starts or a run ends, it loads the page again; what a person has
// typed is not lost: such a page offers to be loaded again instead. Without the script every page works; it only has to
// be loaded again by hand.
//
// It is plain JavaScript for browsers, so that it is served as it is written here.
export const LIVE_SCRIPT = `'use strict';
(() => {
  const EVERY_MS = 15000;
  const STORED = 'rolecall-updates-off';
  const live = () => document.getElementById('live');
  if (live() === null) return;

  const control = document.createElement('p');
  const button = document.createElement('button');
  const message = document.createElement('span');
  let isOff = sessionStorage.getItem(STORED) !== null;
  let lastMs = Date.now();
  let isReading = false;

  button.type = 'button';
  button.className = 'small';
  message.setAttribute('role', 'status');
  control.className = 'updates quiet';
  control.append(button, ' ', message);
  live().after(control);

  function show(text) {
    button.textContent = isOff ? 'Update this page again' : 'Stop updating this page';
    message.textContent = text;
  }

  /** Finds the element of the new content that the focus was on: the same link, or the element with the same id. */
  function focusAgain(before) {
    if (before === null) return;
    const same = [...live().querySelectorAll('a[href], button, summary, [id]')].find(
      (each) =>
        (before.id !== '' && each.id === before.id) ||
        (each.tagName === before.tagName &&
          each.getAttribute('href') === before.getAttribute('href') &&
          each.textContent === before.textContent),
    );
    if (same !== undefined) same.focus({ preventScroll: true });
  }

  function replace(page) {
    document.getElementById('pause').replaceWith(document.importNode(page.getElementById('pause'), true));
    const next = page.getElementById('live');
    if (next === null || next.innerHTML === live().innerHTML) return;
    const selection = getSelection();
    // Nobody can copy from a page whose selection is lost.
    if (selection !== null && !selection.isCollapsed) return;
    const opened = [...live().querySelectorAll('details')].map((each) => each.open);
    const focused = live().contains(document.activeElement) ? document.activeElement : null;
    live().replaceWith(document.importNode(next, true));
    const details = [...live().querySelectorAll('details')];
    if (details.length === opened.length) details.forEach((each, index) => (each.open = opened[index]));
    focusAgain(focused);
  }

  async function update() {
    if (isReading || isOff || document.visibilityState !== 'visible') return;
    isReading = true;
    try {
      const answer = await fetch(location.href, {
        headers: { accept: 'text/html' },
        signal: AbortSignal.timeout(10000),
      });
      // The session has ended: the same address shows the form.
      if (answer.status === 401) return location.reload();
      if (!answer.ok) throw new Error(String(answer.status));
      replace(new DOMParser().parseFromString(await answer.text(), 'text/html'));
      lastMs = Date.now();
      show('');
    } catch {
      const minutes = Math.floor((Date.now() - lastMs) / 60000);
      const age = minutes === 0 ? 'less than a minute' : minutes + ' min';
      show('The server does not answer. What you see is ' + age + ' old.');
    } finally {
      isReading = false;
    }
  }

  button.addEventListener('click', () => {
    isOff = !isOff;
    if (isOff) sessionStorage.setItem(STORED, 'yes');
    else sessionStorage.removeItem(STORED);
    show('');
    void update();
  });
  document.addEventListener('visibilitychange', () => void update());
  setInterval(() => void update(), EVERY_MS);
  show('');
})();

(() => {
  const EVERY_MS = 1500;

  function loadAgain() {
    const fields = [...document.querySelectorAll('main input:not([type=hidden])')];
    if (fields.every((field) => field.value === '' && field !== document.activeElement)) return location.reload();
    const notice = document.createElement('p');
    notice.className = 'notice';
    notice.setAttribute('role', 'status');
    notice.append('This page is out of date. ');
    const link = document.createElement('a');
    link.href = location.href;
    link.textContent = 'Load it again';
    notice.append(link);
    document.querySelector('h1').after(notice);
  }

  async function follow(place) {
    if (document.visibilityState === 'visible') {
      const answer = await fetch(place.dataset.progress, { signal: AbortSignal.timeout(10000) }).catch(() => null);
      if (answer?.status === 200) place.innerHTML = await answer.text();
      else if (answer !== null && answer.status < 500) return loadAgain();
    }
    setTimeout(() => void follow(place), EVERY_MS);
  }

  for (const place of document.querySelectorAll('[data-progress]')) setTimeout(() => void follow(place), EVERY_MS);
  if (document.querySelector('[data-reload]') !== null) setTimeout(loadAgain, 2000);
})();
`;
