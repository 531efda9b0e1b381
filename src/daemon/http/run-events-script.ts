// The part of the script of the pages that follows a run: it replaces its progress with each event, and loads the page
// again when the run has ended, or while it has not started. Where events are refused, it loads the page again after a while.
// What a person has typed is not lost: such a page offers to be loaded again instead.

export const RUN_EVENTS_SCRIPT = `
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
for (const place of document.querySelectorAll('[data-events]')) {
  const events = new EventSource(place.dataset.events);
  events.addEventListener('progress', ({ data }) => {
    place.innerHTML = data;
  });
  events.addEventListener('end', () => {
    events.close();
    loadAgain();
  });
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED) setTimeout(loadAgain, 10000);
  });
}
if (document.querySelector('[data-reload]') !== null) setTimeout(loadAgain, 2000);
`;
