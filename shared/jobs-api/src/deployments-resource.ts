import { deploymentOperations, type OperableStorage } from '@longshore/jobs/operations';
import { type Deployment, deploymentBounds, newId } from '@longshore/jobs/storage';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { withApiErrors } from './enqueue-requests.js';
import { nullable, text } from './fields.js';
import { checkOf, perform } from './operations.js';
import type { CallerQuotas } from './quotas.js';

const Item = Type.Object({
  id: Type.String({ format: 'uuid', description: 'A UUIDv7, assigned by the platform' }),
  version: { ...text(deploymentBounds.version, 'The version put into service'), examples: ['2.4.1'] },
  at: Type.String({
    format: 'date-time',
    description: 'When it was put into service, from 1970 on; now by default',
  }),
  note: nullable(text(deploymentBounds.note, 'A note that is shown with the charts')),
  source: Type.Enum(['api', 'server'], {
    description: '`server`: recorded when the first server with this version started',
  }),
});

const New = Type.Object(
  {
    version: Item.properties.version,
    at: Type.Optional(Item.properties.at),
    note: Type.Optional(Item.properties.note),
  },
  { additionalProperties: false },
);

const past = 'A deployment is a record of the past. Delete it and create another one.';

/**
 * `/deployments`: a deployment records when a version was put into service. The dashboard marks deployments on its
 * charts.
 */
export function deploymentsResource(
  storage: OperableStorage,
  quotas: CallerQuotas,
  requiresReason: boolean,
): Resource {
  const { deployments } = storage;
  return defineResource({
    name: 'deployments',
    description:
      'When versions of applications were put into service; the charts of the dashboard mark these times. Servers that report their version record new ones automatically.',
    item: Item,
    deletionReason: requiresReason ? 'required' : 'optional',
    serverSet: ['id', 'source'],
    create: New,
    filters: {
      version: { field: 'version', match: 'exact', description: 'Deployments of these versions.' },
      source: { field: 'source', match: 'exact', description: 'Deployments recorded in one of these ways.' },
    },
    defaultSort: ['-at'],
    notAllowed: {
      replaceMany: past,
      deleteMany: 'Deployments are deleted one at a time, at /deployments/{id}.',
      replace: past,
      patch: past,
    },
    storage: {
      seeks: true,
      list: async (query) => pageOf((await deployments.list()).map(toItem), query),
      get: async (id) => {
        const deployment = await deployments.find(id);
        return deployment === null ? undefined : toItem(deployment);
      },
      create: async ({ version, at, note = null }, context) => {
        const when = at === undefined ? {} : { at: new Date(at) };
        const deployment = { id: newId(), version, note, ...when };
        return toItem(
          await withApiErrors(async () => {
            await quotas.admitDeployment(deployment.id, context);
            const fields = { version, ...(at !== undefined && { at }), note };
            const call = { target: deployment, fields };
            const { subject } = await perform(deploymentOperations.record, storage, context, call);
            if (subject === null) throw new Error('The deployment was not stored');
            return subject;
          }),
        );
      },
      delete: async (target, check, context) => {
        const { reason } = context;
        const call = { target, fields: {}, reason, check: checkOf(check, toItem) };
        const { facts } = await perform(deploymentOperations.delete, storage, context, call);
        return facts.outcome === 'done';
      },
    },
  });
}

function toItem(deployment: Deployment): Static<typeof Item> {
  return { ...deployment, at: deployment.at.toISOString() };
}
