import { apiKeyOperations } from './api-keys.js';
import { batchOperations } from './batches.js';
import { bulkOperations } from './bulk-operations.js';
import { deploymentOperations } from './deployments.js';
import { jobEnqueueing } from './enqueueing.js';
import { incidentOperations } from './incidents.js';
import { installationOperations } from './installations.js';
import { jobStepOperations } from './job-steps.js';
import { jobTypeOperations } from './job-types.js';
import { jobOperations, jobSetOperations } from './jobs.js';
import type { Kind, OperationDescription } from './operation-description.js';
import { queueOperations } from './queues.js';
import { recurringJobOperations } from './recurring-jobs.js';
import { savedSearchOperations } from './saved-searches.js';
import { serverOperations } from './servers.js';
import { setAsideOperations } from './set-aside-items.js';

/** The changes that people and programs make to the platform. Every surface is made of these declarations. */
export {
  actionOf,
  type Actor,
  type AuditDetails,
  auditDetails,
  auditEntryOf,
  countOf,
  type Outcome,
  recordedValues,
  refusalOf,
} from './audit-entry.js';
export { ApiKeyFields, apiKeyOperations, apiKeyScopes } from './api-keys.js';
export { batchOperations } from './batches.js';
export { bulkOperations } from './bulk-operations.js';
export { deploymentOperations } from './deployments.js';
export { type JobSelection, jobOperations, jobSetOperations } from './jobs.js';
export { type EditedValues, editOfOne, type JobEdits } from './job-edits.js';
export { jobEnqueueing } from './enqueueing.js';
export { incidentOperations } from './incidents.js';
export { installationOperations } from './installations.js';
export { jobStepOperations } from './job-steps.js';
export { jobTypeOperations } from './job-types.js';
export {
  type Call,
  type CallOptions,
  type OperableStorage,
  type Operation,
  operation,
  type Performed,
} from './operation.js';
export {
  type Facts,
  type Kind,
  kinds,
  type LegalStates,
  type OperationDescription,
} from './operation-description.js';
export { LimitFields, queueOperations, RateLimitFields } from './queues.js';
export {
  type EditedSchedule,
  type RecurringJobEdits,
  recurringJobOperations,
  scheduleOf,
} from './recurring-jobs.js';
export { savedSearchOperations } from './saved-searches.js';
export { serverOperations } from './servers.js';
export { setAsideOperations } from './set-aside-items.js';

/** All operations. */
export const operations: readonly OperationDescription[] = [
  jobOperations,
  { jobEnqueueing },
  jobStepOperations,
  jobSetOperations,
  queueOperations,
  jobTypeOperations,
  recurringJobOperations,
  batchOperations,
  serverOperations,
  bulkOperations,
  setAsideOperations,
  incidentOperations,
  installationOperations,
  savedSearchOperations,
  deploymentOperations,
  apiKeyOperations,
].flatMap((group) => Object.values<OperationDescription>(group));

/** Returns the past participles of the operations that a state allows: `['retried', 'deleted']`. */
export function operationsAllowedIn(on: Kind, state: string): string[] {
  return operations
    .filter((operation) => operation.on === on && operation.states?.from.includes(state) === true)
    .map(({ done }) => done);
}
