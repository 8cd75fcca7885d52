import type { Context } from 'koa';

/** Each role may do what the ones before it may. */
export const roles = ['viewer', 'operator', 'admin'] as const;

/** `viewer` looks; `operator` also acts on jobs, queues and servers; `admin` also deletes. */
export type Role = (typeof roles)[number];

/** Whether the viewer has this role, or one above it. */
export function hasRole({ role }: Viewer, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** A person at the dashboard. */
export interface Viewer {
  /** Shown on every page and in the audit of what was done. */
  readonly name: string;
  readonly role: Role;
  /** The name is only what the client says of itself, beside a password that others know, too. */
  readonly unverified?: boolean;
}

/**
 * The host application's decision about a request: who it is, or `null` to refuse it with 403. To send people to a
 * sign-in page of your own, redirect in a middleware before the dashboard's.
 */
export type Authorize = (ctx: Context) => Viewer | null | Promise<Viewer | null>;
