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

/** Maps the groups or roles of another system to roles of the dashboard. */
export interface RoleMapping {
  /**
   * Roles by group, such as `{ sre: 'admin', developers: 'operator' }`. By default, the groups `viewer`, `operator` and
   * `admin` map to the roles of the same names.
   */
  readonly roles?: Readonly<Record<string, Role>> | undefined;
  /** The minimum role of every user. By default, users without a mapped group have no access. */
  readonly defaultRole?: Role | undefined;
}

/** Returns the highest of the default role and the roles of the groups; `null` if there is none. */
export function roleOf(
  groups: readonly unknown[],
  { roles: mapping, defaultRole }: RoleMapping,
): Role | null {
  const known = new Map<unknown, Role>(
    mapping === undefined ? roles.map((role) => [role, role]) : Object.entries(mapping),
  );
  const found = new Set([defaultRole, ...groups.map((group) => known.get(group))]);
  return roles.findLast((role) => found.has(role)) ?? null;
}
