import type { Context } from 'koa';

/** All roles, lowest first. Each includes the rights of those before it. */
export const roles = ['viewer', 'operator', 'admin'] as const;

/** `viewer` is read-only; `operator` also acts on jobs, queues and servers; `admin` also deletes. */
export type Role = (typeof roles)[number];

/** Returns whether the viewer has this role or a higher one. */
export function hasRole({ role }: Viewer, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** A user of the dashboard. */
export interface Viewer {
  /** Shown on every page and in audit entries. */
  readonly name: string;
  readonly role: Role;
  /** Whether the name was merely entered by the client: only the shared password has been checked. */
  readonly unverified?: boolean;
}

/**
 * Returns who sent a request, or `null` to refuse it with 403. Provided by the host application. To send people to a
 * sign-in page of your own, redirect in a middleware before the dashboard's.
 */
export type Authorize = (ctx: Context) => Viewer | null | Promise<Viewer | null>;
