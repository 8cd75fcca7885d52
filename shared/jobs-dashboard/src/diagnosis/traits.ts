import type { BriefJob } from '@longshore/jobs/storage';
import { formatNumber } from '../format/count.js';
import { isHigher, type Share, shareOf } from './share.js';

/** A trait is that of most failures. */
const MOST = 0.5;
/** Maximum number of traits to name. */
const MAX_TRAITS = 2;

/** Something that certainly more failed jobs have in common than those that succeeded. */
export interface Trait {
  /** Such as `version 2.4.0` or `tag customer:7`. */
  readonly what: string;
  readonly failures: Share;
  readonly successes: Share;
}

/**
 * Returns the traits that most failures have, and certainly a larger share of them than of the successes. The clearest
 * first; of traits that always occur together, only the first.
 *
 * @param versions the versions of servers by their ids
 */
export function traitsOf(
  failures: readonly BriefJob[],
  successes: readonly BriefJob[],
  versions: ReadonlyMap<string, string>,
): Trait[] {
  const failed = failures.map((job) => traitsIn(job, versions.get(job.lastFailure?.serverId ?? '')));
  const succeeded = successes.map((job) => traitsIn(job, versions.get(job.serverId ?? '')));
  // Traits that always occur together have the same pattern.
  const byPattern = new Map<string, Trait>();
  for (const what of new Set(failed.flat())) {
    const pattern = [...failed, ...succeeded].map((traits) => Number(traits.includes(what))).join('');
    const trait = {
      what,
      failures: shareWith(what, failed),
      successes: shareWith(
        what,
        isVersion(what) ? succeeded.filter((traits) => traits.some(isVersion)) : succeeded,
      ),
    };
    if (!byPattern.has(pattern)) byPattern.set(pattern, trait);
  }
  return [...byPattern.values()]
    .filter(({ failures: share, successes: other }) => share.hits > MOST * share.of && isHigher(share, other))
    .toSorted((one, other) => gap(other) - gap(one))
    .slice(0, MAX_TRAITS);
}

/** Versions of servers that registered long ago, or without one, are unknown: their successes may have any. */
function isVersion(trait: string): boolean {
  return trait.startsWith('version ');
}

function traitsIn({ queue, tags, concurrencyKey }: BriefJob, version: string | undefined): string[] {
  return [
    ...(version === undefined ? [] : [`version ${version}`]),
    `queue ${queue}`,
    ...tags.map((tag) => `tag ${tag}`),
    ...(concurrencyKey === null ? [] : [`key ${concurrencyKey}`]),
  ];
}

function shareWith(what: string, jobs: readonly (readonly string[])[]): Share {
  return { hits: jobs.filter((traits) => traits.includes(what)).length, of: jobs.length };
}

/** Returns by how much larger the share of the failures is. */
function gap({ failures, successes }: Trait): number {
  return shareOf(failures) - shareOf(successes);
}

/**
 * Returns a sentence such as `All of the latest 9 failures have version 2.4.0, and none of the latest 30 successes since the
 * type began to fail.`
 */
export function traitText({ what, failures, successes }: Trait): string {
  const of = `the latest ${formatNumber(failures.of)} failures`;
  const have = failures.hits === failures.of ? `All of ${of}` : `${formatNumber(failures.hits)} of ${of}`;
  const none = successes.hits === 0 ? 'none' : formatNumber(successes.hits);
  return `${have} have ${what}, and ${none} of the latest ${formatNumber(successes.of)} successes since the type began to fail.`;
}
