import { type Incident, isId, isMuted } from '@longshore/jobs/storage';
import { changesBefore, periodBefore, readChanges } from '../diagnosis/changes.js';
import { isRecovering, mayHaveBegunEarlier, pathIn } from '../diagnosis/warning.js';
import type { Badge } from '../format/state-badge.js';
import { badRequest, notFound } from '../http/problem.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { readRows } from './list-page.js';

const ROWS = 50;
/** Maximum number of earlier incidents of the same warning to show, among the latest {@link MAX_EXAMINED} incidents. */
const MAX_EARLIER = 10;
const MAX_EXAMINED = 1_000;

export async function incidentsPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !isId(after))
    throw badRequest('There is no such page of the list', `“${after}” is not the id of an incident.`);
  return {
    title: 'Incidents',
    section: 'incidents',
    view: 'page',
    regions: [
      {
        name: 'incidents',
        view: 'incidents-list',
        everyMs: 5_000,
        load: async () => {
          const position = after === null ? {} : { after };
          const { rows, isComplete } = await readRows(ROWS, (limit) =>
            context.reader.incidents.list({ limit, ...position }),
          );
          return {
            incidents: rows.map((incident) => incidentRow(incident, context.now())),
            order: 'newest',
            first: after === null ? null : 'incidents',
            next: isComplete ? null : `incidents?after=${rows.at(-1)?.id}`,
          };
        },
      },
    ],
  };
}

export async function incidentPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const { incident: id = '' } = params;
  const { key } = await find(id, context);
  return {
    title: key.slice(0, 1).toUpperCase() + key.slice(1),
    section: 'incidents',
    view: 'page',
    kicker: { path: 'incidents', text: 'Incidents' },
    id,
    regions: [{ name: 'incident', view: 'incident', everyMs: 5_000, load: () => loadIncident(id, context) }],
  };
}

async function loadIncident(id: string, context: PageContext): Promise<object> {
  const incident = await find(id, context);
  const [changes, latest] = await Promise.all([
    readChanges(periodBefore(incident.since.getTime()), context),
    context.reader.incidents.list({ limit: MAX_EXAMINED }),
  ]);
  return {
    incident: { ...incidentRow(incident, context.now()), seenAt: incident.seenAt },
    runbook: context.runbook.of(incident),
    changes: changesBefore(incident, changes),
    earlier: latest
      .filter(({ key, id: other }) => key === incident.key && other !== incident.id)
      .slice(0, MAX_EARLIER)
      .map((each) => incidentRow(each, context.now())),
  };
}

async function find(id: string, { reader }: PageContext): Promise<Incident> {
  const incident = isId(id) ? await reader.incidents.find(id) : null;
  if (incident === null)
    throw notFound('There is no such incident', 'Incidents are kept for 30 days after their end.');
  return incident;
}

/** Returns an incident as lists show it: without what changes with each check. */
function incidentRow({ seenAt, ...incident }: Incident, nowMs: number): object {
  return {
    ...incident,
    link: pathIn(incident.link),
    mayHaveBegunEarlier: mayHaveBegunEarlier(incident),
    badge: badgeOf({ ...incident, seenAt }, nowMs),
    isMuted: isMuted(incident, new Date(nowMs)),
    ended: incident.ending === null ? null : endings[incident.ending],
  };
}

function badgeOf(incident: Incident, nowMs: number): Badge {
  if (incident.ending !== null) return { icon: 'check', word: 'Ended', tone: 'done' };
  return isRecovering(incident, nowMs)
    ? { icon: 'clock', word: 'Recovering', tone: 'scheduled' }
    : { icon: 'alert', word: 'Ongoing', tone: 'failed' };
}

const endings: Readonly<Record<NonNullable<Incident['ending']>, string>> = {
  recovered: 'It was back to normal, or no longer bad enough for a warning.',
  resolved: 'It no longer applies.',
  replaced: 'Another warning about the same thing took its place.',
};
