import { bounds } from '../job/bounds.js';
import type { PauseOptions } from '../job/pause.js';
import { storable } from '../job/storable.js';
import type { ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';

/** A warning that currently applies, according to the dashboard. */
export interface ObservedWarning {
  /** Identifies the warning; does not change while the warning lasts. */
  readonly key: string;
  /** The kind of warning, such as `queue-paused`: lower-case words with hyphens. */
  readonly kind: string;
  /** What is affected, such as `server {id}`. A new warning about the same thing replaces an earlier one. */
  readonly subject: string;
  readonly text: string;
  /** What an operator should do about the warning. */
  readonly advice: string;
  /** Path of the dashboard page about the warning. */
  readonly link: string;
  /** When the condition began; `null` if only its first observation is known. Can be corrected unless it is measured. */
  readonly beganAt: Date | null;
  /** Whether the condition is measured, so that it fluctuates, rather than a stored fact, such as a pause. */
  readonly isMeasured: boolean;
  /** Whether the condition is back to normal, but not yet for long enough to end the warning. */
  readonly isRecovering: boolean;
  /** The names of the webhooks that get the messages. All webhooks by default, and if none of them is registered. */
  readonly tell?: readonly string[];
}

/**
 * Why an incident ended:
 *
 * - `recovered`: the condition has been back to normal, or a measured one absent, for {@link incidentEndsAfterMs}
 * - `resolved`: the condition no longer holds, for example because somebody resumed a queue
 * - `replaced`: a measured condition is absent, and there is another warning about the same thing, for example because a
 *   silent server was declared dead
 */
export const incidentEndings = ['recovered', 'resolved', 'replaced'] as const;
export type IncidentEnding = (typeof incidentEndings)[number];

/** A warning from its beginning to its end, and as history afterwards. */
export interface Incident extends Omit<ObservedWarning, 'beganAt'> {
  readonly id: string;
  /** When the condition began or, if that is not known, when it was first observed. */
  readonly since: Date;
  /** When the condition was last observed. */
  readonly seenAt: Date;
  /** When the condition ended; `null` while it lasts, and for the first {@link incidentEndsAfterMs} of a recovery. */
  readonly endedAt: Date | null;
  readonly ending: IncidentEnding | null;
  /**
   * Whether a separate message announced the beginning. If `false`, the incident was muted or only counted in another
   * message, and its end is not announced.
   */
  readonly announced: boolean;
  /** When somebody acknowledged the incident, who, and why; each `null` if nobody has. */
  readonly acknowledgedAt: Date | null;
  readonly acknowledgedBy: string | null;
  readonly acknowledgeReason: string | null;
  /** Until when no messages are sent about the warning, also if it ends and begins again; `null` if it is not muted. */
  readonly mutedUntil: Date | null;
  readonly mutedBy: string | null;
  readonly muteReason: string | null;
}

export interface IncidentQuery {
  /** Whether to list only active incidents (`true`) or only those that have ended (`false`). Both by default. */
  readonly isActive?: boolean;
  readonly limit: number;
  /** Continues after the incident with this id. */
  readonly after?: string;
}

export type IncidentOptions = ControlOptions<Incident, Incident | null>;

/** Remembers warnings from their beginning to their end. All processes share these records. */
export interface Incidents {
  /**
   * Reserves a check of the warnings for the caller. Returns `false` if a check was reserved within the last `everyMs`
   * milliseconds, by any process.
   */
  reserveCheck(everyMs: number): Promise<boolean>;
  /**
   * Updates the active incidents to match the current warnings. Stores messages about those that began or ended, for each
   * registered target of alerts.
   *
   * @param warnings the current warnings, most urgent first
   */
  observe(warnings: readonly ObservedWarning[]): Promise<void>;
  /** Lists incidents, newest first: active ones, and those of the last {@link incidentsKeptMs}. */
  list(query: IncidentQuery): Promise<Incident[]>;
  find(id: string, transaction?: TransactionClient): Promise<Incident | null>;
  /**
   * Records that somebody takes care of an incident, in place of an earlier acknowledgement. Returns the incident as it was
   * before; `null` if there is none.
   */
  acknowledge(
    id: string,
    by: Pick<PauseOptions, 'by' | 'reason'>,
    options?: IncidentOptions,
  ): Promise<Incident | null>;
  /**
   * Mutes the warning of an incident, with all its incidents, until a time at most a year ahead, or ends its muting
   * with `null`. Returns the incident as it was before; `null` if there is none.
   *
   * @throws {RangeError} if the time is not within the next year
   */
  mute(id: string, mute: MuteOptions | null, options?: IncidentOptions): Promise<Incident | null>;
}

export type MuteOptions = PauseOptions & { readonly until: Date };

/** How long a measured condition must be absent before its incident ends, in milliseconds. */
export const incidentEndsAfterMs = 120_000;

/** How long ended incidents are kept, in milliseconds. */
export const incidentsKeptMs = 30 * 86_400_000;

/** Maximum number of ended incidents to keep, the latest ones. */
export const maxIncidents = 10_000;

/**
 * Maximum number of individual messages for warnings that begin at the same time. One additional message counts the
 * rest.
 */
export const maxAnnounced = 20;

/** Maximum length of a stored text, in characters. */
const maxText = 2_000;
const maxKind = 50;
const maxKey = 5 * bounds.keyLength.max;

/**
 * Returns the warning with texts that Postgres can store. Replaces characters that Postgres rejects, and truncates long
 * texts.
 */
export function storableWarning(warning: ObservedWarning): ObservedWarning {
  return {
    ...warning,
    key: storable(warning.key, maxKey),
    kind: storable(warning.kind, maxKind),
    subject: storable(warning.subject, maxKey),
    text: storable(warning.text, maxText),
    advice: storable(warning.advice, maxText),
    link: storable(warning.link, maxText),
  };
}

/**
 * The content of a message. `warning.began` and `warning.ended` are about one incident. `warnings.began` counts the
 * warnings beyond `maxAnnounced` that began at the same time.
 */
export type AlertContent =
  | {
      readonly type: 'warning.began' | 'warning.ended';
      readonly incident: Pick<Incident, 'id' | 'kind' | 'key' | 'text' | 'advice' | 'link'>;
      readonly since: string;
      /** When the condition ended; `null` for `warning.began`. */
      readonly endedAt: string | null;
      readonly ending: IncidentEnding | null;
    }
  | { readonly type: 'warnings.began'; readonly count: number; readonly since: string };

/** A message about an incident, and when to send it. */
export interface IncidentMessage {
  readonly content: AlertContent;
  readonly dueAt: Date;
  /** The targets that get it. All by default, and if none of them is registered. */
  readonly tell?: readonly string[];
}

/** What changes when the current warnings are compared with the stored incidents. */
export interface IncidentChanges {
  /** Incidents that began, lasted, began again or ended, as they are now. */
  readonly changed: readonly Incident[];
  readonly messages: readonly IncidentMessage[];
  /** The incidents that began again: the messages about their ends are withdrawn. */
  readonly reopened: readonly string[];
}

/**
 * Compares the stored incidents with the current warnings.
 *
 * A warning that returns within {@link incidentEndsAfterMs} continues its incident, unless it had recovered and began again
 * later. Therefore, the message about the end of a stored fact is due only after that time.
 *
 * @param stored the active incidents, the latest of each key that ended within {@link incidentEndsAfterMs}, and the
 *   latest of each key that is muted
 * @param observed the current warnings; of those with the same key, the first counts
 * @param now the current time by the storage's clock
 */
export function advanceIncidents(
  stored: readonly Incident[],
  observed: readonly ObservedWarning[],
  now: Date,
  newId: () => string,
): IncidentChanges {
  const current = new Map<string, ObservedWarning>();
  for (const warning of observed) if (!current.has(warning.key)) current.set(warning.key, warning);
  const latest = new Map<string, Incident>();
  for (const incident of stored.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
    if (latest.get(incident.key)?.endedAt !== null) latest.set(incident.key, incident);
  const lasting: Incident[] = [];
  const reopened: Incident[] = [];
  const begun: Incident[] = [];
  for (const { beganAt, ...warning } of current.values()) {
    const before = latest.get(warning.key);
    const seen = { ...warning, seenAt: now };
    if (before !== undefined && isContinued(before, beganAt, now))
      (before.endedAt === null ? lasting : reopened).push({
        ...before,
        ...seen,
        since: lastingSince({ ...warning, beganAt }, before, now),
        endedAt: null,
        ending: null,
      });
    else begun.push(beginning({ ...seen, id: newId(), since: earlierOf(beganAt ?? now, now) }, before, now));
  }
  let announced = 0;
  const announcements = begun.map((incident) => ({
    ...incident,
    announced: !isMuted(incident, now) && ++announced <= maxAnnounced,
  }));
  const unannounced = Math.max(0, announced - maxAnnounced);
  const absent = [...latest.values()].flatMap((incident) =>
    current.has(incident.key) ? [] : withoutWarning(incident, [...current.values()], now),
  );
  return {
    changed: [...lasting, ...reopened, ...announcements, ...absent],
    reopened: reopened.map(({ id }) => id),
    messages: [
      ...announcements
        .filter((incident) => incident.announced)
        .map((incident) => ({
          content: contentOf('warning.began', incident),
          dueAt: now,
          ...tellOf(incident),
        })),
      ...(unannounced === 0
        ? []
        : [
            {
              content: { type: 'warnings.began', count: unannounced, since: now.toISOString() } as const,
              dueAt: now,
            },
          ]),
      ...absent
        .filter((incident) => incident.endedAt !== null && incident.announced && !isMuted(incident, now))
        .map((incident) => ({
          content: contentOf('warning.ended', incident),
          dueAt: incident.ending === 'recovered' ? now : new Date(now.getTime() + incidentEndsAfterMs),
          ...tellOf(incident),
        })),
    ],
  };
}

/**
 * Returns whether a warning that is observed now belongs to its latest incident, instead of beginning another one. It does not
 * if the condition had recovered, which was announced at once, and began again later.
 */
function isContinued({ since, endedAt, ending }: Incident, beganAt: Date | null, now: Date): boolean {
  if (endedAt === null) return true;
  const beganAgain = ending === 'recovered' && beganAt !== null && beganAt > since;
  return !beganAgain && Math.abs(now.getTime() - endedAt.getTime()) < incidentEndsAfterMs;
}

/**
 * Returns the beginning of an incident whose warning lasts. Stored facts and findings say when they began, which can be
 * corrected; what is measured keeps its first beginning, because what is measured now has not existed for as long.
 */
export function lastingSince(
  { beganAt, isMeasured }: Pick<ObservedWarning, 'beganAt' | 'isMeasured'>,
  { since }: Pick<Incident, 'since'>,
  now: Date,
): Date {
  return earlierOf(isMeasured ? since : (beganAt ?? since), now);
}

/** Limits a beginning to the present: it can be in the future after the clock was set back. */
function earlierOf(since: Date, now: Date): Date {
  return since < now ? since : now;
}

/** @param before the latest incident with the same key, whose muting goes on */
function beginning(
  incident: Pick<Incident, keyof Omit<ObservedWarning, 'beganAt'> | 'id' | 'since' | 'seenAt'>,
  before: Incident | undefined,
  now: Date,
): Incident {
  const isStillMuted = before !== undefined && isMuted(before, now);
  return {
    ...incident,
    endedAt: null,
    ending: null,
    announced: false,
    acknowledgedAt: null,
    acknowledgedBy: null,
    acknowledgeReason: null,
    mutedUntil: isStillMuted ? before.mutedUntil : null,
    mutedBy: isStillMuted ? before.mutedBy : null,
    muteReason: isStillMuted ? before.muteReason : null,
  };
}

/** Returns what changes of an incident whose warning is absent: nothing if it had ended before, or might return. */
function withoutWarning(incident: Incident, current: readonly ObservedWarning[], now: Date): Incident[] {
  if (incident.endedAt !== null) return [];
  const since = earlierOf(incident.since, now);
  if (!incident.isMeasured) {
    const ending = incident.isRecovering ? 'recovered' : 'resolved';
    return [{ ...incident, since, endedAt: now, ending }];
  }
  if (current.some((warning) => isAboutSame(warning, incident)))
    return [{ ...incident, since, endedAt: now, ending: 'replaced' }];
  // The clock was set back: the two minutes start again.
  if (incident.seenAt > now) return [{ ...incident, since, seenAt: now }];
  if (now.getTime() - incident.seenAt.getTime() < incidentEndsAfterMs) return [];
  return [{ ...incident, endedAt: incident.seenAt, ending: 'recovered' }];
}

/**
 * Returns whether two warnings are about the same thing: they have the same subject, or lead to the page of the same queue,
 * job or the like, but not only to the same list.
 */
export function isAboutSame(
  one: Pick<ObservedWarning, 'subject' | 'link'>,
  other: Pick<ObservedWarning, 'subject' | 'link'>,
): boolean {
  return one.subject === other.subject || (one.link === other.link && one.link.includes('/'));
}

/** Returns whether no messages are sent about the warning of an incident. */
export function isMuted({ mutedUntil }: Pick<Incident, 'mutedUntil'>, now: Date): boolean {
  return mutedUntil !== null && mutedUntil > now;
}

/** Returns who gets the messages about an incident; nothing for all. */
function tellOf({ tell }: Incident): Pick<IncidentMessage, 'tell'> {
  return tell === undefined ? {} : { tell };
}

function contentOf(type: 'warning.began' | 'warning.ended', incident: Incident): AlertContent {
  const { id, kind, key, text, advice, link, since, endedAt, ending } = incident;
  return {
    type,
    incident: { id, kind, key, text, advice, link },
    since: since.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    ending,
  };
}
