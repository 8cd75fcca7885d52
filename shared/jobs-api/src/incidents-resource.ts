import type { JobStorage } from '@longshore/jobs';
import { incidentOperations, type OperableStorage } from '@longshore/jobs/operations';
import { bounds, type Incident, incidentEndings, maxIncidents } from '@longshore/jobs/storage';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable, text, Time, toTime } from './fields.js';
import { served } from './operations.js';

const By = nullable(Type.String({ description: 'Who did that' }));
const Why = nullable(text(bounds.reasonLength, 'The reason'));

const Item = Type.Object({
  id: Type.String({ format: 'uuid' }),
  kind: Type.String({ description: 'The kind of warning', examples: ['queue-paused'] }),
  key: Type.String({
    description: 'Identifies the warning, also when it begins again',
    examples: ['queue mail is paused'],
  }),
  subject: Type.String({ description: 'What is affected' }),
  text: Type.String({ description: 'The warning, as it was last observed' }),
  advice: Type.String({ description: 'What to do about it' }),
  isActive: Type.Boolean({ description: 'Whether it has not ended' }),
  since: Type.String({ ...Time, description: 'When the condition began, or was first observed' }),
  seenAt: Type.String({ ...Time, description: 'When the condition was last observed' }),
  endedAt: nullable(Type.String({ ...Time, description: 'When the condition ended' })),
  ending: nullable(
    Type.Enum([...incidentEndings], {
      description:
        'Why it ended: `recovered` if what is measured was normal for two minutes, `resolved` if the condition no longer holds, `replaced` by another warning about the same subject',
    }),
  ),
  acknowledgedAt: nullable(Time),
  acknowledgedBy: By,
  acknowledgeReason: Why,
  mutedUntil: nullable(
    Type.String({ ...Time, description: 'Until when no messages are sent about the warning' }),
  ),
  mutedBy: By,
  muteReason: Why,
});

const observed = 'The dashboard records incidents; use PUT /incidents/{id}/acknowledge, mute or unmute.';

/** `/incidents`: the warnings of the dashboard, from their beginning to their end and for 30 days afterwards. */
export function incidentsResource(
  storage: OperableStorage & Pick<JobStorage, 'incidents'>,
  requiresReason: boolean,
): Resource {
  const { incidents } = storage;
  const { declarations, functions } = served(Object.values(incidentOperations), {
    storage,
    requiresReason,
    toItem,
  });
  return defineResource({
    name: 'incidents',
    description:
      'The warnings of the dashboard, from their beginning to their end and for 30 days afterwards.',
    item: Item,
    serverSet: Object.keys(Item.properties) as (keyof typeof Item.properties)[],
    filters: {
      isActive: {
        field: 'isActive',
        match: 'exact',
        description: 'Incidents that last, or that have ended.',
      },
      key: { field: 'key', match: 'exact', description: 'Incidents of these warnings.' },
      kind: { field: 'kind', match: 'exact', description: 'Incidents of these kinds.' },
      subject: { field: 'subject', match: 'exact', description: 'Incidents of these subjects.' },
    },
    defaultSort: ['-since'],
    operations: declarations,
    notAllowed: {
      create: observed,
      replaceMany: observed,
      deleteMany: observed,
      replace: observed,
      patch: observed,
      delete: observed,
    },
    storage: {
      seeks: true,
      list: async (query) => pageOf((await incidents.list({ limit: 2 * maxIncidents })).map(toItem), query),
      get: async (id) => {
        const incident = await incidents.find(id);
        return incident === null ? undefined : toItem(incident);
      },
      operations: functions,
    },
  });
}

function toItem({
  link: _link,
  isMeasured: _isMeasured,
  isRecovering: _isRecovering,
  announced: _announced,
  ...incident
}: Incident): Static<typeof Item> {
  return {
    ...incident,
    isActive: incident.endedAt === null,
    since: incident.since.toISOString(),
    seenAt: incident.seenAt.toISOString(),
    endedAt: toTime(incident.endedAt),
    acknowledgedAt: toTime(incident.acknowledgedAt),
    mutedUntil: toTime(incident.mutedUntil),
  };
}
