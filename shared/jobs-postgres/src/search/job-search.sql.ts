import type { JobState } from '@longshore/jobs';
import { isFinished, type JobFilter } from '@longshore/jobs/storage';
import { type Distribution, type Statement, unnamed } from '../connection/statement.js';
import type { HoldingRow } from '../queues/counters.js';
import { type Bind, conditionsOf, type JobConditions, oneOf, statesOf } from '../jobs/job-conditions.sql.js';

export interface Query extends Statement {
  readonly values: unknown[];
}

/**
 * Builds a query from an SQL text. Keeps only the parameters that the text uses, and renumbers them, because Postgres
 * rejects unused parameters.
 */
export function queryOf(text: string, values: readonly unknown[]): Query {
  const parameters = [...new Set(text.match(/\$\d+/g))];
  const kept = parameters.map((parameter) => values[Number(parameter.slice(1)) - 1]);
  const renumbered = (old: string): string => `$${parameters.indexOf(old) + 1}`;
  return { ...unnamed(text.replaceAll(/\$\d+/g, renumbered)), values: kept };
}

/** A query that returns no rows. */
export const nothing: Query = { ...unnamed('select where false'), values: [] };

/** The queues with jobs in one state, and the number of these jobs. */
export type QueuesWithJobs = Pick<HoldingRow, 'queues' | 'jobs' | 'most' | 'ids'>;

export const noQueues: QueuesWithJobs = { queues: 0, jobs: 0, most: 0, ids: '{}' };

export interface SearchScope {
  readonly filter: JobFilter;
  /** The current time, by the database's clock. */
  readonly now: Date;
  /** Ids of the queues that the filter names; `undefined` if it names none and therefore applies to all. */
  readonly queueIds: readonly number[] | undefined;
  /** Returns the queues that have jobs in the given unfinished state. Other queues are not searched for that state. */
  readonly holding: (state: JobState) => QueuesWithJobs;
  /** The database that the query is built for. */
  readonly distribution: Distribution;
}

export interface ListRequest extends SearchScope {
  readonly newestFirst: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly after: string | undefined;
}

/** A search request with bound parameters. */
export interface JobSearch extends SearchScope {
  readonly conditions: JobConditions;
  /** The condition that continues a list after a job; empty for the start of the list. */
  readonly after: readonly string[];
  readonly newestFirst: boolean;
  /** The `order by` clause: by id, descending if `newestFirst`. */
  readonly order: string;
  /** SQL expression for the number of rows to read, including those that the offset skips. */
  readonly limit: string;
  /** Whether the search must return the first rows in this order. If not, any matching rows will do. */
  readonly sorted: boolean;
  /** Returns the conditions on history rows, except those on the id. */
  readonly ofHistory: () => readonly string[];
  readonly bind: Bind;
}

/**
 * Binds the parameters of a search.
 *
 * @param values the query's parameters; the parameters of the search are appended to them
 * @param sorted see {@link JobSearch.sorted}
 */
export function searchOf(request: ListRequest, values: unknown[], sorted = true): JobSearch {
  const { newestFirst, limit, offset, after, filter } = request;
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions = conditionsOf(filter, bind);
  let ofHistory: string[] | undefined;
  return {
    ...request,
    conditions,
    ofHistory: () => (ofHistory ??= historyConditions(conditions, request.queueIds, bind)),
    after: after === undefined ? [] : [`id ${newestFirst ? '<' : '>'} ${bind(after)}::uuid`],
    order: `order by id ${newestFirst ? 'desc' : 'asc'}`,
    limit: `${bind(limit + offset)}::bigint`,
    sorted,
    bind,
  };
}

function historyConditions(
  { rows, error, claimed, finished }: JobConditions,
  queueIds: readonly number[] | undefined,
  bind: Bind,
): string[] {
  const queues = queueIds === undefined ? [] : [oneOf('queue_id', queueIds, 'integer', bind)];
  return [...queues, ...rows, ...error('error'), ...claimed, ...finished];
}

/** Returns the states in which matching jobs can exist. Omits unfinished states in which the queues have no jobs. */
export function occupiedStates({ filter, queueIds, holding }: SearchScope): readonly JobState[] {
  if (queueIds?.length === 0) return [];
  return statesOf(filter).filter((state) => isFinished(state) || holding(state).queues > 0);
}

/**
 * Returns whether the filter searches for words. Such a search covers only the first jobs in the order of the list,
 * because no index supports a search for words.
 */
export function isText({ q }: JobFilter): boolean {
  return q !== undefined && q.trim() !== '';
}

export function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

export function united(parts: readonly string[]): string {
  return parts.map((part) => `(${part})`).join(' union all ');
}
