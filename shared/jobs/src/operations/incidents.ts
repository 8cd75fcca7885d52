import Type from 'typebox';
import { type Incident, isMuted } from '../storage/incidents.js';
import { type Call, noFields, operation, type OperableStorage } from './operation.js';
import type { Facts } from './operation-description.js';

const MuteFields = Type.Object(
  {
    until: Type.String({
      format: 'date-time',
      description: 'Until when no messages are sent about the warning: in the future, at most a year ahead',
    }),
  },
  { additionalProperties: false },
);

/** The operations on an incident. */
export const incidentOperations = {
  acknowledge: operation<typeof noFields, Incident, Incident | null>({
    on: 'incidents',
    name: 'acknowledge',
    summary: 'Acknowledge an incident: say that you take care of it',
    note: 'Shown to everybody with the reason, until the incident ends.',
    done: 'acknowledged',
    message: 'The incident is acknowledged.',
    role: 'operator',
    fields: noFields,
    change: ({ incidents }, { target, by, reason = null }, options) =>
      incidents.acknowledge(target, { by: by.name, reason }, options),
    facts: (incident) => factsOf(incident, true),
    after,
  }),
  mute: operation<typeof MuteFields, Incident, Incident | null>({
    on: 'incidents',
    name: 'mute',
    summary: 'Send no messages about a warning until a time',
    note: 'Applies to the same warning, also if it ends and begins again. It stays on the overview, after the others.',
    done: 'muted',
    message: 'The warning is muted: no messages are sent about it until then.',
    role: 'operator',
    isReasoned: true,
    fields: MuteFields,
    change: ({ incidents }, { target, fields, by, reason = null }, options) =>
      incidents.mute(target, { until: new Date(fields.until), by: by.name, reason }, options),
    facts: (incident) => factsOf(incident, true),
    after,
  }),
  unmute: operation<typeof noFields, Incident, Incident | null>({
    on: 'incidents',
    name: 'unmute',
    summary: 'Send messages about a muted warning again',
    done: 'unmuted',
    message: 'The warning is no longer muted.',
    role: 'operator',
    fields: noFields,
    change: ({ incidents }, { target }, options) => incidents.mute(target, null, options),
    facts: (incident) => factsOf(incident, incident !== null && isMuted(incident, incident.seenAt)),
    after,
  }),
};

/** The entry names the warning, because the ids of incidents say nothing to people. */
function factsOf(incident: Incident | null, isChanged: boolean): Facts {
  if (incident === null) return { outcome: 'unknown' };
  return { outcome: isChanged ? 'done' : 'unchanged', target: incident.key };
}

async function after(
  { incidents }: OperableStorage,
  { target, transaction }: Call<string, unknown, Incident>,
): Promise<Incident | null> {
  return incidents.find(target, transaction);
}
