import type { RecurringJob } from '@longshore/jobs';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const number = /^\d+$/;

/** Describes a schedule in words; returns `null` if its cron expression is easier to read. */
export function scheduleWords({ cron, every }: Pick<RecurringJob, 'cron' | 'every'>): string | null {
  return cron === null ? `every ${every}` : cronWords(cron);
}

/**
 * Describes common cron expressions in words, such as `every 15 min`, `daily at 02:30`, `Monday to Friday at 02:30` or
 * `Sundays at 04:00`. Returns `null` for other expressions, because their description would be harder to read than the
 * expression itself.
 */
function cronWords(cron: string): string | null {
  const fields = cron.trim().split(/\s+/);
  if (fields.length === 6) return wordsWithSeconds(fields);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== 5 || month !== '*') return null;
  if (hour === '*' && day === '*' && weekday === '*') return withinTheHour(minute);
  if (!number.test(minute) || !number.test(hour)) return null;
  const at = `at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (weekday === '*' && day === '*') return `daily ${at}`;
  if (weekday === '*') return number.test(day) ? `monthly on day ${day} ${at}` : null;
  const which = day === '*' ? weekdays(weekday) : null;
  return which === null ? null : `${which} ${at}`;
}

/** Describes an expression whose first field is the second. */
function wordsWithSeconds([second = '', ...rest]: readonly string[]): string | null {
  if (rest.every((field) => field === '*')) return withinTheMinute(second);
  if (!number.test(second)) return null;
  const words = cronWords(rest.join(' '));
  if (words === null || Number(second) === 0) return words;
  // Only a time of day can be followed by the seconds; “every 15 min” would hide when in the minute it is.
  return /\d\d:\d\d$/.test(words) ? `${words}:${second.padStart(2, '0')}` : null;
}

function withinTheMinute(second: string): string | null {
  const [, step] = /^\*\/(\d+)$/.exec(second) ?? [];
  if (second === '*' || step === '1') return 'every second';
  if (step !== undefined) return 60 % Number(step) === 0 ? `every ${step} s` : null;
  return number.test(second) ? `every minute at :${second.padStart(2, '0')} s` : null;
}

function withinTheHour(minute: string): string | null {
  const [, step] = /^\*\/(\d+)$/.exec(minute) ?? [];
  if (minute === '*' || step === '1') return 'every minute';
  // Describes only steps that divide 60. Other steps start over each hour, so the last interval is shorter.
  if (step !== undefined) return 60 % Number(step) === 0 ? `every ${step} min` : null;
  return number.test(minute) ? `hourly at :${minute.padStart(2, '0')}` : null;
}

function weekdays(field: string): string | null {
  const [, from, to] = /^([0-7])(?:-([0-7]))?$/.exec(field) ?? [];
  const first = days[Number(from)];
  if (from === undefined || first === undefined) return null;
  return to === undefined ? `${first}s` : `${first} to ${days[Number(to)]}`;
}
