import {
  hasMembers,
  hasOptions,
  isBoolean,
  isDate,
  isDuration,
  isFunction,
  isIdText,
  isInteger,
  isJobName,
  isListOf,
  isOneOf,
  isQueueName,
  isSignal,
  isSize,
  isStorableTime,
  isString,
  isText,
  isTransaction,
  maybe,
  orNull,
} from '../job/argument-check.js';
import type { Check, OptionNames } from '../job/options.js';
import type { RateLimit } from '../job/queue-limits.js';
import { batchStates } from '../job/batch.js';
import { bounds } from '../job/bounds.js';
import type { BatchFilter, BatchListQuery } from './batches.js';
import type { BulkListQuery, ChangedJobsQuery } from './bulk-operations.js';
import type { ErrorGroupQuery, ThroughputQuery } from './job-statistics.js';
import type { CancelOptions, RetriedContent, RetryOptions } from './job-control.js';
import { checkFilter, isJobOrder, type JobFilter } from './job-filter.js';
import type * as reader from './job-reader.js';
import type { LogQuery } from './job-reports.js';
import type { PauseQueueOptions, QueueControlOptions, QueueSettings } from './queues.js';
import type { JobStorage } from './storage.js';
import type { HistoryQuery, NameTimingQuery, TimingQuery } from './timings.js';

/** The checks of a method's parameters, in order, by name. */
type Parameters = Readonly<Record<string, Check>>;

type DocumentedCalls = {
  readonly [Role in keyof JobStorage]?: { readonly [Method in keyof JobStorage[Role]]?: Parameters };
};

const isJobFilter: Check = (_, filter) => checkFilter(filter as JobFilter);

const transaction = maybe(isTransaction);
const isCount = isInteger();

/** The options of an action. Longshore's operations pass all of them to each call, which uses those that it needs. */
const action: OptionNames<CancelOptions & Pick<RetryOptions, 'visibleQueues'>> = {
  reason: orNull(isText),
  transaction: isTransaction,
  audit: isFunction,
  check: isFunction,
  visibleQueues: orNull(isListOf(isText)),
};
const queueControl: OptionNames<QueueControlOptions<unknown>> = {
  ...action,
  // The settings that the caller saw can be those of a whole queue.
  seen: hasMembers<QueueSettings>({
    pausedAt: orNull(isDate),
    concurrencyLimit: orNull(isCount),
    rateLimit: orNull(hasMembers<RateLimit>({ jobs: isCount, periodMs: isCount })),
  }),
};

const page: OptionNames<BulkListQuery> = {
  order: isOneOf(['newest', 'oldest']),
  limit: isCount,
  offset: isCount,
  after: isIdText,
};
const jobList: OptionNames<reader.JobListQuery> = { ...page, filter: isJobFilter };

const isBatchFilter = hasOptions<BatchFilter>({
  state: isListOf(isOneOf(batchStates)),
  name: isListOf(isText),
  createdAfter: isStorableTime,
  createdBefore: isStorableTime,
  finishedAfter: isStorableTime,
  finishedBefore: isStorableTime,
});

const actionOptions = maybe(hasOptions(action));
const queueOptions = maybe(hasOptions(queueControl));
const pageQuery = hasOptions(page, ['limit']);

/**
 * The methods of a storage that the documentation shows to applications, with the checks of their parameters. The others
 * are called by Longshore's own packages only, which the compiler checks.
 */
