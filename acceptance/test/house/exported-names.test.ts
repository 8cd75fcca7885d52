import { expect } from 'chai';
import { readSource } from './house.js';

/**
 * All names that `@longshore/jobs` exports. Names that only storage implementations or tools need belong in
 * `@longshore/jobs/storage`.
 */
const names = `
  AfterOption Batch BatchRequest BoundClient CancelJob ConcurrencyRule ConflictPolicy ContinuationCondition
  DeliveredEvent DuplicateJobError EnqueueContext EnqueueMiddleware EnqueueOptions EnqueueRequest EnqueueRequests EnqueuedBatch
  EnqueuedJob EnqueuedJobs
  EventFilter EventStream FeedFilter FeedPosition IdempotencyConflictError InvalidArgumentsError InvalidScheduleError Job
  JobCancelledError JobClient JobClientOptions JobContext JobDefinition JobDefinitionOptions JobError
  JobEvent JobEvents JobEventsOptions JobHandler JobServer JobServerEvents JobServerOptions JobState
  JobStorage JobTimeoutError JsonValue Logger MemoryStorage MemoryStorageOptions NewRecurringJob
  QueueSettingsInCode QueuesInCode
  QuotaExceededError QuotaLimits ReadTimeoutError RecurringClient RecurringJob RecurringJobOptions RecurringJobOwnedError
  ResultTooLargeError RetryDelay RunJob RunMiddleware RunningJob ServerQueues SnoozeJob
  StorageClosedError StorageUnavailableError ThreadHandler TooManyQueuesError TransactionClient TransactionRows UniquenessRule
  UnknownParentError defineJob defineRecurringJob handleJob nextOccurrences silentLogger
`;

describe('The index of @longshore/jobs', () => {
  it('exports exactly these names', async () => {
    const source = await readSource('shared/jobs/src/index.ts');
    const exported = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
      list.split(',').map((name) => name.replace('type ', '').trim()),
    );
    expect(exported.filter((name) => name !== '').toSorted()).to.deep.equal(names.trim().split(/\s+/));
    expect(source).not.to.match(/^export (type )?\*/m);
  });
});
