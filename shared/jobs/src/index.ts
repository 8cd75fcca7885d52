export { mapInSlices } from './client/slices.js';
export { JobClient, type JobClientOptions } from './client/job-client.js';
export type { JobOrder } from './client/job-order.js';
export { checkNewJob } from './job/job.js';
export type { EnqueuedJob, EnqueueOptions } from './client/enqueue-options.js';
export { HandedOver } from './client/handed-over.js';
export type { EnqueueContext, EnqueueMiddleware } from './client/enqueue-middleware.js';
export { RecurringClient } from './client/recurring-client.js';
export type { AfterOption } from './client/after-option.js';
export type { BatchOrder, EnqueuedBatch } from './client/batch-order.js';
export type * from './job/batch.js';
export { endOf, progressOf } from './job/batch.js';
export * from './job/continuation.js';
export { admits, type EventFilter } from './events/event-filter.js';
export { type EventStream, JobEvents, type JobEventsOptions } from './events/job-events.js';
export type { HeardEvent } from './events/job-listener.js';
export { toJsonText } from './job/arguments.js';
export {
  type Bounds,
  bounds,
  checkTime,
  isTime,
  mostCountedAttempts,
  nearest,
  timeBounds,
} from './job/bounds.js';
export { keepStoredDigits } from './job/stored-digits.js';
export type { Concurrency } from './job/concurrency.js';
export {
  checkMaxAttempts,
  checkName,
  checkPriority,
  checkTimeout,
  type ConcurrencyRule,
  defineJob,
  type JobDefinition,
  type JobDefinitionOptions,
} from './job/definition.js';
export * from './job/errors.js';
export { errorFingerprint, fingerprintLength, variableParts } from './job/error-fingerprint.js';
export { isExactNumber } from './job/exact-number.js';
export { firstIdOf, IdSource, isId, newId } from './job/id.js';
export type { JobKey } from './job/job-key.js';
export type * from './job/job.js';
export * from './job/job-event.js';
export type { ConflictPolicy } from './job/job-key.js';
export type { Uniqueness, UniquenessOptions, UniquenessRule } from './job/uniqueness.js';
export { toJobError } from './job/failure.js';
export { type JobLinks, type JobMeta, readMeta, unreadableMeta } from './job/meta.js';
export { checkQueueLimits, maxTokens, type QueueLimits, type RateLimit } from './job/queue-limits.js';
export { defaultMaxAttempts, defaultRetryDelay, type RetryDelay, type RetryRules } from './job/retry.js';
export type { ErrorClass } from './job/is-a.js';
export type { Middleware } from './job/middleware.js';
export * from './job/server-state.js';
export * from './job/state.js';
export type * from './job/transition.js';
export {
  type JobLog,
  type LogLevel,
  logLevels,
  type LogLine,
  type NewLogLine,
  type Progress,
} from './job/job-log.js';
export { isTraceparent } from './job/traceparent.js';
export { type Firing, jobOf, type PassedOver, planFiring } from './recurring/firing.js';
export {
  defineRecurringJob,
  type MisfirePolicy,
  type NewRecurringJob,
  type OverlapPolicy,
  type RecurringJob,
  type RecurringJobOptions,
  RecurringJobOwnedError,
} from './recurring/recurring-job.js';
export { InvalidScheduleError, nextOccurrences, Schedule } from './recurring/schedule.js';
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
export { type Logger, silentLogger } from './server/logger.js';
export type { JobServerEvents, JobServerListener } from './server/server-events.js';
export type { ServerQueues } from './server/queue-order.js';
export type { JobServerOptions, ServerTimes } from './server/server-options.js';
export type { Clock } from './storage/clock.js';
export { MemoryStorage, type MemoryStorageOptions } from './memory/memory-storage.js';
export * from './storage/audit-log.js';
export type * from './storage/batches.js';
export * from './storage/bulk-operations.js';
export type * from './storage/job-control.js';
export {
  bringsKeys,
  createdOf,
  type Holders,
  type KeyHolder,
  type KeyResolution,
  keyName,
  noHolders,
  KeyHeldError,
  resolveKeys,
} from './storage/key-resolution.js';
export { QueueAlarms } from './storage/queue-alarms.js';
export type * from './storage/recurring-jobs.js';
export type * from './storage/job-feed.js';
export { wordsOf } from './storage/search-words.js';
export * from './storage/job-filter.js';
export type * from './storage/job-reports.js';
export type * from './storage/leases.js';
export { checkEditedBytes, checkEdits, editableStates, type JobContent } from './storage/job-content.js';
export { checkShown, holdersToShow, noneShown, type Receipt, receiptOf } from './storage/receipt.js';
export { idleQueueDays, type RetentionDays, retentionOf } from './storage/retention.js';
export type * from './storage/servers.js';
export type * from './storage/enqueuer.js';
export type * from './storage/claims.js';
export type * from './storage/completions.js';
export type * from './storage/maintenance.js';
export type * from './storage/queues.js';
export type * from './storage/job-reader.js';
export * from './storage/set-aside.js';
export { mostLookedAt, type Orphan, orphansAmong } from './storage/orphan.js';
export * from './storage/error-groups.js';
export * from './storage/job-statistics.js';
export type * from './storage/storage.js';
export type { TransactionClient, WorkWithin } from './storage/transaction.js';
