import Type from 'typebox';
import type { Deployment, NewDeployment } from '../storage/deployments.js';
import { noFields, operation } from './operation.js';
import type { Facts } from './operation-description.js';

const RecordFields = Type.Object(
  {
    version: Type.String({ description: 'The version that was put into service' }),
    at: Type.Optional(Type.String({ format: 'date-time', description: 'When; now by default' })),
    note: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'A note for the charts' })),
  },
  { additionalProperties: false },
);

/** The operations on the record of a deployment. */
export const deploymentOperations = {
  record: operation<typeof RecordFields, Deployment, Deployment, NewDeployment>({
    on: 'deployments',
    name: 'record',
    summary: 'Record a deployment',
    done: 'recorded',
    message: 'The deployment is recorded.',
    role: 'operator',
    fields: RecordFields,
    change: ({ deployments }, { target }, options) => deployments.record(target, options),
    facts: ({ id }): Facts => ({ outcome: 'done', target: id }),
    after: (_storage, _call, deployment: Deployment) => deployment,
  }),
  delete: operation<typeof noFields, Deployment, boolean>({
    on: 'deployments',
    name: 'delete',
    summary: 'Delete the record of a deployment',
    done: 'deleted',
    message: 'The deployment is deleted.',
    role: 'operator',
    isReasoned: true,
    fields: noFields,
    change: ({ deployments }, { target }, options) => deployments.delete(target, options),
    facts: (existed): Facts => ({ outcome: existed ? 'done' : 'unknown' }),
    after: (): Deployment | null => null,
  }),
};
