import { shorten } from '@longshore/edge';
import type { ErrorGroup } from '@longshore/jobs/storage';
import { formatCount } from '../format/count.js';
import { confirmPath, jobsPath } from '../search/filters.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';

const HOUR = 3_600_000;
const GROUPS = 100;
const MAX_TEXT = 300;

const spans = [
  { key: '1h', word: '1 hour', ms: HOUR },
  { key: '24h', word: '24 hours', ms: 24 * HOUR },
  { key: '7d', word: '7 days', ms: 7 * 24 * HOUR },
] as const;

export async function errorsPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const { now } = context;
  const { statistics } = context.reader;
  const span = spans.find(({ key }) => key === query.get('since')) ?? spans[1];
  const order = query.get('order') === 'last' ? 'last' : 'jobs';
  return {
    title: 'Errors',
    section: 'errors',
    view: 'errors',
    data: {
      spans: spans.map(({ key, word }) => ({ word, path: `errors?since=${key}`, current: key === span.key })),
    },
    regions: [
      {
        name: 'groups',
        view: 'error-groups',
        everyMs: 5_000,
        load: async () => {
          const { groups, complete } = await statistics.listErrorGroups({ sinceMs: span.ms, limit: GROUPS });
          return {
            groups: (order === 'last' ? groups.toSorted(byLastSeen) : groups).map((group) => ({
              ...groupRow(group, span.key),
              isNew: group.firstSeenAt.getTime() > now() - HOUR,
            })),
            complete,
            word: span.word,
            order,
            sorts: { jobs: `errors?since=${span.key}`, last: `errors?since=${span.key}&order=last` },
          };
        },
      },
    ],
  };
}

function byLastSeen(a: ErrorGroup, b: ErrorGroup): number {
  return b.lastSeenAt.getTime() - a.lastSeenAt.getTime();
}

function groupRow(group: ErrorGroup, since: string): object {
  const {
    name,
    fingerprint,
    message,
    count,
    retryable,
    failedExact,
    waitingExact,
    firstSeenAt,
    lastSeenAt,
    exampleId,
  } = group;
  const alike = [
    { key: 'name', value: name },
    { key: 'fingerprint', value: fingerprint },
  ] as const;
  const failed = { state: 'failed', terms: [...alike, { key: 'finished-after', value: since }] } as const;
  return {
    key: `${name} ${fingerprint}`,
    name,
    kind: shorten(fingerprint.split(': ', 1)[0] ?? '', MAX_TEXT, '…'),
    message: shorten(message.split('\n', 1)[0] ?? '', MAX_TEXT, '…'),
    failed: formatCount({ count: retryable, exact: failedExact }),
    waiting: formatCount({ count: count - retryable, exact: waitingExact || count === retryable }),
    count,
    retryable,
    firstSeenAt,
    lastSeenAt,
    exampleId,
    jobs: jobsPath({ state: null, terms: alike }),
    retry: confirmPath(failed, 'retry'),
  };
}
