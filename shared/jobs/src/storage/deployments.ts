import type { TransactionClient } from './transaction.js';

/** A new version of an application was put into service. */
export interface Deployment {
  /** UUIDv7. */
  readonly id: string;
  readonly version: string;
  /** When it was put into service. */
  readonly at: Date;
  readonly note: string | null;
  /** `server`: noted when the first server with this version registered. */
  readonly source: 'api' | 'server';
}

export interface NewDeployment {
  /** 1 to 100 characters. */
  readonly version: string;
  /** The storage's time by default. */
  readonly at?: Date;
  /** At most 500 characters. */
  readonly note?: string | null;
}

/** The bounds of the texts of a deployment, in characters. */
export const deploymentBounds = { version: { least: 1, most: 100 }, note: { least: 0, most: 500 } } as const;

/** How long deployments are kept, in days. */
export const deploymentDays = 400;

/**
 * Notes when versions were put into service. A server that registers with a version that neither another running server nor the
 * latest deployment has is noted as one.
 */
export interface Deployments {
  record(deployment: NewDeployment, transaction?: TransactionClient): Promise<Deployment>;
  find(id: string): Promise<Deployment | null>;
  /** Returns the latest thousand within a span of time, or of all, newest first. */
  list(span?: { readonly from: Date; readonly until: Date }): Promise<Deployment[]>;
  /** Returns whether there was such a deployment. */
  delete(id: string): Promise<boolean>;
}
