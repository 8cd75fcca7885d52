import type { Lease } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/**
 * Selects leases that expired at least five seconds ago. More recent ones are usually about to be renewed or reclaimed.
 */
export const stalledQuery = { expiredForMs: 5_000, limit: 100 } as const;

/**
 * Returns whether the lease should already have been renewed or reclaimed: it expired more than five seconds ago, and
 * the handler's transaction has not locked the job.
 */
export function isStalled({ expiresAt, locked }: Lease, nowMs: number): boolean {
  return !locked && nowMs - expiresAt.getTime() > stalledQuery.expiredForMs;
}

/** @param leases longest expired first, at most as many as {@link stalledQuery} allows */
export function stalledLeases(leases: readonly Lease[]): Warning[] {
  const [first] = leases;
  if (first === undefined) return [];
  const { length } = leases;
  const many = length < stalledQuery.limit ? counted(length, 'job') : `${length} jobs or more`;
  const servers = [...new Set(leases.map(({ serverId }) => serverId))];
  const where = servers.length === 1 ? 'a server that is' : `${servers.length} servers that are`;
  const those = servers.map((id) => `&server=${encodeURIComponent(id)}`).join('');
  return [
    {
      cause: 'leases are stalled',
      isMeasured: true,
      text: sentence`${many} stalled: ${where} alive ${servers.length === 1 ? 'has' : 'have'} stopped renewing ${length === 1 ? 'its lease, which' : 'their leases, the first of which'} expired ${{ at: first.expiresAt }}.`,
      advice:
        'A handler blocks its server’s process, or the server cannot write. Other servers reclaim such jobs; if none does, restart the server.',
      link: length === 1 ? `jobs/${first.jobId}` : `jobs?state=processing&order=oldest${those}`,
    },
  ];
}
