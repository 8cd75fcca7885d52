/** The storage contract, and code shared by the storage implementations, the API and the dashboard. */
export { EnqueuedJobDetails } from './client/enqueued-job-details.js';
export { mapInSlices } from './client/slices.js';
export { matchesFilter } from './events/event-filter.js';
export { toJsonText } from './job/arguments.js';
export {
  type BatchCounts,
  type BatchState,
  batchState,
  batchStates,
  endOf,
  type NewBatch,
  percentOf,
} from './job/batch.js';
export {
  type Bounds,
  bounds,
  checkInteger,
  checkTime,
  isDelay,
  isName,
  isTime,
  maxCountedAttempts,
  maxKeptAttempts,
  namePattern,
  clamp,
  timeBounds,
} from './job/bounds.js';
export { brand } from '@longshore/edge';
export {
  defaultRedaction,
  ExactNumber,
  isRedacted,
  omitted,
  redact,
  redacted,
  redactedText,
  searchableRedaction,
  type Shown,
} from './job/redaction.js';
export { checkNewJob } from './job/job.js';
export type { Concurrency } from './job/concurrency.js';
export {
  type After,
  unmetConditionError,
  continuationConditions,
  isMet,
  skippedErrorName,
  type ParentEnd,
} from './job/continuation.js';
export { durationBuckets, DurationHistogram } from './job/duration-histogram.js';
export { errorFingerprint } from './job/error-fingerprint.js';
export { type ArgumentProblem, ClaimLostError, KeyHolderHiddenError, ServerLostError } from './job/errors.js';
export { exactNumberOf, isExactNumber, parseExactly } from './job/exact-number.js';
export { toJobError } from './job/failure.js';
export { firstIdOf, IdSource, isId, newId, timeOfId } from './job/id.js';
export {
  type EventSubject,
  type EventTopic,
  eventTopics,
  type JobTimeline,
  keyOf,
  type LogEvent,
  type ProgressEvent,
  type StateEvent,
  stateEventsOf,
  topicOf,
} from './job/job-event.js';
export { checkName } from './job/definition.js';
export type { JobKey } from './job/job-key.js';
export { type LogLevel, logLevels, type LogLine, type NewLogLine, type Progress } from './job/job-log.js';
export type {
  Attempt,
  AttemptOutcome,
  Claim,
  ClaimedJob,
  Completion,
  Due,
  JobDocuments,
  JsonText,
  LostServer,
  NewJob,
  Outcome,
  Queue,
  Server,
  StateCounts,
} from './job/job.js';
export { type JobMeta, readMeta, unreadableMeta } from './job/meta.js';
export * from './job/pause.js';
export { checkQueueLimits, maxTokens, type QueueLimits, type RateLimit } from './job/queue-limits.js';
export { type ServerRequest, type ServerState, serverStates } from './job/server-state.js';
export { finishedStates, type FinishedState, isFinished, jobStates } from './job/state.js';
export * from './job/argument-check.js';
export { type Check, checkOptions, isOptions, nearestName, type OptionNames } from './job/options.js';
export { shown } from './job/shown.js';
export { keepStoredDigits } from './job/stored-digits.js';
export { isTraceparent } from './job/traceparent.js';
export { maxListedTransitions, type Transition, type TransitionReason } from './job/transition.js';
export { conflictPolicies, type JobUniqueness, type Uniqueness, uniqueKey } from './job/uniqueness.js';
export { buildRecurringRun, planFiring, roomFor, type SkippedDueTimes } from './recurring/firing.js';
export type { MisfirePolicy, OverlapPolicy } from './recurring/recurring-job.js';
export { Schedule } from './recurring/schedule.js';
export * from './storage/alerts.js';
export * from './storage/audit-log.js';
export type * from './storage/batches.js';
export * from './storage/bulk-operations.js';
export type * from './storage/claims.js';
export type { Clock } from './job/clock.js';
export * from './storage/completions.js';
export * from './storage/deployments.js';
export * from './storage/saved-searches.js';
export { collectJobs, type Enqueuer, type NewJobs } from './storage/enqueuer.js';
export { checkDocumentedCalls, documentedCalls } from './storage/documented-calls.js';
export * from './storage/error-groups.js';
export {
  checkEditedBytes,
  checkEdits,
  type DecideEdits,
  editableStates,
  type EditOptions,
  type EditResult,
  type JobContent,
} from './storage/job-content.js';
export type * from './storage/job-control.js';
export * from './storage/feed-page.js';
export * from './storage/job-feed.js';
export * from './storage/job-filter.js';
export * from './storage/job-order.js';
export * from './storage/job-reader.js';
export type * from './storage/job-reports.js';
export * from './storage/job-statistics.js';
export {
  hasKeys,
  withoutUncreatedJobs,
  type Holders,
  KeyHeldError,
  type KeyHolder,
  keyName,
  type KeyResolution,
  linkMembers,
  resolveKeys,
} from './storage/key-resolution.js';
export type * from './storage/job-types.js';
export type * from './storage/leases.js';
export type * from './storage/local-server.js';
export type * from './storage/maintenance.js';
export { maxExamined, type Orphan, findOrphans } from './storage/orphan.js';
export * from './storage/notification.js';
export { QueuePollTimers } from './storage/queue-poll-timers.js';
export type * from './storage/queues.js';
export * from './storage/quotas.js';
export {
  checkIncluded,
  holdersToInclude,
  noIncludedHolders,
  type EnqueueResult,
  enqueueResultOf,
} from './storage/enqueue-result.js';
export * from './storage/recurring-jobs.js';
export { idleQueueDays, type RetentionDays, retentionOf } from './storage/retention.js';
export type * from './storage/servers.js';
export * from './storage/set-aside.js';
export { isHandler, isHandlerList } from './server/handler.js';
export { checkDefinition } from './job/definition.js';
export { checkStorage } from './storage/storage.js';
export { outageOf, StorageOutage } from './server/storage-outage.js';
export { TimingBuffer, type TimingCell } from './storage/timing-buffer.js';
export * from './storage/timings.js';
export type { TransactionWork } from './storage/transaction.js';
