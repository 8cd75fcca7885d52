/**
 * Everything about storages on one page: the roles that a storage plays, the decisions that all storages share, and the model
 * that both are about. A storage implements `JobStorage` (`./storage/storage.js`) and passes the conformance suite.
 */

// The roles.
export * from './storage/alerts.js';
export * from './storage/audit-log.js';
export * from './storage/batches.js';
export * from './storage/bulk-operations.js';
export * from './storage/claims.js';
export * from './storage/deployments.js';
export * from './storage/documented-calls.js';
export * from './storage/enqueuer.js';
export * from './storage/incidents.js';
export * from './storage/installation.js';
export * from './storage/job-content.js';
export * from './storage/job-control.js';
export * from './storage/job-feed.js';
export * from './storage/job-filter.js';
export * from './storage/job-reader.js';
export * from './storage/job-reports.js';
export * from './storage/job-statistics.js';
export * from './storage/key-resolution.js';
export * from './storage/maintenance.js';
export * from './storage/notification.js';
export * from './storage/pool-status.js';
export * from './storage/queue-synchronization.js';
export * from './storage/queues.js';
export * from './storage/quotas.js';
export type { ReadReplicaStatus } from './storage/read-replica.js';
export * from './storage/recurring-jobs.js';
export * from './storage/saved-searches.js';
export {
  checkWarningRules,
  ruleContent,
  type RuleSynchronization,
  type StoredWarningRule,
  type WarningRule,
  type WarningRules,
} from './storage/warning-rules.js';
export * from './storage/servers.js';
export * from './storage/set-aside.js';
export * from './storage/steps.js';
export * from './storage/storage.js';
export * from './storage/timings.js';
export * from './storage/transaction.js';

// Decisions that do not depend on where jobs are stored.
export { EnqueuedJobDetails } from './client/enqueued-job-details.js';
export { matchesFilter } from './events/event-filter.js';
export * from './job/argument-check.js';
export { isMiddlewareList } from './job/middleware.js';
export {
  type BatchCounts,
  type BatchState,
  batchStates,
  endOf,
  type NewBatch,
  progressOf,
} from './job/batch.js';
export {
  type After,
  unmetConditionError,
  continuationConditions,
  isMet,
  skippedErrorName,
  type ParentEnd,
} from './job/continuation.js';
export { errorFingerprint } from './job/error-fingerprint.js';
export { toJobError } from './job/failure.js';
export {
  changesInCode,
  type QueueInCode,
  type QueuesInCode,
  type QueueSettingsInCode,
  type StoredQueueInCode,
  toQueueInCode,
} from './job/queue-in-code.js';
export { admissible, afterAdmission } from './job/key-rate.js';
export {
  checkQueueLimits,
  maxTokens,
  type QueueLimits,
  type RateLimit,
  readRate,
} from './job/queue-limits.js';
export {
  conflictPolicies,
  type JobUniqueness,
  readUniqueness,
  toUniqueness,
  type Uniqueness,
  uniqueKey,
} from './job/uniqueness.js';
export {
  buildRecurringRun,
  planFiring,
  roomFor,
  type SkippedDueTimes,
  withoutDuplicate,
} from './recurring/firing.js';

// The model.
export { toJsonText } from './job/arguments.js';
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
export type { Clock } from './job/clock.js';
export { checkConcurrency, type Concurrency } from './job/concurrency.js';
export { byJobName, checkDefinition, checkName, namesOf } from './job/definition.js';
export { durationBuckets, DurationHistogram } from './job/duration-histogram.js';
export { type ArgumentProblem, ClaimLostError, KeyHolderHiddenError, ServerLostError } from './job/errors.js';
export {
  type ExactJson,
  ExactNumber,
  isExactNumber,
  keepStoredDigits,
  parseExactly,
} from './job/exact-number.js';
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
export type { JobKey } from './job/job-key.js';
export * from './job/step.js';
export { type LogLevel, logLevels, type LogLine, type NewLogLine, type Progress } from './job/job-log.js';
export {
  type Attempt,
  type AttemptOutcome,
  checkNewJob,
  type Claim,
  type ClaimedJob,
  type Completion,
  type Due,
  type JobDocuments,
  type JsonText,
  type LostServer,
  type NewJob,
  type Outcome,
  type Queue,
  type Server,
  type ServerRequest,
  type ServerState,
  serverStates,
  type StateCounts,
  type SuspendOutcome,
} from './job/job.js';
export { isTraceparent, readTraceId, type JobMeta, readMeta, unreadableMeta } from './job/meta.js';
export { type Check, checkOptions, isOptions, nearestName, type OptionNames } from './job/options.js';
export * from './job/pause.js';
export {
  defaultRedaction,
  isRedacted,
  omitted,
  redact,
  redacted,
  redactedText,
  searchableRedaction,
  type Shown,
} from './job/redaction.js';
export { shown } from './job/shown.js';
export { finishedStates, type FinishedState, isFinished, jobStates, unfinishedStates } from './job/state.js';
export { maxListedTransitions, type Transition, type TransitionReason } from './job/transition.js';
export type { MisfirePolicy, OverlapPolicy } from './recurring/recurring-job.js';
export { intervalPattern } from './recurring/interval-times.js';
export { Schedule, type ScheduleOptions, type StoredSchedule } from './recurring/schedule.js';
export { TimeZone, type WallTime } from './recurring/time-zone.js';
export type { AttemptReader, StoredParent } from './server/attempt-reader.js';
export { contextReads } from './server/context-reads.js';
export { isHandler, isHandlerList } from './server/handler.js';
export { JobSteps, type JobStepsOptions } from './server/steps/job-steps.js';
export { consoleLogger, isLogger } from './server/logger.js';
export { onStopSignal, runSteps } from './server/stop-on-signals.js';
export { outageOf, StorageOutage } from './server/storage-outage.js';
export { brand } from '@longshore/edge';
