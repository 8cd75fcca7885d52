import type { ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';

/** A deployment: a new version of an application that was put into service. */
export interface Deployment {
  /** UUIDv7. */
  readonly id: string;
  readonly version: string;
  /** When the version was put into service; in the future if the deployment is planned. */
  readonly at: Date;
  readonly note: string | null;
  /** `server` if the deployment was recorded when the first server with this version registered. */
  readonly source: 'api' | 'server';
}

export interface NewDeployment {
  /** 1 to 100 characters. */
  readonly version: string;
  /** Defaults to the current time of the storage. */
  readonly at?: Date;
  /** At most 500 characters. */
  readonly note?: string | null;
}

/** The bounds of a deployment's texts, in characters. */
export const deploymentBounds = { version: { min: 1, max: 100 }, note: { min: 0, max: 500 } } as const;

/** How long deployments are kept, in days. */
export const deploymentDays = 400;

/**
 * Records deployments. One is recorded automatically when a server registers with a version that neither the latest
 * deployment, ignoring planned ones, nor any other running server has.
 */
export interface Deployments {
  record(deployment: NewDeployment, transaction?: TransactionClient): Promise<Deployment>;
  find(id: string): Promise<Deployment | null>;
  /** Lists up to 1000 deployments, newest first. A time span includes `from`, but not `until`. */
  list(span?: { readonly from: Date; readonly until: Date }): Promise<Deployment[]>;
  /** Deletes a deployment. Returns `false` if it did not exist. */
  delete(
    id: string,
    options?: Pick<ControlOptions<Deployment, boolean>, 'check' | 'audit'>,
  ): Promise<boolean>;
}
