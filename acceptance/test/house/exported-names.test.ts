import { expect } from 'chai';
import { readSource } from './house.js';

/**
 * All names that `@longshore/jobs` exports. Names that only storage implementations or tools need belong in
 * `@longshore/jobs/storage`.
 */
const names = `
  AfterOption Batch BatchRequest BoundClient CancelJob ConcurrencyRule ConflictPolicy ContinuationCondition
  DeletedParent DeliveredEvent DuplicateJobError EarlierError EnqueueContext EnqueueMiddleware EnqueueOptions
  EnqueueRequest EnqueueRequests EnqueuedBatch EnqueuedJob EnqueuedJobs EventFilter EventStream FeedFilter
  FeedPosition IdempotencyConflictError InvalidArgumentsError InvalidScheduleError Job JobCancelledError JobClient
  JobClientOptions JobContext JobDefinition JobDefinitionOptions JobError JobEvent JobEvents JobEventsOptions
  JobHandler JobServer JobServerEvents JobServerOptions JobState JobStorage JobTimeoutError JsonValue Logger
  MemoryStorage MemoryStorageOptions NewRecurringJob Parent ParentBatch ParentJob ParentOf QueueSettingsInCode
  QueuesInCode QuotaExceededError QuotaLimits ReadTimeoutError RecurringClient RecurringJob RecurringJobOptions
  RecurringJobOwnedError ResultTooLargeError RetryDelay RunJob RunMiddleware RunOnceOptions RunReport RunningJob
  RunningStep SendSignalOptions ServerQueues SignalTarget SnoozeJob StepContext StepFailedError StepOptions
  StepTimeoutError StorageClosedError StorageUnavailableError ThreadHandler TooManyQueuesError TooManyStepsError TransactionClient
  TransactionEndedError TransactionRows TransactionalStep UniquenessRule UnknownParentError WaitForJobOptions WarningRule defineJob defineRecurringJob
  handleJob nextOccurrences runOnce silentLogger stopOnSignals
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
