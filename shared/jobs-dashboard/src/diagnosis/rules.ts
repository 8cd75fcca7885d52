import type { NameTiming, StoredWarningRule } from '@longshore/jobs/storage';
import { counted, formatNumber, formatShare } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import { formatDuration } from '../format/time.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { type Share, shareOf } from './share.js';
import type { TypeHealth } from './type-health.js';
import type { Warning } from './warning.js';

/** The period in which attempts are counted, in milliseconds. */
const PERIOD_MS = 5 * 60_000;
const PERIOD = 'in the last five minutes';
/** Minimum number of attempts to judge by. */
const ENOUGH = 20;
/** Maximum number of job types whose attempts are counted, and of jobs among which the longest waiting is looked for. */
const MAX_NAMES = 1_000;
const MAX_JOBS = 50;

/** A rule, and what its subject currently measures. */
export interface MeasuredRule {
  readonly rule: StoredWarningRule;
  /** The failed ones among the attempts of the last five minutes. */
  readonly failed: Share;
  /** The 95th percentile of their run times, in milliseconds; `null` without attempts. */
  readonly runningMs: number | null;
  /** How many run times that is about. */
  readonly ran: number;
  /** Since when the longest waiting job has been ready; `null` if none is, or if the subject is paused. */
  readonly readySince: Date | null;
}

/** Measures the subjects of all rules. Reads nothing but the rules if there are none. */
export async function measureRules({ reader }: Pick<ReadingContext, 'reader'>): Promise<MeasuredRule[]> {
  const rules = await reader.warningRules.list();
  const period = { sinceMs: PERIOD_MS, limit: MAX_NAMES };
  // Once for all rules about job types, of which there can be a hundred.
  const ofTypes = rules.some(({ about }) => 'jobName' in about) ? await reader.timings.listNames(period) : [];
  return Promise.all(
    rules.map(async (rule) => {
      const { about } = rule;
      if ('jobName' in about) {
        const own = ofTypes.filter(({ name }) => name === about.jobName);
        return { rule, ...totalOf(own), readySince: await readySinceOfType(about.jobName, reader) };
      }
      const [own, readySince] = await Promise.all([
        reader.timings.listNames({ ...period, queue: about.queue }),
        readySinceOfQueue(about.queue, reader),
      ]);
      return { rule, ...totalOf(own), readySince };
    }),
  );
}

function totalOf(timings: readonly NameTiming[]): Pick<MeasuredRule, 'failed' | 'runningMs' | 'ran'> {
  const [first, ...others] = timings.map(({ timing }) => timing);
  if (first === undefined) return { failed: { hits: 0, of: 0 }, runningMs: null, ran: 0 };
  const total = first.copy();
  for (const timing of others) total.merge(timing);
  const hits = total.failed + total.retried;
  return {
    failed: { hits, of: total.done + hits },
    runningMs: total.running.percentile(0.95),
    ran: total.running.total,
  };
}

