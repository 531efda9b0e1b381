// The script of the pages. It replaces the progress of a run as long as somebody can see it. When a queued run starts or a
// run ends, it loads the page again; what a person has typed is not lost: such a page offers to be loaded again instead.
// Without the script every page works; it only has to be loaded again by hand.
//
// It is plain JavaScript for browsers, so that it is served as it is written here.
export const LIVE_SCRIPT = `'use strict';
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
