import { checkText, checkTime } from '../job/bounds.js';
import type { ActionOptions } from './audit-log.js';
import type { ControlOptions } from './job-control.js';

export interface Deployment {
  /** UUIDv7. */
  readonly id: string;
  readonly version: string;
  /** When the version went into service; in the future if the deployment is planned. */
  readonly at: Date;
  readonly note: string | null;
  /** `server` if recorded automatically when a server with this version registered; `api` if a client recorded it. */
  readonly source: 'api' | 'server';
}

export interface NewDeployment {
  /** A UUIDv7; by default, a new one. */
  readonly id?: string;
  /** 1 to 100 characters. */
  readonly version: string;
  /** By default, the current time by the storage's clock. */
  readonly at?: Date;
  /** At most 500 characters. */
  readonly note?: string | null;
}

/** Minimum and maximum lengths, in characters. */
export const deploymentBounds = { version: { min: 1, max: 100 }, note: { min: 0, max: 500 } } as const;

/**
 * Returns the deployment if it can be recorded.
 *
 * @throws {RangeError} if the version or the note is too long, or the time is not from 1970 to 9999
 */
export function checkDeployment(deployment: NewDeployment): NewDeployment {
  const { version, at, note } = deployment;
  checkText('version', version, deploymentBounds.version);
  if (at !== undefined) checkTime('at', at);
  if (note !== undefined && note !== null) checkText('note', note, deploymentBounds.note);
  return deployment;
}

/** How long deployments are kept, in days. */
export const deploymentDays = 400;

/** How long the version of a server that has stopped is kept, in days since the server registered. */
export const serverVersionDays = 30;

/**
 * Records deployments. When a server registers with a version, the version is recorded automatically as a deployment,
 * unless another registered server has this version or the latest past deployment was of this version.
 */
export interface Deployments {
  record(deployment: NewDeployment, options?: ActionOptions<Deployment>): Promise<Deployment>;
  find(id: string): Promise<Deployment | null>;
  /**
   * Lists up to 1000 deployments, newest first. With `span`, lists only deployments from `from` (inclusive) to `until`
   * (exclusive).
   */
  list(span?: { readonly from: Date; readonly until: Date }): Promise<Deployment[]>;
  /**
   * Returns the versions of servers by their ids, also of servers that stopped, up to 30 days after they registered.
   * Servers without a version are missing.
   */
  versionsOf(serverIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Deletes a deployment. Returns `false` if it did not exist. */
  delete(id: string, options?: ControlOptions<Deployment, boolean>): Promise<boolean>;
}
