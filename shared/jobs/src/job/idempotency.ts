import { fingerprintOf } from './fingerprint.js';
import type { JobKey } from './job-key.js';
import type { JsonText } from './job.js';
import { checkKey } from './uniqueness.js';

/**
 * Builds the job key for an idempotency key. While the key is valid, a repeated request returns the job of the first
 * request, whatever the job's state.
 *
 * @param periodMs how long the key is valid after the job's creation, in milliseconds
 * @throws {RangeError} unless `key` is a string of 1 to 200 characters
 */
export function idempotencyKey(key: string, name: string, args: JsonText, periodMs: number): JobKey {
  return {
    namespace: '',
    key: checkKey('idempotencyKey', key),
    states: null,
    periodMs,
    onConflict: 'keep',
    fingerprint: fingerprintOf(args, name),
  };
}
