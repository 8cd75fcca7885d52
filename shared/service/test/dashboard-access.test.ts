import { expect } from 'chai';
import Type from 'typebox';
import { ConfigError, dashboardAccess, dashboardVariables, problemsOf, readConfig } from '../src/index.js';

const accessOf = (environment: Record<string, string>) =>
  dashboardAccess(readConfig(Type.Object(dashboardVariables), environment));

describe('The configuration of access to the dashboard', () => {
  it('is empty by default', () => {
    expect(accessOf({})).to.deep.equal({});
  });

  it('reads users, whose passwords may contain colons', () => {
    expect(accessOf({ DASHBOARD_USERS: 'ann:admin:a:b,bob:viewer:scrypt:x:y' }).users).to.deep.equal([
      { name: 'ann', role: 'admin', password: 'a:b' },
      { name: 'bob', role: 'viewer', password: 'scrypt:x:y' },
    ]);
  });

  it('reads an OpenID Connect provider with roles by group', () => {
    const { openId } = accessOf({
      DASHBOARD_OIDC_ISSUER: 'https://id.example.com',
      DASHBOARD_OIDC_CLIENT_ID: 'dashboard',
      DASHBOARD_BASE_URL: 'https://ops.example.com/job-dashboard',
      DASHBOARD_ROLES: 'cn=sre=admin, developers=operator',
      DASHBOARD_DEFAULT_ROLE: 'viewer',
    });
    expect(openId).to.deep.include({
      clientId: 'dashboard',
      roles: { 'cn=sre': 'admin', developers: 'operator' },
      defaultRole: 'viewer',
    });
  });

  for (const [what, environment, message] of [
    ['two ways', { DASHBOARD_PASSWORD: 'x', DASHBOARD_USERS: 'a:admin:b' }, 'only one of DASHBOARD_PASSWORD'],
    ['a user without a role', { DASHBOARD_USERS: 'ann:secret' }, 'entry 1'],
    ['an unknown role', { DASHBOARD_USERS: 'ann:root:secret' }, 'entry 1'],
    [
      'a provider without a client',
      { DASHBOARD_OIDC_ISSUER: 'https://x' },
      'DASHBOARD_OIDC_CLIENT_ID is not set',
    ],
    [
      'a proxy without addresses',
      { DASHBOARD_PROXY_USER_HEADER: 'X-User' },
      'DASHBOARD_PROXY_ADDRESSES is not set',
    ],
    [
      'an unknown mapped role',
      {
        DASHBOARD_PROXY_USER_HEADER: 'X-User',
        DASHBOARD_PROXY_ADDRESSES: '::1',
        DASHBOARD_ROLES: 'sre=root',
      },
      'sre=root',
    ],
  ] as const)
    it(`rejects ${what}, and does not show secrets`, () => {
      expect(() => accessOf(environment))
        .to.throw(ConfigError, message)
        .and.not.match(/secret/);
    });

  it('is rejected with all problems at once', () => {
    const environment = { DASHBOARD_PROXY_USER_HEADER: 'X-User', DASHBOARD_ROLES: 'sre=root' };
    expect(problemsOf(() => accessOf(environment))).to.deep.equal([
      'DASHBOARD_PROXY_ADDRESSES is not set, which DASHBOARD_PROXY_USER_HEADER requires',
      'DASHBOARD_ROLES: “sre=root” is not group=role with the role viewer, operator or admin',
      'DASHBOARD_PROXY_USER_HEADER gives nobody a role: set DASHBOARD_PROXY_GROUPS_HEADER or DASHBOARD_DEFAULT_ROLE',
    ]);
    expect(problemsOf(() => accessOf({ DASHBOARD_USERS: 'ann:secret,bob' }))).to.have.lengthOf(2);
  });
});
