import type { Context } from 'koa';

/** All roles, lowest first. Each role includes the rights of the lower ones. */
export const roles = ['viewer', 'operator', 'admin'] as const;

/**
 * `viewer` is read-only. `operator` can carry out all actions except deleting jobs and queues. `admin` can also delete
 * these.
 */
export type Role = (typeof roles)[number];

/** Returns whether the viewer has this role or a higher one. */
export function hasRole({ role }: Viewer, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** A person or program that uses the dashboard. */
export interface Viewer {
  /** The viewer's name, shown on every page and in audit entries. */
  readonly name: string;
  readonly role: Role;
  /** Whether the name is unproven, because all users share one password and can enter any name. Defaults to `false`. */
  readonly unverified?: boolean;
}

/**
 * Returns who sent a request; `null` to refuse the request with 403. Provided by the host application. To send people
 * to your own sign-in page, redirect them in a middleware in front of the dashboard.
 */
export type Authorize = (ctx: Context) => Viewer | null | Promise<Viewer | null>;
