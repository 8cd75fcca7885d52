import Type from 'typebox';
import { type Config, ConfigError, listOf, problemsOf } from './config.js';
import { dashboardVariables } from './variables.js';

const variables = Type.Object(dashboardVariables);
type DashboardConfig = Config<typeof variables>;

const roles = ['viewer', 'operator', 'admin'] as const;
type Role = (typeof roles)[number];

interface RoleMapping {
  readonly roles: Readonly<Record<string, Role>> | undefined;
  readonly defaultRole: Role | undefined;
}

/** The dashboard options that control who has access. */
export interface DashboardAccess {
  readonly password?: string;
  readonly users?: readonly { readonly name: string; readonly role: Role; readonly password: string }[];
  readonly openId?: RoleMapping & {
    readonly issuer: string;
    readonly clientId: string;
    readonly clientSecret: string | undefined;
    readonly scope: string;
    readonly roleClaim: string;
    readonly baseUrl: string;
  };
  readonly proxyHeaders?: RoleMapping & {
    readonly userHeader: string;
    readonly groupsHeader: string | undefined;
    readonly groupsSeparator: string;
    readonly addresses: readonly string[];
  };
  readonly secret?: string;
}

/**
 * Converts the configuration to the dashboard's sign-in options.
 *
 * @throws {ConfigError} if several ways to sign in are configured, or if one is incomplete or malformed
 */
export function dashboardAccess(config: DashboardConfig): DashboardAccess {
  const ways: readonly (readonly [string, string, () => DashboardAccess])[] = [
    ['DASHBOARD_PASSWORD', config.DASHBOARD_PASSWORD, () => ({ password: config.DASHBOARD_PASSWORD })],
    ['DASHBOARD_USERS', config.DASHBOARD_USERS, () => ({ users: usersIn(config.DASHBOARD_USERS) })],
    ['DASHBOARD_OIDC_ISSUER', config.DASHBOARD_OIDC_ISSUER, () => ({ openId: openIdOf(config) })],
    [
      'DASHBOARD_PROXY_USER_HEADER',
      config.DASHBOARD_PROXY_USER_HEADER,
      () => ({ proxyHeaders: proxyOf(config) }),
    ],
  ];
  const configured = ways.filter(([, value]) => value !== '');
  if (configured.length > 1)
    throw new ConfigError(`Set only one of ${configured.map(([name]) => name).join(', ')}`);
  const secret = config.DASHBOARD_SECRET === '' ? {} : { secret: config.DASHBOARD_SECRET };
  return { ...configured[0]?.[2](), ...secret };
}

function usersIn(text: string): NonNullable<DashboardAccess['users']> {
  const users = listOf(text, 'DASHBOARD_USERS').map((entry, index) => () => {
    const [, name = '', role = '', password = ''] = /^([^:]+):([^:]+):(.+)$/.exec(entry) ?? [];
    if (!isRole(role))
      throw new ConfigError(
        `DASHBOARD_USERS: entry ${index + 1} is not name:role:password with the role viewer, operator or admin`,
      );
    return { name, role, password };
  });
  requireAll(users);
  return users.map((user) => user());
}

function openIdOf(config: DashboardConfig): NonNullable<DashboardAccess['openId']> {
  const clientId = (): string => required(config, 'DASHBOARD_OIDC_CLIENT_ID', 'DASHBOARD_OIDC_ISSUER');
  const baseUrl = (): string => required(config, 'DASHBOARD_BASE_URL', 'DASHBOARD_OIDC_ISSUER');
  requireAll([clientId, baseUrl, () => mappingOf(config)]);
  return {
    issuer: config.DASHBOARD_OIDC_ISSUER,
    clientId: clientId(),
    clientSecret: config.DASHBOARD_OIDC_CLIENT_SECRET || undefined,
    scope: config.DASHBOARD_OIDC_SCOPE,
    roleClaim: config.DASHBOARD_OIDC_ROLE_CLAIM,
    baseUrl: baseUrl(),
    ...mappingOf(config),
  };
}

function proxyOf(config: DashboardConfig): NonNullable<DashboardAccess['proxyHeaders']> {
  const addresses = (): string[] =>
    listOf(
      required(config, 'DASHBOARD_PROXY_ADDRESSES', 'DASHBOARD_PROXY_USER_HEADER'),
      'DASHBOARD_PROXY_ADDRESSES',
    );
  requireAll([addresses, () => mappingOf(config), () => requireSomeRole(config)]);
  return {
    userHeader: config.DASHBOARD_PROXY_USER_HEADER,
    groupsHeader: config.DASHBOARD_PROXY_GROUPS_HEADER || undefined,
    groupsSeparator: config.DASHBOARD_PROXY_GROUPS_SEPARATOR,
    addresses: addresses(),
    ...mappingOf(config),
  };
}

function mappingOf({ DASHBOARD_ROLES, DASHBOARD_DEFAULT_ROLE }: DashboardConfig): RoleMapping {
  const entries = listOf(DASHBOARD_ROLES, 'DASHBOARD_ROLES').map((entry) => {
    const [, group = '', role = ''] = /^(.+)=([^=]+)$/.exec(entry) ?? [];
    if (!isRole(role))
      throw new ConfigError(
        `DASHBOARD_ROLES: “${entry}” is not group=role with the role viewer, operator or admin`,
      );
    return [group.trim(), role] as const;
  });
  return {
    roles: entries.length === 0 ? undefined : Object.fromEntries(entries),
    defaultRole:
      DASHBOARD_DEFAULT_ROLE === 'none' ? undefined : roles.find((role) => role === DASHBOARD_DEFAULT_ROLE),
  };
}

function requireSomeRole(config: DashboardConfig): void {
  if (config.DASHBOARD_PROXY_GROUPS_HEADER === '' && config.DASHBOARD_DEFAULT_ROLE === 'none')
    throw new ConfigError(
      'DASHBOARD_PROXY_USER_HEADER gives nobody a role: set DASHBOARD_PROXY_GROUPS_HEADER or DASHBOARD_DEFAULT_ROLE',
    );
}

/** @throws {ConfigError} with the problems of all parts */
function requireAll(parts: readonly (() => unknown)[]): void {
  const problems = parts.flatMap(problemsOf);
  if (problems.length > 0) throw new ConfigError(problems);
}

function required(config: DashboardConfig, name: keyof DashboardConfig, because: string): string {
  const value = String(config[name]);
  if (value === '') throw new ConfigError(`${name} is not set, which ${because} requires`);
  return value;
}

function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}
