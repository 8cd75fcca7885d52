import type { ServerQueues } from '@longshore/jobs';
import { ConfigError, listOf } from './config.js';

/**
 * Parses a list of queues: `critical,default` for a strict order, `critical=6,default=3` for weights.
 *
 * @returns `null` for an empty list
 * @throws {ConfigError} if only some have a weight
 */
export function readQueues(list: string): ServerQueues | null {
  const entries = listOf(list);
  if (entries.length === 0) return null;
  const weighted = entries.filter((entry) => entry.includes('='));
  if (weighted.length === 0) return entries;
  if (weighted.length < entries.length) {
    throw new ConfigError('WORKER_QUEUES: give every queue a weight (critical=6,default=3), or none');
  }
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', weight = ''] = entry.split('=');
      return [name, Number(weight)];
    }),
  );
}
