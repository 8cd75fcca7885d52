import { isBoolean } from '../job/argument-check.js';
import { checkName } from '../job/definition.js';
import type { Queue } from '../job/job.js';
import { checkOptions, isOptions, type OptionNames } from '../job/options.js';
import type { QueueSettingsInCode, QueuesInCode, StoredQueueInCode } from '../job/queue-in-code.js';
import { shown } from '../job/shown.js';
import { checkQueueLimits } from '../job/queue-limits.js';
import type { NewAuditEntry } from './audit-log.js';

/** The result of `Queues.synchronize`: the names of queues. */
export interface QueueSynchronization {
  /** The queues whose settings were changed. */
  readonly changed: string[];
  /** The queues with settings that operators have changed since the code last did. */
  readonly differing: string[];
  /** The queues whose settings another application defines. Nothing changed. */
  readonly refused: string[];
}

const settingsInCode: OptionNames<QueueSettingsInCode> = {
  concurrencyLimit: true,
  rateLimit: true,
  paused: isBoolean,
};

/**
 * Checks the settings of queues and fills in defaults.
 *
 * @throws {RangeError} if the name of a queue is invalid or a limit is out of bounds
 * @throws {TypeError} if a setting is unknown or of the wrong kind
 */
export function checkQueuesInCode(
  where: string,
  application: string,
  queues: QueuesInCode,
): Map<string, StoredQueueInCode> {
  if (!isOptions(queues))
    throw new TypeError(
      `${where} must be settings by the names of queues, such as { mail: { concurrencyLimit: 5 } }, not ${shown(queues)}`,
    );
  const checked = new Map<string, StoredQueueInCode>();
  for (const [name, settings] of Object.entries(queues)) {
    checkName('queue', name);
    checkOptions(`${where}: the queue "${name}"`, settings, settingsInCode);
    const { paused, ...limits } = settings;
    checked.set(name, { application, ...checkQueueLimits(limits), ...(paused !== undefined && { paused }) });
  }
  return checked;
}

/** Returns the audit entries of a change that `Queues.synchronize` makes to the queue `target`. */
export function auditOfCode(
  application: string,
  target: string,
  { paused, concurrencyLimit, rateLimit }: QueueSettingsInCode,
  before: Pick<Queue, 'concurrencyLimit' | 'rateLimit'>,
): NewAuditEntry[] {
  const entry = { who: application, target, count: 1, reason: 'Set in the code of the application' };
  const pause = { ...entry, action: paused === true ? 'queues/pause' : 'queues/resume', filter: null };
  const limits = {
    values: {
      ...(concurrencyLimit !== undefined && { concurrencyLimit }),
      ...(rateLimit !== undefined && { rateLimit: rateLimit && { ...rateLimit } }),
    },
    before: {
      concurrencyLimit: before.concurrencyLimit,
      rateLimit: before.rateLimit && { ...before.rateLimit },
    },
  };
  return [
    ...(paused === undefined ? [] : [pause]),
    ...(Object.keys(limits.values).length === 0
      ? []
      : [{ ...entry, action: 'queues/limit', filter: limits }]),
  ];
}
