import { isFinished, type JobFilter, type JobState } from '@longshore/jobs';
import type { Statement } from '../connection/statement.js';
import type { HoldingRow } from './counters.sql.js';
import { type Bind, conditionsOf, type JobConditions, oneOf, statesOf } from './job-conditions.sql.js';

/** A query with its values. */
export interface Query extends Statement {
  readonly values: unknown[];
}

/**
 * The query with the values that its text uses, and no others: Postgres refuses a value that it is given in vain, and which ones a
 * search uses depends on the states that it looks in.
 */
export function queryOf(text: string, values: readonly unknown[]): Query {
  const places = [...new Set(text.match(/\$\d+/g))];
  const kept = places.map((place) => values[Number(place.slice(1)) - 1]);
  const place = (old: string): string => `$${places.indexOf(old) + 1}`;
  return { text: text.replaceAll(/\$\d+/g, place), values: kept };
}

/** Queues, by their ids in an array of Postgres, and how many jobs they hold. */
export type Holding = Pick<HoldingRow, 'queues' | 'jobs' | 'ids'>;

export const holdsNone: Holding = { queues: 0, jobs: 0, ids: '{}' };

export interface SearchScope {
  readonly filter: JobFilter;
  /** By the database's clock. */
  readonly now: Date;
  /** Of the queues that the filter names; `undefined`: all. */
  readonly queueIds: readonly number[] | undefined;
  /** The queues that hold jobs in a state which is not that of finished ones: it is looked for in no others. */
  readonly holding: (state: JobState) => Holding;
}

export interface ListRequest extends SearchScope {
  readonly newestFirst: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly after: string | undefined;
}

/** A search on its way into SQL: what is asked of every row, and the places of its values. */
export interface JobSearch extends SearchScope {
  readonly conditions: JobConditions;
  /** Bounds of the id besides those of the filter. */
  readonly after: readonly string[];
  readonly newestFirst: boolean;
  /** By id. */
  readonly order: string;
  /** How many rows are wanted, those to pass over included. */
  readonly limit: string;
  /** Whether the first ones in that order are wanted, or any. */
  readonly sorted: boolean;
  /** What is asked of rows of history besides bounds of the id. */
  readonly ofHistory: () => readonly string[];
  readonly bind: Bind;
}

/** @param values of the query, to which it adds */
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

/** The states in which there can be jobs that match. */
export function occupiedStates({ filter, queueIds, holding }: SearchScope): readonly JobState[] {
  if (queueIds?.length === 0) return [];
  return statesOf(filter).filter((state) => isFinished(state) || holding(state).queues > 0);
}

/** Whether words are sought, which may be anywhere, where no index leads: they are looked for among the nearest jobs only. */
export function isText({ q }: JobFilter): boolean {
  return q !== undefined && q.trim() !== '';
}

export function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

export function united(parts: readonly string[]): string {
  return parts.map((part) => `(${part})`).join(' union all ');
}
