import { shorten } from '@longshore/edge';
import { counted, formatNumber, formatShare } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import { confirmPath } from '../search/filters.js';
import { shareOf } from './share.js';
import type { Shift } from './shift.js';
import { type FailureSample, skippedText } from './failure-sample.js';
import { traitText } from './traits.js';
import type { FailingType } from './type-health.js';
import { countFigure, type Warning, type WarningButton, type WarningFigure } from './warning.js';

const MAX_MESSAGE = 120;

/** Identifies the warning that a job type fails. */
export function failureCause(name: string): string {
  return `job type ${name} fails`;
}

/** Identifies the warning that a failing job type has an error that it did not have before. */
export function newErrorCause(name: string, fingerprint: string): string {
  return `job type ${name} has the new error ${fingerprint}`;
}

/** Returns an error as one line, such as `HttpError: upstream said 503`. The message can be empty. */
export function errorLine(name: string, message: string): string {
  const [line = ''] = message.split('\n', 1);
  return line === '' ? name : `${name}: ${shorten(line, MAX_MESSAGE, '…')}`;
}

/**
 * Returns a warning for each failing job type. It need not be absent for two minutes to end, because a finding ends only
 * when the share has been back for two minutes. The numbers count attempts, except where the text says jobs.
 *
 * @param samples what the latest failures tell, by type; nothing is said about it by default
 */
export function failingTypeWarnings(
  types: readonly FailingType[],
  samples: ReadonlyMap<string, FailureSample> = new Map(),
): Warning[] {
  return types.map((type) => {
    const { name, shift, errors } = type;
    const canRetry = errors.some(({ retryable }) => retryable > 0);
    return {
      kind: name === null ? 'jobs-fail' : 'type-fails',
      cause: name === null ? 'many jobs fail' : failureCause(name),
      text: sentence`${stateText(type)} ${errorsText(type)}`,
      figure: figureOf(shift),
      course: {
        word: 'Failed attempts',
        points: type.course,
        format: (share) => `${Math.round(100 * share)} %`,
      },
      ...(shift.state === 'recovering' && { isRecovering: true }),
      advice: [baselineText(shift), ...sampleTexts(samples.get(name ?? ''))].join(' '),
      link: linkOf(name, canRetry),
      ...(name !== null && {
        button: shift.state === 'recovering' && canRetry ? retryButton(name, shift) : pauseButton(name),
      }),
      since: new Date(shift.beganAt ?? shift.incident.from),
    };
  });
}

/** Errors that occur for the first time this long after a type began to fail are another problem, in milliseconds. */
const LATER_MS = 3 * 60_000;
/** Minimum number of jobs with such an error. */
const MIN_JOBS = 5;

/**
 * Returns a warning for each error that a job type has had for the first time since it began to fail. The warning that it
 * fails does not tell, and somebody may have muted it because of the errors known before.
 */
export function newErrorWarnings(types: readonly FailingType[]): Warning[] {
  return types.flatMap(({ name, shift, errors }) => {
    if (name === null || shift.state === 'stopped') return [];
    const laterMs = (shift.beganAt ?? shift.incident.from) + LATER_MS;
    return errors
      .filter(({ firstSeenAt, count }) => firstSeenAt.getTime() > laterMs && count >= MIN_JOBS)
      .map(({ fingerprint, message, firstSeenAt, count, failedExact, waitingExact }) => {
        const [kind = ''] = fingerprint.split(': ', 1);
        return {
          kind: 'type-new-error' as const,
          cause: newErrorCause(name, fingerprint),
          isMeasured: true,
          text: sentence`Job type “${name}” also fails with a new error since ${{ until: firstSeenAt }}: ${errorLine(kind, message)}.`,
          advice: 'It had not occurred when the type began to fail, so it may have another cause.',
          figure: countFigure(count, 'job', 'jobs', failedExact && waitingExact ? '' : '≥ '),
          link: `jobs?${new URLSearchParams({ name, fingerprint }).toString()}`,
          since: firstSeenAt,
        };
      });
  });
}

/** Returns the share of failed attempts now; if there are hardly any now, the share during the anomaly. */
function figureOf({ state, now, incident }: Shift): WarningFigure {
  return state === 'above' || state === 'recovering'
    ? { value: [percent(now)], label: `of the latest ${counted(now.of, 'attempt')} failed` }
    : { value: [percent(incident)], label: `of ${counted(incident.of, 'attempt')} failed` };
}

