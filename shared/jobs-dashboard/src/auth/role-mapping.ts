import { type Role, roles } from './viewer.js';

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
