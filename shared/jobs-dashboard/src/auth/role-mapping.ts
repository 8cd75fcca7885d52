import { type Role, roles } from './viewer.js';

/** The mapping from the groups or roles of another system to roles of the dashboard. */
export interface RoleMapping {
  /**
   * Roles by group, such as `{ sre: 'admin', developers: 'operator' }`. By default, the groups `viewer`, `operator` and
   * `admin` map to the roles of the same names.
   */
  readonly roles?: Readonly<Record<string, Role>> | undefined;
  /** The role of users without a mapped group. By default, they have no access. */
  readonly defaultRole?: Role | undefined;
}

/**
 * Returns the highest role to which the groups map, or `null` for no access.
 *
 * @param groups a list, or a text separated by commas or spaces; anything else counts as no groups
 */
export function roleOf(groups: unknown, { roles: mapping, defaultRole }: RoleMapping): Role | null {
  const names = typeof groups === 'string' ? groups.split(/[\s,]+/) : Array.isArray(groups) ? groups : [];
  const known = new Map<unknown, Role>(
    mapping === undefined ? roles.map((role) => [role, role]) : Object.entries(mapping),
  );
  const found = new Set([defaultRole, ...names.map((name) => known.get(name))]);
  return roles.findLast((role) => found.has(role)) ?? null;
}
