import { isDeepStrictEqual } from 'node:util';
import type { PauseState } from './pause.js';
import type { CheckedLimits, QueueLimits, RateLimit } from './queue-limits.js';

/** The settings of a queue that an application defines in code. Absent ones are left to operators. */
export interface QueueSettingsInCode extends QueueLimits {
  /** Whether the queue is paused. */
  readonly paused?: boolean;
}

/** The settings of queues in code, by the names of the queues. */
export type QueuesInCode = Readonly<Record<string, QueueSettingsInCode>>;

/** Checked settings in code, and the application that defines them, as they are stored. */
export interface StoredQueueInCode extends CheckedLimits {
  readonly application: string;
  readonly paused?: boolean;
}

const settingNames = ['concurrencyLimit', 'rateLimit', 'paused'] as const;

export type QueueSettingName = (typeof settingNames)[number];

/** What code says about a queue, next to what applies. */
export interface QueueInCode extends StoredQueueInCode {
  /** The settings that operators have changed since. They stay until the code changes. */
  readonly differs: readonly QueueSettingName[];
}

/** The settings that apply to a queue. */
interface Applied extends Pick<PauseState, 'pausedAt'> {
  readonly concurrencyLimit: number | null;
  readonly rateLimit: Required<RateLimit> | null;
}

/**
 * Returns the settings to apply when an application's code changes from `before` to `after` (`null` if it defines none): those
 * whose definition has changed. A setting that is no longer defined returns to its default, unless operators have changed it.
 */
export function changesInCode(
  before: StoredQueueInCode | null,
  after: StoredQueueInCode | null,
  applied: Applied,
): QueueSettingsInCode {
  const current = { ...applied, paused: applied.pausedAt !== null };
  const changes: Partial<Record<QueueSettingName, unknown>> = {};
  for (const name of settingNames) {
    const [was, is] = [before?.[name], after?.[name]];
    if (isDeepStrictEqual(was, is)) continue;
    const isInEffect = isDeepStrictEqual(current[name], is ?? was);
    if (is !== undefined && !isInEffect) changes[name] = is;
    if (is === undefined && isInEffect) changes[name] = name === 'paused' ? false : null;
  }
  return changes as QueueSettingsInCode;
}

/** Returns what code says about a queue; `null` if it says nothing. */
export function toQueueInCode(stored: StoredQueueInCode | null, applied: Applied): QueueInCode | null {
  if (stored === null) return null;
  const current = { ...applied, paused: applied.pausedAt !== null };
  const differs = settingNames.filter(
    (name) => stored[name] !== undefined && !isDeepStrictEqual(stored[name], current[name]),
  );
  return { ...stored, differs };
}
