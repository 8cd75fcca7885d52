import type { Deployment } from '../storage/deployments.js';
import { noFields, operation } from './operation.js';
import type { Facts } from './operation-description.js';

/** The operations on the record of a deployment. */
export const deploymentOperations = {
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
