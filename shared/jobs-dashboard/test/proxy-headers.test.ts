import { expect } from 'chai';
import { openSite } from './dashboard-site.js';
import type { ProxyHeaderOptions } from '../src/index.js';

const proxy = {
  userHeader: 'X-Forwarded-User',
  groupsHeader: 'X-Forwarded-Groups',
  addresses: ['127.0.0.0/8', '::1'],
  roles: { sre: 'admin', developers: 'operator' },
} as const;

async function statusAndText(
  proxyHeaders: ProxyHeaderOptions,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const site = await openSite({ production: true, proxyHeaders });
  try {
    return await site.http.get('/job-dashboard/', { headers });
  } finally {
    await site.close();
  }
}

describe('a dashboard behind an authenticating proxy', () => {
  it('takes the name and the highest role from its headers', async () => {
    const { text } = await statusAndText(proxy, {
      'x-forwarded-user': 'ann@example.com',
      'x-forwarded-groups': 'developers,sre, office',
    });
    expect(text).to.include('<b>ann@example.com</b> <span class="role">admin</span>');
  });

  for (const [what, options, headers] of [
    [
      'the headers of other addresses',
      { ...proxy, addresses: ['10.0.0.0/8'] },
      { 'x-forwarded-user': 'ann' },
    ],
    ['a request without a user', proxy, { 'x-forwarded-groups': 'sre' }],
    ['an empty user', proxy, { 'x-forwarded-user': ' ', 'x-forwarded-groups': 'sre' }],
    ['users without a mapped group', proxy, { 'x-forwarded-user': 'ann', 'x-forwarded-groups': 'office' }],
    [
      'a group whose name contains that of a mapped one',
      proxy,
      { 'x-forwarded-user': 'ann', 'x-forwarded-groups': 'not sre' },
    ],
    ['a role that is not mapped', proxy, { 'x-forwarded-user': 'ann', 'x-forwarded-groups': 'admin' }],
  ] as const)
    it(`refuses ${what}`, async () => {
      expect((await statusAndText(options, headers)).status).to.equal(403);
    });

  it('splits groups at another separator', async () => {
    const { text } = await statusAndText(
      { ...proxy, groupsSeparator: '|' },
      { 'x-forwarded-user': 'ann', 'x-forwarded-groups': 'office|sre' },
    );
    expect(text).to.include('<span class="role">admin</span>');
  });

  it('gives users without a mapped group the default role', async () => {
    const { text } = await statusAndText({ ...proxy, defaultRole: 'viewer' }, { 'x-forwarded-user': 'ann' });
    expect(text).to.include('<span class="role">viewer</span>');
  });

  for (const [what, options] of [
    ['an address that is none', { ...proxy, addresses: ['10.0.0.0/33'] }],
    ['no addresses', { ...proxy, addresses: [] }],
    ['neither groups nor a default role', { userHeader: 'X-User', addresses: ['127.0.0.1'] }],
  ] as const)
    it(`is not created with ${what}`, async () => {
      const error = await openSite({ proxyHeaders: options }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(TypeError);
    });
});
