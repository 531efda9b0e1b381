// The script of the pages. It changes a page that has `data-live` to a newer one, and the progress of a run, as long as somebody
// can see them; a button in the frame stops that. A page with another decision is loaded again, or offers it where a plan could
// be approved or a person has typed. It also adds a button that copies to each block of lines to paste. Without the script
// every page works.
//
// It is plain JavaScript for browsers, so that it is served as it is written here.
export const LIVE_SCRIPT = `'use strict';
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
