/**
 * Helpers for testing an application's jobs, with any test runner.
 *
 * @module @longshore/testing
 */
export { drain, type DrainOptions, type DrainReport } from './drain.js';
export { assertEnqueued, enqueuedJobs, type EnqueuedFilter, refuteEnqueued } from './enqueued-jobs.js';
export { type JobRun, runJob, type RunJobOptions } from './run-job.js';
export type { SentSignal } from './test-client.js';
export type { TestBatch, TestJob } from './test-reader.js';
export { TestClock } from './test-clock.js';
export { TestJobs, type TestJobsOptions } from './test-jobs.js';
export { inTestTransaction, type Query, TestTransaction } from './test-transaction.js';
