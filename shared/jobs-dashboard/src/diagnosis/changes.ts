import { auditDetails, type Kind, kinds, operations } from '@longshore/jobs/operations';
import { type AuditEntry, type Deployment, isId, type TimingQuery } from '@longshore/jobs/storage';
import { countedJobs, formatNumber } from '../format/count.js';
import { isObject, limitsLine } from '../format/limits-line.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { storedFilters } from '../search/filters.js';

/** A queue or a job type; all jobs if both are missing. */
type Subject = Pick<TimingQuery, 'queue' | 'name'>;

/** Something that people or deployments changed, and that can explain a warning or the course of a chart. */
export interface Change {
  readonly at: Date;
  readonly kind: 'deployment' | 'action';
  /** A clause, such as `ann paused queue “mail”`. */
  readonly text: string;
  /** The queues and job types that it is known to concern; `null` if it can concern all of them. */
  readonly subjects: readonly Subject[] | null;
  /** Whether it makes jobs wait, like a pause or a limit. */
  readonly isRestriction: boolean;
}

/** The changes of a period. */
export interface Changes {
  /** Newest first. */
  readonly changes: readonly Change[];
  /** Whether these are all; otherwise, earlier actions are missing. */
  readonly isComplete: boolean;
}

interface Period {
  readonly from: Date;
  readonly until: Date;
}

const MINUTE_MS = 60_000;

/** Changes of this long before a warning began can explain it, in milliseconds. */
const BEFORE_MS = 10 * MINUTE_MS;
/** If the beginning is known to the minute only, a change within that minute can explain it, too. */
const AFTER_MS = MINUTE_MS;
/** Maximum number of audit entries to read, and of changes to name for each warning. */
const MAX_READ = 200;
const MAX_NAMED = 3;

/** The kinds of things whose changes can cause a warning. */
const causing: ReadonlySet<string> = new Set<Kind>([
  'queues',
  'types',
  'recurring',
  'batches',
  'servers',
  'bulk',
]);

/** The operations that make jobs wait. */
const restricting: ReadonlySet<string> = new Set(['pause', 'limit', 'limit-key']);

/** Reads what deployments and people changed in a period. */
export async function readChanges(
  { from, until }: Period,
  { reader }: Pick<ReadingContext, 'reader'>,
): Promise<Changes> {
  const [entries, deployments] = await Promise.all([
    reader.audit.list({ from, until, limit: MAX_READ }),
    reader.deployments.list({ from, until }),
  ]);
  const changes = [...entries.flatMap(changeOf), ...deployments.map(deploymentOf)];
  return {
    changes: changes.toSorted((one, other) => other.at.getTime() - one.at.getTime()),
    isComplete: entries.length < MAX_READ,
  };
}

/** Returns the period in which a change can explain conditions that began at these times, in milliseconds since 1970. */
export function periodBefore(...begins: readonly number[]): Period {
  return {
    from: new Date(Math.min(...begins) - BEFORE_MS),
    until: new Date(Math.max(...begins) + AFTER_MS + 1),
  };
}

/**
 * Returns the changes just before a condition began that can explain it, newest first. The latest deployment is always
 * among them. Of many others, those about the same queue or job type count most, and those that make jobs wait count more
 * than others. Leaves out what is known to concern other things, and what people did after the beginning, which is rather
 * a remedy.
 *
 * @param condition when it began, and the path of its page, such as `queues/mail`
 */
export function changesBefore(
  { since, link }: { readonly since: Date; readonly link: string },
  { changes }: Pick<Changes, 'changes'>,
): Change[] {
  const { from, until } = periodBefore(since.getTime());
  const isToTheMinute = since.getTime() % MINUTE_MS === 0;
  const canExplain = ({ at, kind, isRestriction }: Change): boolean =>
    at >= from && (at <= since || (isToTheMinute && at < until && (kind === 'deployment' || isRestriction)));
  const subject = subjectOfPage(link);
  const possible = changes.filter((change) => canExplain(change) && relevance(change, subject) > 0);
  const deployments = possible.filter(({ kind }) => kind === 'deployment').slice(0, 1);
  const others = possible
    .filter((change) => !deployments.includes(change))
    .toSorted((one, other) => relevance(other, subject) - relevance(one, subject));
  return [...deployments, ...others]
    .slice(0, MAX_NAMED)
    .toSorted((one, other) => other.at.getTime() - one.at.getTime());
}

