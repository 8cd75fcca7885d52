import { shorten } from '@longshore/edge';
import type { AlertMessage, BulkOperation, SetAsideItem, SetAsideRole } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import { floodWarnings } from './blocking-keys.js';
import { failingTypeWarnings, newErrorWarnings } from './failures.js';
import { longWaits, pausedQueues, unservedQueues } from './queues.js';
import { pausedTypeWarnings } from './pause.js';
import { failingRecurringWarnings, lateRecurring, missedWarnings, skippedWarnings } from './recurring.js';
import { queuesWithRule, ruleWarnings, withoutRuled } from './rules.js';
import { clockSkew, lostServers, silentServers, stalledLeases } from './servers.js';
import { isUntouched, type Situation } from './situation.js';
import { slowTypeWarnings } from './slow-types.js';
import { countFigure, type Warning } from './warning.js';

/**
 * Jobs that started more recently than this, in milliseconds, do not count as abandoned. The lists of jobs and servers
 * are read separately, so a new server can be missing from its list.
 */
const SETTLING_MS = 5_000;

/** Returns all warnings, most urgent first. */
export function findWarnings(situation: Situation): Warning[] {
  const judged = withoutRuled(situation.typeHealth, situation.rules);
  return [
    ...noServers(situation),
    ...pausedQueues(situation.queues, situation.blocking),
    ...pausedTypeWarnings(situation.pausedJobs),
    // Precedes unserved queues, because the death of a server can explain why its queues have no consumer.
    ...lostServers(situation.lost, situation.servers, situation.nowMs),
    ...silentServers(situation.servers, situation.nowMs),
    ...unservedQueues(situation.queues, situation.servers),
    ...ruleWarnings(situation.rules, situation.nowMs),
    ...failingTypeWarnings(judged.failing, situation.failureSamples),
    ...newErrorWarnings(situation.typeHealth.failing),
    ...failingRecurringWarnings(
      situation.failingRecurring,
      new Set(situation.typeHealth.failing.map(({ name }) => name)),
    ),
    ...missedWarnings(situation.missed),
    ...skippedWarnings(situation.skipped),
    ...deletionWarnings(situation.pendingDeletions),
    ...setAsideWarnings(situation.setAside),
    ...unhandledJobs(situation),
    ...abandonedJobs(situation),
    ...stalledLeases(situation.stalled),
    // Late recurring jobs are omitted if no server is running, because `noServers` already reports the cause.
    ...(situation.servers.length === 0 ? [] : lateRecurring(situation.late)),
    ...longWaits({ ...situation, ruled: queuesWithRule(situation.rules) }),
    ...slowTypeWarnings(judged.slow, situation.holdingLimit),
    ...alertWarnings(situation.alertFailures),
    ...floodWarnings(situation.blocking, situation.nowMs),
    ...clockSkew(situation.servers, situation.clockAheadMs),
  ];
}

/** Returns a warning if no server is running, except in a new installation that has never been used. */
function noServers(situation: Situation): Warning[] {
  if (situation.servers.length > 0 || isUntouched(situation)) return [];
  const waiting = situation.queues.reduce((sum, { counts }) => sum + counts.enqueued, 0);
  return [
    {
      kind: 'no-server',
      cause: 'no server is running',
      text: sentence`No server is running.`,
      figure: countFigure(waiting, 'job waits', 'jobs wait'),
      advice: 'Jobs are accepted, but do not run until one starts.',
      link: 'servers',
    },
  ];
}

/**
 * Returns warnings about jobs that no server of their queue has a handler for. Queues without servers have their own
 * warning.
 */
function unhandledJobs({ orphans }: Situation): Warning[] {
  return orphans
    .filter(({ reason }) => reason === 'no-handler')
    .map(({ queue, name, jobs }) => ({
      kind: 'no-handler',
      cause: `no handler for ${name} in queue ${queue}`,
      text: sentence`No server of queue “${queue}” has a handler for “${name}”.`,
      figure: countFigure(jobs, 'job waits', 'jobs wait'),
      advice: `${counted(jobs, 'job waits', 'jobs wait')} and will fail. Start a server that has the handler, or delete the jobs.`,
      link: `jobs?name=${encodeURIComponent(name)}&queue=${encodeURIComponent(queue)}`,
    }));
}

