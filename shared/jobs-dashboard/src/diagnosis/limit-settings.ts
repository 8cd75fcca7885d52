import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@longshore/jobs';
import { auditDetails } from '@longshore/jobs/operations';
import type { AuditEntry, Queue } from '@longshore/jobs/storage';
import { isObject } from '../format/limits-line.js';
import { type Sentence, sentence } from '../format/sentence.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';

/** Maximum number of audit entries of a queue to read. */
const MAX_READ = 50;

/** Clauses that say who set the limits of a queue, such as `set by ann 5 min ago`; `null` if there is no limit, or it is unknown. */
export interface LimitSettings {
  readonly concurrencyLimit: Sentence | null;
  readonly rateLimit: Sentence | null;
}

type Limited = Pick<Queue, 'name' | 'concurrencyLimit' | 'rateLimit' | 'inCode'>;

/** Reads who set the limits of a queue from its latest audit entries. Reads nothing if it has no limits. */
export async function readLimitSettings(
  queue: Limited,
  { audit }: Pick<DashboardReader, 'audit'>,
): Promise<LimitSettings> {
  const { name, concurrencyLimit, rateLimit, inCode } = queue;
  if (concurrencyLimit === null && rateLimit === null) return { concurrencyLimit: null, rateLimit: null };
  const entries = await audit.list({ target: name, limit: MAX_READ });
  const settingOf = (limit: keyof LimitSettings, value: JsonValue): Sentence | null => {
    const entry = value === null ? undefined : entrySetting(limit, value, entries);
    if (entry === undefined) return null;
    const { who, at } = entry;
    return sentence`set by ${inCode?.application === who ? 'the code of ' : ''}${who} ${{ at }}`;
  };
  return {
    concurrencyLimit: settingOf('concurrencyLimit', concurrencyLimit),
    rateLimit: settingOf('rateLimit', rateLimit && { ...rateLimit }),
  };
}

/**
 * Returns the action that gave a limit its present value, leaving out later ones that set the same value again.
 *
 * @param entries newest first
 */
function entrySetting(
  limit: keyof LimitSettings,
  value: JsonValue,
  entries: readonly AuditEntry[],
): AuditEntry | undefined {
  for (const entry of entries) {
    const { outcome, values, before } = auditDetails(entry.filter);
    const isSetting = entry.action === 'queues/limit' || entry.action === 'queues/create';
    if (!isSetting || outcome !== 'done' || !isObject(values) || !(limit in values)) continue;
    // The limit has been changed since without an audit entry.
    if (!isDeepStrictEqual(normal(values[limit]), normal(value))) return undefined;
    if (!isObject(before) || !isDeepStrictEqual(normal(before[limit]), normal(value))) return entry;
  }
  return undefined;
}

/** Returns a limit with the default burst of a rate. */
function normal(limit: JsonValue = null): JsonValue {
  return isObject(limit) ? { ...limit, burst: limit['burst'] ?? limit['jobs'] ?? null } : limit;
}