/** Returns what a page of the dashboard is about; nothing if it is not about a single queue or job type. */
function subjectOfPage(link: string): Subject {
  if (link.startsWith('jobs?')) {
    const filter = new URLSearchParams(link.slice('jobs?'.length));
    const [queue, name] = [filter.get('queue'), filter.get('name')];
    return { ...(queue !== null && { queue }), ...(name !== null && { name }) };
  }
  const [, page, name = ''] = /^(queues|types)\/([^/?#]+)/.exec(link) ?? [];
  if (page === undefined) return {};
  return page === 'queues' ? { queue: decodeURIComponent(name) } : { name: decodeURIComponent(name) };
}

/** Returns how likely a change explains a condition of the subject; 0 if it concerns something else. */
function relevance(change: Change, subject: Subject): number {
  const { subjects, isRestriction } = change;
  if (changesOf(subject, [change]).length > 0) return (subjects === null ? 1 : 3) + Number(isRestriction);
  // The jobs of a type can be in any queue.
  const isOfQueue = subjects?.some(({ queue }) => queue !== undefined) === true;
  return subject.name !== undefined && isOfQueue ? 1 + Number(isRestriction) : 0;
}

/** Returns the changes that concern a queue or a job type, or that can concern all of them. */
export function changesOf({ queue, name }: Subject, changes: readonly Change[]): Change[] {
  if (queue === undefined && name === undefined) return [...changes];
  const isMeant = (subject: Subject): boolean =>
    (subject.queue !== undefined && subject.queue === queue) ||
    (subject.name !== undefined && subject.name === name);
  return changes.filter(({ subjects }) => subjects === null || subjects.some(isMeant));
}

function deploymentOf({ version, at, note }: Deployment): Change {
  const text = `version ${version} was deployed${note === null ? '' : ` (${note})`}`;
  return { at, kind: 'deployment', text, subjects: null, isRestriction: false };
}

function changeOf(entry: AuditEntry): Change[] {
  const [on = '', name = ''] = entry.action.split('/');
  if (!causing.has(on) || auditDetails(entry.filter).outcome !== 'done') return [];
  const text = on === 'bulk' && name !== 'stop' ? bulkText(entry, name) : actionText(entry, on, name);
  if (text === null) return [];
  const isRestriction = restricting.has(name);
  return [{ at: entry.at, kind: 'action', text, subjects: subjectsOf(entry, on, name), isRestriction }];
}

function bulkText({ who, count, filter }: AuditEntry, action: string): string {
  const { counted } = auditDetails(filter);
  const jobs = counted === 'not' ? 'jobs' : countedJobs({ count, exact: counted === 'exactly' });
  return `${who} started to ${action} ${jobs}`;
}

function actionText(entry: AuditEntry, on: string, name: string): string | null {
  const { who, target, action, filter } = entry;
  const operation = operations.find((each) => each.on === on && each.name === name);
  if (operation === undefined) return null;
  const { noun } = kinds[operation.on];
  const which = target === null ? noun : `${noun} ${isId(target) ? target.slice(-8) : `“${target}”`}`;
  if (action === 'queues/limit-key') return keyLimitText(entry, which);
  if (action !== 'queues/limit') return `${who} ${operation.done} ${which}`;
  const { before, values } = auditDetails(filter);
  const limits = limitsLine(before, values);
  return `${who} changed the limits of ${which}${limits === null ? '' : `: ${limits}`}`;
}

function keyLimitText({ who, filter }: AuditEntry, queue: string): string {
  const { values } = auditDetails(filter);
  const { concurrencyKey: key, limit } = isObject(values) ? values : {};
  return typeof key === 'string' && typeof limit === 'number'
    ? `${who} set the limit of key “${key}” of ${queue} to ${formatNumber(limit)}`
    : `${who} set the limit of a key of ${queue}`;
}

/** Returns what an action concerns. A bulk action that names no queue and no job type can concern all of them. */
function subjectsOf({ target, filter }: AuditEntry, on: string, name: string): readonly Subject[] | null {
  if (on === 'queues') return target === null ? [] : [{ queue: target }];
  if (on === 'types') return target === null ? [] : [{ name: target }];
  if (on !== 'bulk' || name === 'stop' || !isObject(filter)) return [];
  const { terms } = storedFilters(filter) ?? { terms: null };
  const { filter: ofApi = null } = filter;
  if (terms === null && !isObject(ofApi)) return []; // selected jobs
  const valuesOf = (key: 'queue' | 'name'): string[] => {
    if (terms !== null) return terms.filter((term) => term.key === key).map(({ value }) => value);
    const values = isObject(ofApi) ? ofApi[key] : null;
    return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
  };
  const subjects = [
    ...valuesOf('queue').map((queue) => ({ queue })),
    ...valuesOf('name').map((type) => ({ name: type })),
  ];
  return subjects.length === 0 ? null : subjects;
}