function abandonedJobs({ longestRunning, servers, nowMs }: Situation): Warning[] {
  const running = new Set(servers.map(({ id }) => id));
  return longestRunning
    .filter((job) => job.serverId !== null && !running.has(job.serverId))
    .filter((job) => job.startedAt !== null && nowMs - job.startedAt.getTime() > SETTLING_MS)
    .map((job) => ({
      kind: 'job-abandoned',
      cause: `job ${job.id} is abandoned`,
      text: sentence`A job “${job.name}” is processing on a server that is gone.`,
      advice: 'Its lease will be reclaimed. If this does not change, check that servers are running.',
      link: `jobs/${job.id}`,
    }));
}

/** Describes the failed work, by the background role that has set the item aside. */
const failedWork: Readonly<Record<SetAsideRole, string>> = {
  resolver: 'The dependencies of a job could not be resolved',
  scheduler: 'A scheduled job could not be made ready',
  resumer: 'The end of a pause could not be carried out',
  rescuer: 'A job could not be reclaimed from a lost server',
  recurring: 'A recurring job could not be enqueued',
  bulk: 'A bulk action could not change a job',
  cleaner: 'Housekeeping failed',
  completer: 'The outcome of a job could not be stored',
};

const MAX_REASON = 200;

/**
 * Returns one warning for each role that has set items aside. The warning describes the newest item.
 *
 * @param items newest first
 */
function setAsideWarnings(items: readonly SetAsideItem[]): Warning[] {
  const byRole = new Map<SetAsideRole, SetAsideItem[]>();
  for (const item of items) {
    const ofRole = byRole.get(item.role);
    if (ofRole === undefined) byRole.set(item.role, [item]);
    else ofRole.push(item);
  }
  return [...byRole].flatMap(([role, [first, ...older]]) => {
    if (first === undefined) return [];
    const reason = shorten(first.error.message, MAX_REASON, '…');
    const more =
      older.length === 0 ? '' : ` ${counted(older.length, 'other item')} of the same kind failed too.`;
    return [
      {
        kind: 'set-aside',
        cause: `${role} set an item aside`,
        text: sentence`${failedWork[role]}: ${reason}. It was set aside ${{ at: first.createdAt }}.`,
        figure: countFigure(older.length + 1, 'item set aside', 'items set aside'),
        advice: `Other work is not affected.${more} ${retryOf(first)}. Correct the data and retry the item, or discard it.`,
        link: 'set-aside',
        since: items.at(-1)?.createdAt ?? first.createdAt,
        ...(older.length === 0 && {
          button: { path: `set-aside/${first.id}/retry`, word: 'Retry the item' },
        }),
      },
    ];
  });
}

function retryOf({ retryAt, failures: times }: SetAsideItem): string {
  if (retryAt === null) return 'It is not retried automatically';
  return `It is retried ${times === 1 ? 'after a minute' : 'at growing intervals'}`;
}

/** Returns warnings about bulk deletions that can still be undone. */
function deletionWarnings(operations: readonly BulkOperation[]): Warning[] {
  return operations.map(({ id, matched, requestedBy, createdAt, startsAt }) => {
    const jobs =
      matched === null ? 'jobs' : `${matched.exact ? '' : 'at least '}${counted(matched.count, 'job')}`;
    return {
      kind: 'deletion-pending',
      cause: `bulk deletion ${id} is pending`,
      ...(matched !== null && {
        figure: countFigure(
          matched.count,
          'job to be deleted',
          'jobs to be deleted',
          matched.exact ? '' : '≥ ',
        ),
      }),
      text: sentence`${requestedBy ?? 'Somebody'} is about to delete ${jobs}: the deletion begins ${{ at: startsAt }}.`,
      advice: 'Until then, it can be undone. Afterwards, the jobs are gone.',
      link: `bulk/${id}`,
      since: createdAt,
      button: { path: `bulk/${id}/stop`, word: 'Undo' },
    };
  });
}

/** Returns one warning for each webhook with undelivered alerts. */
function alertWarnings(failures: readonly AlertMessage[]): Warning[] {
  return [...new Set(failures.map(({ target }) => target))].map((target) => {
    const [host = target] = target.split(' ');
    const messages = failures.filter((message) => message.target === target);
    const pending = messages.filter(({ nextAt }) => nextAt !== null).length;
    const error = messages[0]?.error ?? '';
    return {
      kind: 'alerts-fail',
      cause: `alerts to ${target} fail`,
      text: sentence`Alerts could not be delivered to ${host}: ${error}`,
      figure: countFigure(messages.length, 'message not delivered', 'messages not delivered'),
      advice:
        pending === 0
          ? `${counted(messages.length, 'message was', 'messages were')} dropped after a day of retries.`
          : `${counted(pending, 'message')} will be retried. Check the webhook and its URL.`,
      link: '',
    };
  });
}
