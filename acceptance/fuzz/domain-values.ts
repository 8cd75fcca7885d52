import fc from 'fast-check';
import { oddTexts } from './odd-values.js';
import { placeholder } from './placeholder.js';

/** Values that are only meaningful for fields of certain names. */
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

/** Fields that contain the id of another resource, each with the path parameters of the possible resources. */
const references: Readonly<Record<string, readonly string[]>> = {
  queue: ['queueName'],
  queues: ['queueName'],
  parents: ['jobId', 'batchId'],
  parentId: ['jobId', 'batchId'],
  groupIds: ['groupId'],
};

/** Generates ids, schedules or search texts for a field. Returns `undefined` if its name has no special values. */
export function domainValues(name: string): fc.Arbitrary<string> | undefined {
  const listed = byName[name];
  if (listed !== undefined) return fc.constantFrom(...listed);
  const referenced = references[name] ?? (/^[a-z]\w*Id$/.test(name) ? [name] : []);
  if (referenced.length === 0) return undefined;
  return fc
    .tuple(fc.constantFrom(...referenced), fc.nat(1_000))
    .map(([parameter, number]) => placeholder(parameter, number));
}

/** Names of object members, for paths and queries. */
export const memberNames: readonly string[] = ['name', 'waitMs', 'a', '0', 'a.b', ...oddTexts];
