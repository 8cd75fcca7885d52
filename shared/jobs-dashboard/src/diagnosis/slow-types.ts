import { formatNumber, formatShare } from '../format/count.js';
import { type Sentence, sentence } from '../format/sentence.js';
import { formatDuration } from '../format/time.js';
import type { Slowness } from './slowness.js';
import type { SlowType } from './type-health.js';
import type { Warning } from './warning.js';

/** Maximum number of other waiting types to name. */
const MAX_NAMED = 3;
/** Share of the waiting time from which on it is what to look at that jobs were not ready. */
const MOSTLY = 0.5;

/**
 * Returns warnings about job types that run or wait several times longer than usual. A backlog makes all types of its
 * queues wait, so there is at most one warning about waiting: for the type with the largest ratio.
 *
 * @param holdingLimit a sentence about the limit that holds back the jobs of that type; `null` if none does
 */
export function slowTypeWarnings(slow: readonly SlowType[], holdingLimit: Sentence | null): Warning[] {
  const running = slow.filter(({ slowness }) => slowness.kind === 'running');
  const waiting = slow.filter(({ slowness }) => slowness.kind === 'waiting');
  const [longest, ...others] = waiting;
  return [
    ...running.map((type) => warningOf(type, 'Check what its handler calls, and what was deployed.')),
    ...(longest === undefined ? [] : [warningOf(longest, waitingAdvice(longest, others, holdingLimit))]),
  ];
}

function warningOf(type: SlowType, advice: Warning['advice']): Warning {
  const { name, slowness } = type;
  const { kind, shift } = slowness;
  const runs = kind === 'running';
  return {
    // All waiting types share a warning, whichever of them waits longest at the moment.
    kind: runs ? 'type-slow' : 'types-wait',
    cause: runs ? `job type ${name} runs longer` : 'job types wait longer',
    text: slowText(type),
    figure: { value: [timesText(slowness.ratio)], label: runs ? 'longer' : 'longer until the start' },
    course: {
      word: `${runs ? 'Running' : 'Waiting'}, ${quantileText(slowness)}`,
      points: slowness.course,
      format: formatDuration,
    },
    ...(shift.state === 'recovering' && { isRecovering: true }),
    advice,
    link: `types/${encodeURIComponent(name)}`,
    since: new Date(shift.beganAt ?? shift.incident.from),
  };
}

function waitingAdvice(
  { slowness }: SlowType,
  others: readonly SlowType[],
  holdingLimit: Sentence | null,
): Sentence {
  return sentence`${adviceOf(slowness, holdingLimit)}${alsoWaiting(others)}`;
}

/** Names the other types that wait, because they can wait for something else. */
function alsoWaiting(others: readonly SlowType[]): string {
  if (others.length === 0) return '';
  const named = others.slice(0, MAX_NAMED).map(({ name }) => `“${name}”`);
  const more = others.length - named.length;
  const names = [...named, ...(more === 0 ? [] : [`${formatNumber(more)} more`])];
  const verb = others.length === 1 ? 'waits' : 'wait';
  return ` ${new Intl.ListFormat('en-GB').format(names)} also ${verb} longer than usual, perhaps for another reason: see ${others.length === 1 ? 'its page' : 'their pages'}.`;
}

/** What to do depends on what the jobs wait for: a slot of a server, the limit of their queue, or to become ready. */
function adviceOf({ blockedShare }: Slowness, holdingLimit: Sentence | null): Sentence | string {
  if (blockedShare < MOSTLY && holdingLimit !== null)
    return sentence`${holdingLimit} More servers would not help: raise the limit, or let the jobs wait.`;
  return blockedShare < MOSTLY
    ? 'Check which jobs are ahead of it, and whether its queue has enough servers.'
    : `Its jobs were not ready for ${formatShare(blockedShare)} of this time: concurrency keys blocked them or, if they were scheduled, no server had enqueued them yet. Check which jobs hold the keys, and whether servers were running; more slots would not help.`;
}

/** Returns a ratio such as `6.4 ×`. */
function timesText(ratio: number): string {
  return `${ratio < 10 ? ratio.toFixed(1) : formatNumber(Math.round(ratio))} ×`;
}

function quantileText({ quantile }: Slowness): string {
  return quantile === 0.5 ? 'median' : '95th percentile';
}

function slowText({ name, slowness }: SlowType): Sentence {
  const { kind, shift, nowMs, incidentMs, baselineMs, ratio } = slowness;
  const { state, incident, now, lastAt, beganBetween } = shift;
  const subject = `Job type “${name}”`;
  const [verb, participle, past] =
    kind === 'running' ? ['runs', 'running', 'ran'] : ['waits', 'waiting', 'waited'];
  const times = timesText(ratio);
  const figure = quantileText(slowness);
  const before = `before ${formatDuration(baselineMs)}`;
  const isExact = beganBetween === null || beganBetween.until - beganBetween.from <= 60_000;
  const since = sentence`since ${isExact ? '' : 'about '}${{ until: new Date(shift.beganAt ?? incident.from) }}`;
  const during = sentence`from ${{ until: new Date(incident.from) }} to ${{ until: new Date(incident.until) }}, it ${past} ${times} longer (${figure} ${formatDuration(incidentMs)}, ${before})`;
  switch (state) {
    case 'above':
      return sentence`${subject} has been ${participle} ${times} longer ${since}: ${figure} ${formatDuration(nowMs ?? incidentMs)}, ${before}.`;
    case 'recovering':
      return sentence`${subject} is recovering: it ${verb} ${formatDuration(nowMs ?? 0)} (${figure} of the latest ${formatNumber(now.of)}); ${during}.`;
    case 'stopped':
      return sentence`${subject} has not run since ${{ until: new Date(lastAt) }}; ${during}.`;
    case 'unclear':
      return sentence`${subject} ${past} ${times} longer ${since}: ${figure} ${formatDuration(incidentMs)}, ${before}. It is not certain yet whether this continues.`;
  }
}
