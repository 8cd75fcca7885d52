import { fingerprintOf } from './fingerprint.js';
import type { JobKey } from './job-key.js';
import type { JsonText } from './job.js';
import { checkKey } from './uniqueness.js';

/**
 * The key that makes a repeated request for a job give the same job, whatever became of it.
 *
 * @throws {RangeError} if it is not a text of 1 to 200 characters
 */
export function idempotencyKey(key: string, name: string, args: JsonText, periodMs: number): JobKey {
  return {
    scope: '',
    key: checkKey('idempotencyKey', key),
    states: null,
    periodMs,
    onConflict: 'keep',
    fingerprint: fingerprintOf(args, name),
  };
}