/** A paused type has a warning of its own. Among the oldest jobs, the one that has been ready longest counts. */
async function readySinceOfType(name: string, reader: ReadingContext['reader']): Promise<Date | null> {
  const [paused, { jobs }] = await Promise.all([
    reader.jobTypes.listPaused(),
    reader.jobs.listBrief({
      filter: { name: [name], state: ['enqueued'] },
      order: 'oldest',
      limit: MAX_JOBS,
      reach: 'near',
    }),
  ]);
  if (paused.some((type) => type.name === name)) return null;
  const times = jobs.flatMap(({ readyAt }) => readyAt?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/** A paused queue has a warning of its own. */
async function readySinceOfQueue(name: string, reader: ReadingContext['reader']): Promise<Date | null> {
  const queue = await reader.queues.find(name);
  return queue === null || queue.pausedAt !== null ? null : queue.oldestEnqueuedAt;
}

/** A threshold of a rule, what is measured, and whether the threshold is reached. */
export interface RuleReading {
  readonly kind: 'failing' | 'running' | 'waiting';
  readonly threshold: string;
  readonly measured: Sentence;
  readonly isReached: boolean;
}

/** Compares the measurements with the rule's thresholds. */
export function readingsOf(measured: MeasuredRule, nowMs: number): RuleReading[] {
  const { failing, slowMs, waitingMs } = measured.rule;
  const { failed, runningMs, ran, readySince } = measured;
  return [
    ...(failing === undefined
      ? []
      : [
          {
            kind: 'failing' as const,
            threshold: `${formatShare(failing)} of the attempts fail`,
            measured: enough(
              failed.of,
              `${formatShare(shareOf(failed))} of ${counted(failed.of, 'attempt')}`,
            ),
            isReached: failed.of >= ENOUGH && shareOf(failed) >= failing,
          },
        ]),
    ...(slowMs === undefined
      ? []
      : [
          {
            kind: 'running' as const,
            threshold: `attempts run ${formatDuration(slowMs)} (95th percentile)`,
            measured: enough(ran, `${formatDuration(runningMs ?? 0)} (of ${counted(ran, 'attempt')})`),
            isReached: ran >= ENOUGH && (runningMs ?? 0) >= slowMs,
          },
        ]),
    ...(waitingMs === undefined
      ? []
      : [
          {
            kind: 'waiting' as const,
            threshold: `a job has been ready for ${formatDuration(waitingMs)}`,
            measured: readySince === null ? ['none is ready'] : sentence`${{ since: readySince }}`,
            isReached: readySince !== null && nowMs - readySince.getTime() >= waitingMs,
          },
        ]),
  ];
}

function enough(of: number, text: string): Sentence {
  if (of >= ENOUGH) return [text];
  return [of === 0 ? 'no attempts' : `${counted(of, 'attempt')}: too few to judge`];
}

/** Returns a warning for each threshold that is reached. */
export function ruleWarnings(measured: readonly MeasuredRule[], nowMs: number): Warning[] {
  return measured.flatMap((each) =>
    readingsOf(each, nowMs)
      .filter(({ isReached }) => isReached)
      .map((reading) => warningOf(each, reading)),
  );
}

function warningOf({ rule, failed, runningMs, readySince }: MeasuredRule, { kind }: RuleReading): Warning {
  const { about, name, application, tell } = rule;
  const isOfType = 'jobName' in about;
  const subject = isOfType ? `Job type “${about.jobName}”` : `Queue “${about.queue}”`;
  const from = `rule “${name}” of ${application}`;
  const parts = {
    failing: {
      text: sentence`${subject}: ${formatNumber(failed.hits)} of ${counted(failed.of, 'attempt')} ${PERIOD} failed, and the ${from} allows less than ${formatShare(rule.failing ?? 0)}.`,
      figure: { value: [formatShare(shareOf(failed))], label: 'of the attempts failed' },
      advice: 'Check the latest failures, and what was deployed.',
    },
    running: {
      text: sentence`${subject}: attempts ${PERIOD} ran ${formatDuration(runningMs ?? 0)} (95th percentile), and the ${from} allows less than ${formatDuration(rule.slowMs ?? 0)}.`,
      figure: { value: [formatDuration(runningMs ?? 0)], label: 'run time, 95th percentile' },
      advice: 'Check what the handlers call, and what was deployed.',
    },
    waiting: {
      text: sentence`${subject}: a job has been ready for ${{ since: readySince ?? rule.updatedAt }}, and the ${from} allows less than ${formatDuration(rule.waitingMs ?? 0)}.`,
      figure: { value: [{ since: readySince ?? rule.updatedAt }], label: 'longest ready job' },
      advice: 'Check whether the queue has enough servers, and what keeps them busy.',
    },
  }[kind];
  const key = isOfType ? about.jobName : about.queue;
  return {
    kind: 'rule-broken',
    cause: `rule ${name} of ${application}: ${kind}`,
    subject: `rule ${name} of ${application}: ${kind}`,
    ...parts,
    link: `${isOfType ? 'types' : 'queues'}/${encodeURIComponent(key)}`,
    isMeasured: true,
    ...(tell !== undefined && { tell }),
  };
}

/** Returns the findings that rules leave: a rule replaces the built-in threshold for its job type. */
export function withoutRuled({ failing, slow }: TypeHealth, measured: readonly MeasuredRule[]): TypeHealth {
  const rules = measured.map(({ rule }) => rule);
  const isRuled = (type: string | null, threshold: 'failing' | 'slowMs' | 'waitingMs'): boolean =>
    rules.some(
      ({ about, ...rule }) => 'jobName' in about && about.jobName === type && rule[threshold] !== undefined,
    );
  return {
    failing: failing.filter(({ name }) => !isRuled(name, 'failing')),
    slow: slow.filter(
      ({ name, slowness }) => !isRuled(name, slowness.kind === 'running' ? 'slowMs' : 'waitingMs'),
    ),
  };
}

/** Returns the queues whose waiting time has a rule. */
export function queuesWithRule(measured: readonly MeasuredRule[]): Set<string> {
  return new Set(
    measured.flatMap(({ rule: { about, waitingMs } }) =>
      'queue' in about && waitingMs !== undefined ? about.queue : [],
    ),
  );
}
