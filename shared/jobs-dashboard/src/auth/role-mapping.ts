import { type Role, roles } from './viewer.js';

/** How the groups or roles that another system knows become roles of the dashboard. */
export interface RoleMapping {
  /**
   * Roles by group, such as `{ sre: 'admin', developers: 'operator' }`. By default, `viewer`, `operator` and `admin` mean
   * themselves.
   */
  readonly roles?: Readonly<Record<string, Role>> | undefined;
  /** The role of everyone without a mapped group. By default, they have no access. */
  readonly defaultRole?: Role | undefined;
}

/**
 * Returns the highest role that the groups have, or `null` for no access.
 *
 * @param groups a list, or a text in which commas or spaces separate them; anything else counts as none
 */
export function roleOf(groups: unknown, { roles: mapping, defaultRole }: RoleMapping): Role | null {
  const names = typeof groups === 'string' ? groups.split(/[\s,]+/) : Array.isArray(groups) ? groups : [];
  const known = new Map<unknown, Role>(
    mapping === undefined ? roles.map((role) => [role, role]) : Object.entries(mapping),
  );
  const found = new Set([defaultRole, ...names.map((name) => known.get(name))]);
  return roles.findLast((role) => found.has(role)) ?? null;
}