export const documentedCalls: DocumentedCalls = {
  jobs: {
    find: { id: isString, transaction },
    list: { query: hasOptions(jobList, ['limit']) },
    listSorted: {
      query: hasOptions<reader.SortedJobsQuery>(
        {
          filter: isJobFilter,
          order: isJobOrder,
          reversed: isBoolean,
          limit: isCount,
          offset: isCount,
          after: isListOf(() => undefined),
          documents: isBoolean,
          maxBytes: isSize,
          signal: isSignal,
        },
        ['order', 'limit', 'maxBytes'],
      ),
    },
    count: { filter: maybe(isJobFilter), signal: maybe(isSignal) },
    countByState: { filter: maybe(isJobFilter) },
    search: {
      query: hasOptions<reader.JobSearchQuery>(
        {
          ...jobList,
          order: isOneOf(['best', 'newest', 'oldest']),
          documents: isBoolean,
          maxBytes: isSize,
          signal: isSignal,
        },
        ['filter', 'limit', 'maxBytes'],
      ),
    },
    listAttempts: { jobId: isString },
    listContinuations: {
      id: isString,
      page: maybe(
        hasOptions<reader.ContinuationPage>({ limit: isCount, after: isIdText, documents: isBoolean }),
      ),
    },
    listLatestFailed: {
      query: hasOptions<reader.LatestFailedQuery>(
        {
          queue: isText,
          after: hasOptions<reader.FailurePosition>({ id: isString, failedAt: isDate }, ['id', 'failedAt']),
          limit: isCount,
        },
        ['limit'],
      ),
    },
  },
  control: {
    cancel: { id: isString, options: actionOptions },
    retry: {
      id: isString,
      options: maybe(
        hasOptions<RetryOptions>({
          ...action,
          dependents: isBoolean,
          ignoreDependencies: isBoolean,
          content: hasOptions<RetriedContent>({
            queue: isQueueName,
            priority: isInteger(bounds.priority),
            args: isString,
          }),
        }),
      ),
    },
    run: { id: isString, options: actionOptions },
    reschedule: { id: isString, runAt: isStorableTime, options: actionOptions },
    rename: { id: isString, toName: isJobName, options: actionOptions },
    delete: { id: isString, options: actionOptions },
  },
  queues: {
    find: { name: isString, transaction },
    listBlockingKeys: { queue: maybe(isString) },
    pause: {
      name: isQueueName,
      options: maybe(
        hasOptions<PauseQueueOptions>({ ...queueControl, by: orNull(isString), reason: true, until: true }),
      ),
    },
    resume: { name: isQueueName, options: queueOptions },
    create: { name: isQueueName, limits: () => undefined, options: actionOptions },
    limit: { name: isQueueName, limits: () => undefined, options: queueOptions },
    limitKey: { name: isText, key: isString, limit: () => undefined, options: actionOptions },
    delete: { name: isText, options: queueOptions },
  },
  batches: {
    find: { id: isString, transaction },
    list: { query: hasOptions<BatchListQuery>({ ...page, filter: isBatchFilter }, ['limit']) },
    count: { filter: maybe(isBatchFilter) },
    cancel: { id: isString, options: actionOptions },
  },
  bulk: {
    start: { request: () => undefined, options: actionOptions },
    find: { id: isString },
    list: { query: pageQuery },
    listChanged: {
      id: isString,
      query: hasOptions<ChangedJobsQuery>(
        { order: isOneOf(['newest', 'oldest']), limit: isCount, after: isIdText },
        ['limit'],
      ),
    },
    cancel: { id: isString, options: actionOptions },
  },
  reports: {
    listLogs: {
      jobId: isString,
      query: maybe(
        hasOptions<LogQuery>({ attempt: isCount, after: isString, limit: isCount, offset: isCount }),
      ),
    },
    listTransitions: { jobId: isString, limit: maybe(isInteger({ min: 2, max: 2_147_483_647 })) },
  },
  statistics: {
    listErrorGroups: {
      query: hasOptions<ErrorGroupQuery>({ sinceMs: isDuration, limit: isCount, bucketMs: isDuration }, [
        'sinceMs',
      ]),
    },
    throughput: {
      query: hasOptions<ThroughputQuery>({ sinceMs: isDuration, bucketMs: isDuration, queue: isText }, [
        'sinceMs',
        'bucketMs',
      ]),
    },
  },
  timings: {
    read: {
      query: hasOptions<TimingQuery>(
        { from: isDate, until: isDate, bucketMs: isDuration, queue: isText, name: isText },
        ['from', 'until', 'bucketMs'],
      ),
    },
    listNames: {
      query: hasOptions<NameTimingQuery>({ queue: isText, sinceMs: isDuration, limit: isCount }, [
        'sinceMs',
        'limit',
      ]),
    },
    readHistories: {
      query: hasOptions<HistoryQuery>({ queue: isText, names: isListOf(isText) }, ['names']),
    },
  },
  recurring: {
    find: { id: isText },
    remove: { id: isText },
    trigger: { id: isText },
    pause: { id: isText },
    resume: { id: isText },
  },
};

type Method = (...args: unknown[]) => unknown;

/**
 * Makes the {@link documentedCalls} of a storage check what they are given before they do anything. They reject with a
 * TypeError or a RangeError that states what was given and what is wanted.
 */
export function checkDocumentedCalls(storage: Pick<JobStorage, keyof typeof documentedCalls>): void {
  for (const [role, methods] of Object.entries(documentedCalls)) {
    const target = storage[role as keyof typeof storage] as unknown as Record<string, Method>;
    for (const [name, parameters] of Object.entries<Parameters>(methods)) {
      const method = target[name];
      if (method === undefined) continue;
      const checks = Object.entries(parameters).map(
        ([parameter, check]) => [`${role}.${name}: ${parameter}`, check] as const,
      );
      const checked: Method = (...args) => {
        try {
          for (const [index, [what, check]] of checks.entries()) check(what, args[index]);
        } catch (error) {
          return refused(error);
        }
        return Reflect.apply(method, target, args);
      };
      Object.defineProperty(target, name, { value: checked, configurable: true, writable: true });
    }
  }
}

async function refused(error: unknown): Promise<never> {
  throw error;
}
