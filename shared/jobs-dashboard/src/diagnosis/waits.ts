import type { Job } from '@longshore/jobs';
import { jobSignalPrefix, signalOf, type Step } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';

/** A wait without a time limit ends after ten years. One of at least this length is shown without its end. */
const OPEN_ENDED_MS = 5 * 365 * 86_400_000;

/** Whether a wait has no time limit of its own, so that its end means nothing to a reader. */
export function isOpenEnded(until: Date, from: Date): boolean {
  return until.getTime() - from.getTime() >= OPEN_ENDED_MS;
}

/**
 * Explains what the handler of a suspended job waits for. Returns `null` if the job is not suspended.
 *
 * @param steps what is stored of the job's steps
 */
export function explainWait(job: Job, steps: readonly Step[], nowMs: number): Sentence | null {
  const { runAt } = job;
  if (runAt === null || job.state !== 'scheduled') return null;
  const isDue = runAt.getTime() <= nowMs;
  if (job.awaits.length > 0) {
    const awaited = job.awaits.map((name) => awaitedText(name, steps));
    const text = `It waits for ${listed(awaited)}`;
    if (isDue) return sentence`${text}. That is over, and it goes on any moment now.`;
    return isOpenEnded(runAt, new Date(nowMs))
      ? [`${text}.`]
      : sentence`${text}, at the latest until ${{ until: runAt }}.`;
  }
  const step = steps.find(({ state, until }) => state === 'waiting' && until?.getTime() === runAt.getTime());
  if (step === undefined) return null;
  const what =
    step.kind === 'sleep'
      ? `It sleeps (“${step.name}”) and goes on`
      : `Its step “${step.name}” has failed and is tried again`;
  return isDue ? [`${what} any moment now.`] : sentence`${what} ${{ at: runAt }}.`;
}

/** Returns the names of awaited signals as a list shows them; `null` if there are none. */
export function awaitedWords(names: readonly string[]): string | null {
  const signals = names.filter((name) => !name.startsWith(jobSignalPrefix));
  const jobs = names.length - signals.length;
  return listed([...signals, ...(jobs === 0 ? [] : [counted(jobs, 'job')])]) || null;
}

/** Returns what a suspended job waited for, as its timeline shows it. */
export function pastWait(waits: readonly Step[]): {
  readonly waitedFor: string | null;
  /** The end of the last sleep, if it only slept; otherwise `null`. */
  readonly sleptUntil: Date | null;
} {
  const waitedFor = awaitedWords(waits.flatMap((step) => signalOf(step) ?? []));
  const ends = waits.flatMap(({ kind, until }) => (kind === 'sleep' && until !== null ? [until] : []));
  const last = ends.toSorted((one, other) => +one - +other).at(-1) ?? null;
  return { waitedFor, sleptUntil: waitedFor === null ? last : null };
}

function awaitedText(name: string, steps: readonly Step[]): string {
  if (!name.startsWith(jobSignalPrefix)) return `the signal “${name}”`;
  const step = steps.find(({ childId }) => name === `${jobSignalPrefix}${childId}`);
  return step === undefined ? 'another job' : `the job of its step “${step.name}”`;
}

function listed(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}
