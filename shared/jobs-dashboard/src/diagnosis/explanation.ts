import type { Job, JobState } from '@longshore/jobs';
import {
  type Attempt,
  type BlockingKey,
  isFinished,
  type Lease,
  type PauseState,
  type Queue,
  type Server,
  type Step,
} from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { type Moment, type Sentence, sentence } from '../format/sentence.js';
import { stateWord } from '../format/state-badge.js';
import { formatDuration } from '../format/time.js';
import { findBlocker, slotsOf } from './blocker.js';
import { limitSentence } from './blocking-keys.js';
import { pauseText } from './pause.js';
import { activeAmong, isSilent, isStalled } from './servers.js';
import { type SkipCause, skipReason } from './skip-cause.js';
import type { Stall } from './stall.js';
import { timeline, totalMs } from './timeline.js';
import { explainWait } from './waits.js';

/** Input of {@link explain}, in addition to the job. */
export interface ExplanationContext {
  readonly attempts: readonly Attempt[];
  /** All running servers. */
  readonly servers: readonly Server[];
  /** The job's queue; `null` if the queue has been deleted. */
  readonly queue: Queue | null;
  /** All queues, because jobs of another queue can occupy the servers. Defaults to none. */
  readonly queues?: readonly Queue[];
  /** The concurrency key that blocks the job; missing or `null` if no key does or the key is unknown. */
  readonly blocking?: BlockingKey | null;
  /**
   * The first of the jobs or batches that the job depends on; missing or `null` if there is none or it has been
   * removed.
   */
  readonly parent?: {
    readonly kind: 'job' | 'batch';
    readonly id: string;
    readonly name: string;
    readonly state: JobState;
    /** Why the parent is stalled; missing or `null` if it is not stalled or the reason is unknown. */
    readonly stall?: Pick<Stall, 'text'> | null;
  } | null;
  /** Why a skipped job was skipped; missing or `null` for other jobs. */
  readonly skipCause?: SkipCause | null;
  /** The lease of a running job; missing or `null` for other jobs. */
  readonly lease?: Lease | null;
  /** When the job last wrote to the log; missing or `null` if it has not, or if the job is not running. */
  readonly lastLineAt?: Date | null;
  /** The pause of the job's type; missing or `null` if the type is not paused. */
  readonly typePause?: PauseState | null;
  /** Whether the installation is paused as a restored copy; `false` by default. */
  readonly isCopyPaused?: boolean;
  /** What is stored of the job's steps; none by default. */
  readonly steps?: readonly Step[];
  readonly nowMs: number;
}

interface Explanation {
  readonly text: Sentence;
  /** `attention` if an operator has to act; `calm` otherwise. */
  readonly tone: 'calm' | 'attention';
}

export function explain(job: Job, context: ExplanationContext): Explanation {
  switch (job.state) {
    case 'scheduled':
      return explainScheduled(job, context);
    case 'awaiting':
      return explainAwaiting(context);
    case 'enqueued':
      return explainEnqueued(job, context);
    case 'processing':
      return withRequest(explainProcessing(job, context), job);
    case 'done':
      return calm(sentence`It is done${onWhichAttempt(job)}: ${span(job, context)}.`);
    case 'failed':
      return attention(explainFailure(job, context));
    case 'cancelled':
      return calm(explainCancelled(job, context));
  }
}

function explainScheduled(job: Job, context: ExplanationContext): Explanation {
  const wait = explainWait(job, context.steps ?? [], context.nowMs);
  if (wait !== null) return withServers(wait, job, context);
  const due = job.runAt === null ? 'at its time' : dueIn(job.runAt, context.nowMs);
  if (job.attempt === 0)
    return withServers(sentence`It is scheduled and becomes ready ${due}.`, job, context);
  const attempts = `Attempt ${job.attempt} of ${job.maxAttempts}`;
  return withServers(
    sentence`${attempts} ${howItEnded(context)}. The next one becomes ready ${due}.`,
    job,
    context,
  );
}

function explainAwaiting({ parent = null }: ExplanationContext): Explanation {
  if (parent === null) return calm(sentence`It waits for another job to finish.`);
  const what = `${parent.kind} “${parent.name}”`;
  if (isFinished(parent.state))
    return calm(
      sentence`It waits for several jobs. The first of them, ${what}, is ${stateWord(parent.state)}.`,
    );
  const text = sentence`It waits for ${what}, which is ${stateWord(parent.state)}.`;
  const { stall = null } = parent;
  return stall === null ? calm(text) : attention(sentence`${text} ${stall.text}`);
}

/** Explains a cancellation. If the job was skipped, names the cause at the root of the chain. */
function explainCancelled({ error }: Job, { skipCause = null }: ExplanationContext): Sentence {
  if (skipReason(error) === null) return sentence`It was cancelled and will not run again.`;
  return sentence`Skipped because ${skipCause?.text ?? 'a job that it depends on did not end as required'}.`;
}

