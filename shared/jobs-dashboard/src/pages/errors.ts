import { shorten } from '@longshore/edge';
import { type Deployment, type ErrorGroup, type Incident, isMuted } from '@longshore/jobs/storage';
import { sparklineOf } from '../format/chart.js';
import { formatCount } from '../format/count.js';
import { failureCause, newErrorCause } from '../diagnosis/failures.js';
import { confirmPath, jobsPath } from '../search/filters.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';

const HOUR = 3_600_000;
const GROUPS = 100;
const MAX_TEXT = 300;
/** Maximum number of active warnings to look for those about errors. */
const MAX_INCIDENTS = 200;

const spans = [
  { key: '1h', word: '1 hour', ms: HOUR, bucketMs: HOUR / 20 },
  { key: '24h', word: '24 hours', ms: 24 * HOUR, bucketMs: HOUR },
  { key: '7d', word: '7 days', ms: 7 * 24 * HOUR, bucketMs: 6 * HOUR },
] as const;

/** The errors of the last 24 hours, as this page reads them by default. Other pages share the cached result. */
export const errorsOfDay = { sinceMs: spans[1].ms, limit: GROUPS, bucketMs: spans[1].bucketMs } as const;

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
          const [{ groups, complete }, deployments, incidents] = await Promise.all([
            statistics.listErrorGroups({ sinceMs: span.ms, limit: GROUPS, bucketMs: span.bucketMs }),
            context.reader.deployments.list(),
            context.reader.incidents.list({ isActive: true, limit: MAX_INCIDENTS }),
          ]);
          const warnings = new Map(incidents.map((incident) => [incident.key, incident]));
          const rows = (order === 'last' ? groups.toSorted(byLastSeen) : groups).map((group) => ({
            ...groupRow(group, span.key),
            isNew: group.firstSeenAt.getTime() > now() - HOUR,
            version: latestBefore(group.firstSeenAt, deployments)?.version ?? null,
            incident: warningOf(group, warnings, now()),
          }));
          return {
            // Errors whose warning is muted come last.
            groups: [
              ...rows.filter((row) => !row.incident?.isMuted),
              ...rows.filter((row) => row.incident?.isMuted),
            ],
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

/** Returns the latest deployment before a time. @param deployments newest first */
function latestBefore(at: Date, deployments: readonly Deployment[]): Deployment | undefined {
  return deployments.find((deployment) => deployment.at <= at);
}

/** Returns the active warning about an error: that it is new or else that the jobs of its type fail; `null` if none. */
function warningOf(
  { name, fingerprint }: ErrorGroup,
  warnings: ReadonlyMap<string, Incident>,
  nowMs: number,
): (Omit<Incident, 'seenAt'> & { readonly isMuted: boolean }) | null {
  const incident = warnings.get(newErrorCause(name, fingerprint)) ?? warnings.get(failureCause(name));
  if (incident === undefined) return null;
  const { seenAt: _changesWithEachCheck, ...shown } = incident;
  return { ...shown, isMuted: isMuted(incident, new Date(nowMs)) };
}

function byLastSeen(a: ErrorGroup, b: ErrorGroup): number {
  return b.lastSeenAt.getTime() - a.lastSeenAt.getTime();
}

function groupRow(group: ErrorGroup, since: string) {
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
    course,
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
    failedJobs: jobsPath(failed),
    // Can contain more jobs: no filter selects by when the latest attempt failed.
    retryingJobs: jobsPath({ state: 'scheduled', terms: alike }),
    course: sparklineOf(course.map(({ at, jobs }) => ({ at, done: jobs, failed: 0 }))),
    courseExact: course.every(({ exact }) => exact),
    retry: confirmPath(failed, 'retry'),
    delete: confirmPath(failed, 'delete'),
  };
}
