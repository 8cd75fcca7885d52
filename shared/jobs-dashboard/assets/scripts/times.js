/**
 * The server tells times from its own clock, in UTC. Here they move on with the viewer's, in the viewer's zone. The
 * two clocks may differ: what counts is the time passed since the page, or a part of it, was made.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const zoned = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'long',
});
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'long' });

let skewMs = 0;

/** Keeps in step with the server, whose `Date` header says its time to the second. */
export function learnClock(date) {
  const ms = Date.parse(date ?? '') - Date.now();
  if (Math.abs(ms - skewMs) > 2 * SECOND) skewMs = ms;
}

export function clockText(at) {
  return clock.format(at);
}

/** Once for each part of a page: the exact times in the viewer's zone. */
export function showTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const exact = zoned.format(new Date(time.dateTime));
    if (time.dataset.exact === undefined) time.title = exact;
    else if (!time.closest('.live')) time.textContent = exact;
  }
}

/** Once a second: the relative ones. */
export function tellTimes() {
  if (document.hidden) return;
  const now = Date.now() + skewMs;
  for (const time of document.querySelectorAll('time[datetime]:not([data-exact])')) {
    const agoMs = now - Date.parse(time.dateTime);
    const text = time.dataset.elapsed === undefined ? relative(agoMs) : duration(agoMs);
    if (time.textContent !== text) time.textContent = text;
  }
}

function relative(agoMs) {
  if (Math.abs(agoMs) < SECOND) return 'now';
  return agoMs > 0 ? `${duration(agoMs)} ago` : `in ${duration(-agoMs)}`;
}

/** As the server says it, but in whole seconds. */
export function duration(ms) {
  const span = Math.max(0, ms);
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return pair(span, MINUTE, 'min', SECOND, 's');
  if (span < DAY) return pair(span, HOUR, 'h', MINUTE, 'min');
  return pair(span, DAY, 'd', HOUR, 'h');
}

function pair(span, large, largeUnit, small, smallUnit) {
  const rest = Math.floor((span % large) / small);
  const head = `${Math.floor(span / large)} ${largeUnit}`;
  return rest === 0 ? head : `${head} ${rest} ${smallUnit}`;
}