function explainEnqueued(job: Job, context: ExplanationContext): Explanation {
  const { typePause = null, isCopyPaused = false } = context;
  if (isCopyPaused)
    return attention(
      sentence`It does not start, because this installation is paused: its database is a restored copy.`,
    );
  const paused = typePause === null ? null : pauseText(typePause);
  if (paused !== null)
    return attention(
      sentence`It is ready, but job type “${job.name}” was ${paused}. It starts when the type is resumed.`,
    );
  const { queue, queues = [], nowMs } = context;
  const retried = job.attempt > 0 ? ` Attempt ${job.attempt} ${howItEnded(context)}.` : '';
  if (job.readyAt === null) {
    const { blocking = null } = context;
    const key = blocking === null ? 'its concurrency key' : limitSentence(blocking);
    return calm(
      sentence`It is blocked by ${key}. It becomes ready when a job with that key ends and no other comes first.${retried}`,
    );
  }
  if (queue === null)
    return attention(sentence`It is ready to run, but its queue no longer exists.${retried}`);
  const consumers = serversOf(job.queue, context.servers);
  const blocker = findBlocker({ ...queue, oldestEnqueuedAt: job.readyAt }, consumers, nowMs, { queues });
  if (blocker !== null) {
    const { reason, remedy, tone } = blocker;
    return { text: sentence`It is ready to run, ${reason}. ${remedy}${retried}`, tone };
  }
  const taken = `${counted(activeAmong(consumers).length, 'server takes', 'servers take')} jobs from queue “${job.queue}”`;
  return calm(
    sentence`It is ready: ${taken}, with ${counted(slotsOf(consumers, queue.counts.processing).free, 'slot')} free. It should start soon.${retried}`,
  );
}

function explainProcessing(job: Job, context: ExplanationContext): Explanation {
  const { servers, lease = null, lastLineAt = null, nowMs } = context;
  const attempt = `attempt ${job.attempt} of ${job.maxAttempts}`;
  const server = servers.find(({ id }) => id === job.serverId);
  if (server === undefined) {
    const next =
      job.attempt < job.maxAttempts ? 'runs again on another server' : 'fails, as this was its last attempt';
    return attention(
      sentence`Its server is no longer among the running ones (${attempt}). Its lease will be reclaimed, and the job ${next}.`,
    );
  }
  const where = `${server.host}, process ${server.pid}`;
  if (isSilent(server, nowMs)) {
    return attention(
      sentence`It runs on ${where} (${attempt}), but that server is silent: last heartbeat ${{ at: server.heartbeatAt }}. After ${formatDuration(server.timeoutMs)} without one, the job goes back to its queue.`,
    );
  }
  if (lease !== null && lease.attempt === job.attempt && isStalled(lease, nowMs)) {
    const next = job.attempt < job.maxAttempts ? 'runs again' : 'fails, as this was its last attempt';
    return attention(
      sentence`It was started on ${where} (${attempt}). That server sends heartbeats, but has stopped renewing the lease, which expired ${{ at: lease.expiresAt }}: a handler blocks its process, or it cannot write. When another server reclaims the job, it ${next}; if none does, restart the server.`,
    );
  }
  const since = job.startedAt === null ? '' : sentence` for ${{ since: job.startedAt }}`;
  const lastLine = lastLineAt === null ? '' : sentence` Its last log line came ${{ at: lastLineAt }}.`;
  return calm(
    sentence`It has been running on ${where}${since} (${attempt}). The server is alive.${lastLine}`,
  );
}

/** Adds that someone has asked to cancel the job, if so. */
function withRequest({ text, tone }: Explanation, { cancelRequestedAt: at }: Job): Explanation {
  if (at === null) return { text, tone };
  return {
    text: sentence`${text} Someone asked to cancel it ${{ at }}: it ends as cancelled once its handler throws, and as done if its handler returns anyway.`,
    tone,
  };
}

/**
 * Explains why the job will not be retried. Does not repeat the error, because the page shows it above the explanation.
 */
function explainFailure(job: Job, { attempts }: ExplanationContext): Sentence {
  const { attempt, maxAttempts } = job;
  const usedUp =
    maxAttempts === 1 ? 'its only attempt is used up' : `all ${maxAttempts} attempts are used up`;
  const tries = attempt >= maxAttempts ? usedUp : `it gave up at attempt ${attempt} of ${maxAttempts}`;
  const lost = wasLost(attempts) ? '; the last one was lost with its server' : '';
  return sentence`It is not retried automatically: ${tries}${lost}.`;
}

function howItEnded({ attempts }: ExplanationContext): string {
  return wasLost(attempts) ? 'was lost with its server' : 'failed';
}

function wasLost(attempts: readonly Attempt[]): boolean {
  return attempts.findLast(({ outcome }) => outcome !== 'processing')?.outcome === 'lost';
}

function onWhichAttempt({ attempt }: Job): string {
  return attempt > 1 ? ` on attempt ${attempt}` : '';
}

function span(job: Job, { attempts, steps = [], nowMs }: ExplanationContext): string {
  const stretches = timeline(job, attempts, steps);
  return `${formatDuration(totalMs(stretches, 'run', nowMs))} of work after ${formatDuration(totalMs(stretches, 'wait', nowMs))} of waiting`;
}

function withServers(text: Sentence, job: Job, { servers }: ExplanationContext): Explanation {
  if (activeAmong(serversOf(job.queue, servers)).length > 0) return calm(text);
  return attention(sentence`${text} No running server takes jobs from queue “${job.queue}” at the moment.`);
}

function serversOf(queue: string, servers: readonly Server[]): readonly Server[] {
  return servers.filter(({ queues }) => queues.includes(queue));
}

function dueIn(at: Date, nowMs: number): string | Moment {
  return at.getTime() <= nowMs ? 'any moment now' : { at };
}

const calm = (text: Sentence): Explanation => ({ text, tone: 'calm' });
const attention = (text: Sentence): Explanation => ({ text, tone: 'attention' });
