// The part of the script of the pages that follows a run: it replaces its progress with each event, and loads the page
// again when the run has ended, or while it has not started. Where events are refused, it loads the page again after a while.

export const RUN_EVENTS_SCRIPT = `
for (const place of document.querySelectorAll('[data-events]')) {
  const events = new EventSource(place.dataset.events);
  events.addEventListener('progress', ({ data }) => {
    place.innerHTML = data;
  });
  events.addEventListener('end', () => {
    events.close();
    location.reload();
  });
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 10000);
  });
}
if (document.querySelector('[data-reload]') !== null) setTimeout(() => location.reload(), 3000);
`;
