/**
 * The API for applications: job definitions, handlers, the client, the server and the memory storage. The API for
 * storage implementations and their tools is in `@longshore/jobs/storage`. The package `longshore` exports this module
 * together with the Postgres storage.
 *
 * @module @longshore/jobs
 */
export type { AfterOption } from './client/after-option.js';
export type { BoundClient } from './client/bound-client.js';
export type { BatchRequest, EnqueuedBatch } from './client/batch-request.js';
export type {
  EnqueueContext,
  EnqueueMiddleware,
  EnqueueRequest,
  EnqueueRequests,
} from './client/enqueue-request.js';
export type { EnqueuedJob, EnqueuedJobs, EnqueueOptions } from './client/enqueue-options.js';
export { JobClient, type JobClientOptions } from './client/job-client.js';
export { RecurringClient } from './client/recurring-client.js';
export type { SendSignalOptions, SignalTarget } from './client/send-signal.js';
export type { EventFilter } from './events/event-filter.js';
export { type EventStream, JobEvents, type JobEventsOptions } from './events/job-events.js';
export { QuotaExceededError, type QuotaLimits } from './storage/quotas.js';
export type { DeliveredEvent } from './events/job-listener.js';
export type { FeedFilter, FeedPosition } from './storage/job-feed.js';
export type { Batch } from './job/batch.js';
export type { ContinuationCondition } from './job/continuation.js';
export {
  type ConcurrencyRule,
  defineJob,
  type JobDefinition,
  type JobDefinitionOptions,
} from './job/definition.js';
export {
  CancelJob,
  DuplicateJobError,
  IdempotencyConflictError,
  InvalidArgumentsError,
  JobCancelledError,
  JobTimeoutError,
  ReadTimeoutError,
  ResultTooLargeError,
  SnoozeJob,
  StepFailedError,
  StepTimeoutError,
  StorageClosedError,
  StorageUnavailableError,
  TooManyQueuesError,
  TooManyStepsError,
  TransactionEndedError,
  UnknownParentError,
} from './job/errors.js';
export type { JobEvent } from './job/job-event.js';
export type { Job, JobError, JsonValue } from './job/job.js';
export type { QueuesInCode, QueueSettingsInCode } from './job/queue-in-code.js';
export type { RetryDelay } from './job/retry.js';
export type { JobState } from './job/state.js';
export type { WarningRule } from './storage/warning-rules.js';
export type { ConflictPolicy } from './job/job-key.js';
export type { UniquenessRule } from './job/uniqueness.js';
export { MemoryStorage, type MemoryStorageOptions } from './memory/memory-storage.js';
export {
  defineRecurringJob,
  type NewRecurringJob,
  type RecurringJob,
  RecurringJobOwnedError,
  type RecurringJobOptions,
} from './recurring/recurring-job.js';
export { InvalidScheduleError } from './recurring/invalid-schedule.js';
export { nextOccurrences } from './recurring/schedule.js';
export type { DeletedParent, ParentJob } from './server/attempt-reader.js';
export type { EarlierError, Parent, ParentBatch, ParentOf } from './server/context-reads.js';
export {
  handleJob,
  type JobContext,
  type JobHandler,
  type RunJob,
  type RunMiddleware,
  type RunningJob,
  type ThreadHandler,
} from './server/handler.js';
export { JobServer } from './server/job-server.js';
export { runOnce, type RunOnceOptions, type RunReport } from './server/run-once.js';
export { type Logger, silentLogger } from './server/logger.js';
export type {
  RunningStep,
  StepContext,
  StepOptions,
  TransactionalStep,
  WaitForJobOptions,
} from './server/steps/step-context.js';
export { stopOnSignals } from './server/stop-on-signals.js';
export type { ServerQueues } from './server/queue-order.js';
export type { JobServerEvents } from './server/server-events.js';
export type { JobServerOptions } from './server/server-options.js';
export type { JobStorage } from './storage/storage.js';
export type { TransactionClient, TransactionRows } from './storage/transaction.js';
