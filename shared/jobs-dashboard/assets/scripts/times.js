/** Keeps a page's times up to date and shows them in the viewer's time zone. The server renders them in UTC. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Format of exact times in the viewer's time zone: `2 Mar 2026, 14:05:09 CET`. */
const zoned = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'long',
});

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });

const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short', hourCycle: 'h23' });

/**
 * Returns a format for a day and time, such as `Mon 2 Mar, 14:05`. The server uses the same format.
 *
 * @param {string} detail `seconds`, `year`, both or neither
 */
const dayWith = (detail) =>
  new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(detail.includes('year') ? { year: 'numeric' } : {}),
    hour: '2-digit',
    minute: '2-digit',
    ...(detail.includes('seconds') ? { second: '2-digit' } : {}),
  });

/** Format of day headings: `Monday, 2 March 2026`. */
const date = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});

let aheadMs = 0;

/**
 * Sets the page's clock to the server's time, because the clock of the viewer's machine can be wrong.
 *
 * @param {string} now the server's time when it rendered the page
 */
export function setClock(now) {
  aheadMs = Date.parse(now) - Date.now();
}

/**
 * Shows exact times and day headings in the viewer's time zone. These do not change while the page is open, so one call
 * for each newly loaded part of the page is enough.
 *
 * @param {ParentNode} root
 */
export function showTimes(root) {
  const { timeZone } = clock.resolvedOptions();
  for (const table of root.querySelectorAll('[data-zone]')) {
    for (const cell of table.querySelectorAll('.yours')) {
      if (table.getAttribute('data-zone') === timeZone) cell.remove();
      else if (cell.hasAttribute('data-label')) cell.setAttribute('data-label', 'Yours');
      else cell.textContent = `In ${timeZone}, yours`;
    }
  }
  showDays(root);
  enterLocally(root, timeZone);
  for (const time of timesIn(root)) {
    const exact = zoned.format(new Date(time.dateTime));
    if (time.dataset['clock'] !== undefined) {
      const { clock: kind, detail = '' } = time.dataset;
      const format = kind === 'day' ? dayWith(detail) : ({ minutes, date }[kind] ?? clock);
      time.textContent = format.format(new Date(time.dateTime));
    }
    if (time.dataset['exact'] === undefined) time.title = exact;
    else if (!time.closest('.live')) time.textContent = exact;
  }
}

/**
 * Lets the viewer enter times in their own time zone, which is sent along. Leaves forms alone that show what was entered
 * in a zone before.
 *
 * @param {ParentNode} root
 * @param {string} timeZone
 */
function enterLocally(root, timeZone) {
  for (const zone of root.querySelectorAll('[name=zone][value=UTC]')) {
    zone.setAttribute('value', timeZone);
    for (const part of zone.closest('form')?.querySelectorAll('.zone, input') ?? []) {
      const at = new Date(`${part.getAttribute('value')}Z`);
      if (part.className === 'zone') part.textContent = timeZone;
      else if (/T..:..$/.test(part.getAttribute('value') ?? '')) {
        at.setMinutes(at.getMinutes() - at.getTimezoneOffset());
        part.setAttribute('value', at.toISOString().slice(0, 16));
      }
    }
  }
}

/**
 * Replaces the day headings of a list with headings for the days in the viewer's time zone.
 *
 * @param {ParentNode} root
 */
function showDays(root) {
  const headings = root.querySelectorAll('tr.day');
  const [heading] = headings;
  const rows = heading?.parentElement?.querySelectorAll('tr:not(.day)') ?? [];
  for (const each of headings) each.remove();
  let last = '';
  for (const row of rows) {
    const dateTime = row.querySelector('time')?.dateTime ?? '';
    const text = date.format(new Date(dateTime));
    if (text === last) continue;
    last = text;
    const own = heading?.cloneNode(true);
    if (!(own instanceof HTMLElement)) continue;
    own.dataset['key'] = text;
    own.querySelector('time')?.setAttribute('datetime', dateTime);
    row.before(own);
  }
}

/** Updates relative times, such as `5 min ago`, and elapsed times. Called once a second and after each refresh. */
export function updateTimes() {
  if (document.hidden) return;
  for (const time of timesIn(document)) {
    if (time.dataset['exact'] !== undefined || time.dataset['clock'] !== undefined) continue;
    const isElapsed = time.dataset['elapsed'] !== undefined;
    // What lasts may have ended since the region was loaded, so its time counts only until then.
    const asOf = isElapsed ? time.closest('[data-as-of]')?.getAttribute('data-as-of') : null;
    const agoMs = Number(asOf ?? Date.now()) + aheadMs - Date.parse(time.dateTime);
    const text = isElapsed ? duration(agoMs) : relative(agoMs);
    if (time.textContent !== text) time.textContent = text;
  }
}

/**
 * @param {ParentNode} root
 * @returns {NodeListOf<HTMLTimeElement>}
 */
function timesIn(root) {
  return root.querySelectorAll('time[datetime]');
}

/** @param {number} agoMs */
function relative(agoMs) {
  if (Math.abs(agoMs) < SECOND) return agoMs < 0 ? 'now' : 'just now';
  const span = Math.abs(agoMs);
  const distance = span >= MINUTE && span < HOUR ? `${Math.floor(span / MINUTE)} min` : duration(span);
  return agoMs > 0 ? `${distance} ago` : `in ${distance}`;
}

/**
 * Formats a duration as the server does, but without fractions of a second.
 *
 * @param {number} ms
 */
export function duration(ms) {
  const span = Math.max(0, ms);
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return pair(span, MINUTE, 'min', SECOND, 's');
  if (span < DAY) return pair(span, HOUR, 'h', MINUTE, 'min');
  return pair(span, DAY, 'd', HOUR, 'h');
}

/**
 * @param {number} span
 * @param {number} large
 * @param {string} largeUnit
 * @param {number} small
 * @param {string} smallUnit
 */
function pair(span, large, largeUnit, small, smallUnit) {
  const rest = Math.floor((span % large) / small);
  const head = `${Math.floor(span / large)} ${largeUnit}`;
  return rest === 0 ? head : `${head} ${rest} ${smallUnit}`;
}
