import fc from 'fast-check';
import { oddTexts } from './odd-values.js';
import { placeholder } from './placeholder.js';

/** Special values by field name, both valid and invalid. */
const byName: Readonly<Record<string, readonly string[]>> = {
  cron: [
    '* * * * *',
    '* * * * * *',
    '*/2 * * * * *',
    '0 0 29 2 *',
    '0 0 31 2 *',
    '0 0 30 2 1',
    '59 23 31 12 *',
    '0 2 * * 0#5',
    '30 2 29 3 *',
    '@hourly',
    '0 0 L * *',
    '60 * * * *',
    '* * *',
  ],
  every: [
    '1 s',
    '90 s',
    '60s',
    '15 min',
    '1 h 30 min',
    '7 h',
    '366 d',
    '1 w',
    '30 min 1 h',
    '0 s',
    '53 w',
    '1 m',
  ],
  timeZone: [
    'UTC',
    'utc',
    'Europe/Berlin',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Pacific/Apia',
    'Etc/GMT+12',
    '+14:00',
    'Mars/Olympus',
  ],
  q: ['%', 'a b', '"', '-', '\\', "'", 'greet', 'null', '((((', ':*', '&|!'],
};

/** Maps a reference field to the path parameters that take ids of the same kind. */
const references: Readonly<Record<string, readonly string[]>> = {
  queue: ['queueName'],
  queues: ['queueName'],
  parents: ['jobId', 'batchId'],
  parentId: ['jobId', 'batchId'],
  enqueuedBy: ['jobId'],
  groupIds: ['groupId'],
};

/** Returns a generator of special values for a field; `undefined` if the field's name has none. */
export function domainValues(name: string): fc.Arbitrary<string> | undefined {
  const listed = byName[name];
  if (listed !== undefined) return fc.constantFrom(...listed);
  const referenced = references[name] ?? (/^[a-z]\w*Id$/.test(name) ? [name] : []);
  if (referenced.length === 0) return undefined;
  return fc
    .tuple(fc.constantFrom(...referenced), fc.nat(1_000))
    .map(([parameter, number]) => placeholder(parameter, number));
}

/** Member names for query parameters that are objects, such as `waitMs` in `args.waitMs`. */
export const memberNames: readonly string[] = ['name', 'waitMs', 'a', '0', 'a.b', ...oddTexts];
