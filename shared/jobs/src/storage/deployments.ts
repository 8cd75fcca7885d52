import type { ControlOptions } from './job-control.js';
import type { TransactionClient } from './transaction.js';

/** A deployment: a new version of an application that was put into service. */
export interface Deployment {
  /** UUIDv7. */
  readonly id: string;
  readonly version: string;
  /** When the version was put into service. */
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
 * Records deployments. A server that registers counts as a deployment if its version differs from that of the latest
 * deployment and of every other running server.
 */
export interface Deployments {
  record(deployment: NewDeployment, transaction?: TransactionClient): Promise<Deployment>;
  find(id: string): Promise<Deployment | null>;
  /** Returns up to a thousand deployments, within a time span if one is given, newest first. */
  list(span?: { readonly from: Date; readonly until: Date }): Promise<Deployment[]>;
  /** Deletes a deployment. The result is whether it existed. */
  delete(
    id: string,
    options?: Pick<ControlOptions<Deployment, boolean>, 'check' | 'audit'>,
  ): Promise<boolean>;
}
