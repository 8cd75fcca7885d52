import { expect } from 'chai';
import { createDashboard, hashPassword, type User } from '../src/index.js';
import type { AccessRecord } from '../src/index.js';
import { openSite, type Site } from './dashboard-site.js';

describe('a dashboard whose users have passwords of their own', () => {
  let site: Site;
  const records: AccessRecord[] = [];
  before(async () => {
    const users: User[] = [
      { name: 'ann', role: 'admin', password: 'plain and long' },
      { name: 'bob', role: 'viewer', password: await hashPassword('hashed and long') },
    ];
    site = await openSite({ production: true, users, onAccess: (record) => records.push(record) });
  });
  after(() => site.close());

  const basic = (text: string) => ({
    headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
  });
  const signIn = async (name: string, password: string, { http } = site) => {
    const { text } = await http.get('/job-dashboard/');
    const token = /name="token" value="([^"]*)"/.exec(text)?.[1] ?? '';
    return http.post(
      '/job-dashboard/sign-in',
      new URLSearchParams({ name, password, token, next: '' }).toString(),
      { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    );
  };

  it('signs each in with their own role', async () => {
    for (const [name, password, role] of [
      ['ann', 'plain and long', 'admin'],
      ['bob', 'hashed and long', 'viewer'],
    ] as const) {
      const { status, headers } = await signIn(name, password);
      expect(status).to.equal(303);
      const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
      const { text } = await site.http.get('/job-dashboard/', { headers: { cookie } });
      expect(text).to.include(`<b>${name}</b> <span class="role">${role}</span>`);
    }
  });

  it('accepts a hashed password by HTTP Basic authentication, more than once', async () => {
    for (let call = 0; call < 2; call += 1)
      expect((await site.http.get('/job-dashboard/', basic('bob:hashed and long'))).status).to.equal(200);
  });

  for (const [what, name, password] of [
    ['a wrong password', 'bob', 'hashed and wrong'],
    ['somebody else’s password', 'ann', 'hashed and long'],
    ['an unknown name', 'eve', 'plain and long'],
    ['no name', '', 'plain and long'],
  ] as const)
    it(`refuses ${what}, without revealing which names exist`, async () => {
      const answer = await signIn(name, password);
      expect(answer.status).to.equal(401);
      expect(answer.text).to.include('Wrong name or password.');
    });

  it('checks hashed passwords one at a time, and returns 503 if many wait', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => site.http.get('/job-dashboard/', basic('bob:hashed and wrong'))),
    );
    const busy = answers.find(({ status }) => status === 503);
    expect(busy?.headers['retry-after']).to.equal('1');
    expect(busy?.text).not.to.include('wrong password');
  });

  for (const [what, options, status] of [
    ['shares sessions with a process that has the same users and secret', { secret: 'a secret' }, 200],
    ['does not sign sessions with a key that hashed passwords reveal', {}, 401],
    ['ends sessions when the users change', { secret: 'a secret', changed: true }, 401],
  ] as const)
    it(what, async () => {
      const { changed, ...secret } = { changed: false, ...options };
      const users: User[] = [
        { name: 'bob', role: 'viewer', password: await hashPassword('hashed and long') },
      ];
      const otherUsers: User[] = changed ? [{ name: 'ann', role: 'admin', password: 'plain and long' }] : [];
      const sites = await Promise.all(
        [[...users, ...otherUsers], users].map((of) => openSite({ production: true, users: of, ...secret })),
      );
      try {
        const answer = await signIn('bob', 'hashed and long', sites[0]);
        const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
        const there = await sites[1]?.http.get('/job-dashboard/', { headers: { cookie } });
        expect(there?.status).to.equal(status);
      } finally {
        await Promise.all(sites.map((opened) => opened.close()));
      }
    });

  it('reports who signed in', () => {
    expect(records.filter(({ event }) => event === 'signed in').map(({ viewer }) => viewer?.name)).to.include(
      'ann',
    );
  });

  for (const [what, users] of [
    ['the same name twice', ['ann', 'ann'].map((name) => ({ name, role: 'viewer', password: '12345678' }))],
    ['a short password', [{ name: 'ann', role: 'viewer', password: '1234567' }]],
    ['an incomplete hash', [{ name: 'ann', role: 'viewer', password: 'scrypt:abc' }]],
  ] as const)
    it(`is not created with ${what}`, () => {
      expect(() => createDashboard({ storage: site.story.storage, users: users as User[] })).to.throw(
        TypeError,
      );
    });

  it('is not created with two ways to sign in', () => {
    const users: User[] = [{ name: 'ann', role: 'admin', password: '12345678' }];
    expect(() => createDashboard({ storage: site.story.storage, users, password: 'shared' })).to.throw(
      'only one of',
    );
  });
});
