import { type JobFilter, type JobOrder, jobOrderMembers } from '@longshore/jobs/storage';
import type { Distribution } from '../../src/connection/statement.js';
import { countJobs, countJobsByState, listJobs, listNearJobs } from '../../src/read/list-jobs.sql.js';
import { searchFailures, selectLastFailures } from '../../src/read/failures.sql.js';
import { sortedJobs } from '../../src/read/sorted-jobs.sql.js';
import type { Query, SearchScope } from '../../src/search/job-search.sql.js';
import { selectLastSearched } from '../../src/search/search-history.sql.js';
import { searchTexts, textsToSearch } from '../../src/search/text-search.js';

/** A query that is built for each request, and what it was built for, such as `count: tag, few`. */
type Built = readonly [shape: string, query: Query | undefined];

/** The time and the id that the queries are about. */
export const searchedTime = new Date('2026-11-20T12:00:00Z');
export const searchedId = '01890000-0000-7000-8000-000000000000';

const now = searchedTime;
const id = searchedId;

/** A filter for each way in which a search differs. */
const filters: Readonly<Record<string, JobFilter>> = {
  nothing: {},
  queue: { queue: ['mail'] },
  name: { name: ['work'] },
  id: { id: [id] },
  tag: { tag: ['blue'] },
  key: { concurrencyKey: ['one'], parentId: [id], enqueuedBy: [id] },
  server: { serverId: [id], startedAfter: now },
  finished: { state: ['done', 'failed', 'cancelled'], finishedAfter: now, finishedBefore: now },
  due: { state: ['scheduled', 'awaiting'], dueAfter: now },
  arguments: { args: [{ path: ['customer', 'id'], values: [7] }], redact: 'password' },
  error: { error: ['timeout'], errorFingerprint: ['abc'] },
  words: { q: 'two words', name: ['work'] },
};

/** Searches read the queues one by one if these are few, and together if they are many. */
const loads = {
  few: { queues: 2, jobs: 9, most: 5, ids: '{1,2}' },
  many: { queues: 1_000, jobs: 100_000, most: 50_000, ids: '{1,2,3}' },
};

const places = [undefined, id];
const documents = ['all', 'small', 'brief', 'none'] as const;
const ways = [
  { descending: true, reversed: false },
  { descending: true, reversed: true },
];

/** Builds the lists, counts and searches of every shape for a database. */
export function* builtQueries(distribution: Distribution): Generator<Built> {
  for (const [filtered, filter] of Object.entries(filters))
    for (const [loaded, load] of Object.entries(loads)) {
      const queueIds = filter.queue === undefined ? undefined : [1, 2];
      const scope = { filter, now, queueIds, holding: () => load, distribution };
      for (const [shape, query] of queriesOf(scope)) yield [`${shape}: ${filtered}, ${loaded}`, query];
    }
}

function* queriesOf(scope: SearchScope): Generator<Built> {
  yield ['count', countJobs(scope, 100)];
  yield ['count by state', countJobsByState(scope, 100)];
  yield ['texts to search', textsToSearch(scope)];
  for (const after of places) {
    yield* listsOf(scope, after);
    yield* searchesOf(scope, after);
    yield* failuresOf(scope, after);
    for (const by of jobOrderMembers) yield* sortedBy(by, scope, after);
  }
}

function* listsOf(scope: SearchScope, after: string | undefined): Generator<Built> {
  for (const newestFirst of [true, false]) {
    const page = { ...scope, newestFirst, limit: 20, offset: 40, after };
    const from = `${newestFirst ? 'newest' : 'oldest'} after ${after}`;
    yield [`searched range, ${from}`, selectLastSearched(page)];
    for (const shown of documents) {
      yield [`list, ${from}, ${shown}`, listJobs(page, shown)];
      yield [`near list, ${from}, ${shown}`, listNearJobs(page, shown)];
    }
  }
}

function* searchesOf(scope: SearchScope, after: string | undefined): Generator<Built> {
  const words = [
    [
      { text: 'word', typos: 0 },
      { text: 'ward', typos: 1 },
    ],
  ];
  for (const order of ['best', 'newest', 'oldest'] as const) {
    const query = searchTexts({ ...scope, words, order, limit: 20, offset: 0, after });
    yield [`search, ${order} after ${after}`, query];
  }
}

function* failuresOf(scope: SearchScope, after: string | undefined): Generator<Built> {
  const place = after === undefined ? {} : { after: { id: after, failedAt: now } };
  const search = { ...scope, limit: 20, maxExamined: 1_000, ...place };
  yield [`failures after ${after}`, searchFailures(search)];
  yield [`last failures after ${after}`, selectLastFailures(search)];
}

function* sortedBy(
  by: JobOrder[number]['by'],
  scope: SearchScope,
  after: string | undefined,
): Generator<Built> {
  const values = { id, priority: 3, concurrencyKey: 'key' };
  for (const { descending, reversed } of ways)
    for (const value of after === undefined
      ? [undefined]
      : [Object.entries(values).find(([member]) => member === by)?.[1] ?? now.toISOString(), null]) {
      const order: JobOrder =
        by === 'id'
          ? [{ by, descending }]
          : [
              { by, descending },
              { by: 'id', descending },
            ];
      const place = value === undefined ? undefined : by === 'id' ? [id] : [value, id];
      const shape = `by ${by}${descending ? ' descending' : ''}${reversed ? ' reversed' : ''} from ${value}`;
      yield [shape, sortedJobs({ ...scope, order, reversed, limit: 20, offset: 0, after: place })];
    }
}