/** Leads to the confirmation of a retry of the jobs that have failed since the type began to fail. */
function retryButton(name: string, { incident }: Shift): WarningButton {
  const terms = [
    { key: 'name', value: name },
    { key: 'finished-after', value: new Date(incident.from).toISOString() },
  ] as const;
  return {
    path: confirmPath({ state: 'failed', terms }, 'retry'),
    word: 'Retry the failed jobs…',
    isLink: true,
  };
}

function pauseButton(name: string): WarningButton {
  return {
    path: `types/${encodeURIComponent(name)}/pause`,
    word: 'Pause the type',
    confirm: 'Pause the job type',
    effect:
      'No server starts jobs of this type until it is resumed. Other jobs continue, and running jobs will finish.',
    ends: true,
    reasoned: true,
  };
}

/** Leads to the jobs that can be retried. That list would be empty while all jobs wait for a retry. */
function linkOf(name: string | null, canRetry: boolean): string {
  if (name === null) return 'errors?since=1h';
  return canRetry
    ? `jobs?state=failed&name=${encodeURIComponent(name)}`
    : `types/${encodeURIComponent(name)}`;
}

function stateText({ name, shift, isOfQueue }: FailingType): Sentence {
  const { state, incident, now, lastAt } = shift;
  const subject = name === null ? 'Jobs of several types' : `Job type “${name}”`;
  const [is, has] = name === null ? ['are', 'have'] : ['is', 'has'];
  const where = isOfQueue ? ' in this queue' : '';
  const began = beganText(shift);
  const failed = `${counted(incident.hits, 'attempt')}${where} failed`;
  const during = sentence`From ${{ until: new Date(incident.from) }} to ${{ until: new Date(incident.until) }}, ${failed}, ${percent(incident)}.`;
  switch (state) {
    case 'above':
      return sentence`${subject} ${has} been failing ${began}: ${failed}, ${percent(now)} of the latest ${formatNumber(now.of)}.`;
    case 'recovering':
      return sentence`${subject} ${is} recovering: ${percent(now)} of the latest ${counted(now.of, 'attempt')}${where} failed. ${during}`;
    case 'stopped':
      return sentence`${subject} ${has} not run${where} since ${{ until: new Date(lastAt) }}. ${during}`;
    case 'unclear':
      return sentence`${subject} failed ${began}: ${failed}, ${percent(incident)}. It is not certain yet whether this continues.`;
  }
}

function beganText({ beganAt, beganBetween, incident }: Shift): Sentence {
  if (beganAt === null)
    return sentence`since the first recorded attempt at ${{ until: new Date(incident.from) }}`;
  const isExact = beganBetween === null || beganBetween.until - beganBetween.from <= 60_000;
  return sentence`since ${isExact ? '' : 'about '}${{ until: new Date(beganAt) }}`;
}

/** Returns how many jobs still need attention, and what part of them has the most frequent error. */
function errorsText({ errors }: FailingType): string {
  const [first] = errors;
  if (first === undefined)
    return 'All jobs that failed in the last 10 minutes have succeeded since, or were deleted.';
  const jobs = errors.reduce((sum, { count }) => sum + count, 0);
  const isExact = errors.every(({ failedExact, waitingExact }) => failedExact && waitingExact);
  const [kind = ''] = first.fingerprint.split(': ', 1);
  const error = errorLine(kind, first.message);
  const still = `${isExact ? '' : 'at least '}${counted(jobs, 'job')} that failed in the last 10 minutes ${jobs === 1 ? 'has' : 'have'} not succeeded since`;
  const part =
    first.count < jobs
      ? `${formatNumber(first.count)} of these ${formatNumber(jobs)}`
      : jobs === 1
        ? 'it'
        : 'all of these';
  return `${capitalize(still)}: ${part} had errors like ${error}.`;
}

function sampleTexts(sample: FailureSample | undefined): string[] {
  if (sample === undefined) return [];
  return [skippedText(sample), ...sample.traits.map(traitText)].filter((text) => text !== '');
}

function baselineText({ baseline, beganAt }: Shift): string {
  if (baseline !== null) return `Before, ${percent(baseline)} of ${counted(baseline.of, 'attempt')} failed.`;
  return beganAt === null
    ? 'There is no baseline, because all of its recorded attempts, up to 24 hours back, are like this.'
    : 'There is no baseline, because hardly anything had run before.';
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function percent(share: Parameters<typeof shareOf>[0]): string {
  return formatShare(shareOf(share));
}
