import { expect } from 'chai';
import { actions } from '../src/actions/actions.js';
import { roles } from '../src/auth/authenticator.js';
import { documents, exportPath } from '../src/downloads/download-routes.js';
import { displayPath } from '../src/shell/layout.js';
import { pages } from '../src/pages/routes.js';
import { streamPath } from '../src/live/job-streams.js';
import { openSite, pagePaths, pathOf, type Site } from './dashboard-site.js';

const routes = [
  ...[...Object.keys(pages), ...Object.keys(documents), exportPath, streamPath].map((route) => ({
    route,
    acts: false,
  })),
  ...actions.map(({ path }) => ({ route: path, acts: true })),
];

/** Returns the expected status of a request without a form. Actions without a form are rejected for every role. */
function statusFor(role: string | null, acts: boolean, method: string): number {
  if (role === null) return 403;
  if (acts) return method === 'POST' ? 403 : 405;
  return method === 'GET' || method === 'HEAD' ? 200 : 405;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Returns the expected status of a request to the route that sets the density. Every role can use it without a CSRF
 * token.
 */
function statusOfDisplay(role: string | null, method: string): number {
  if (role === null) return 403;
  return method === 'POST' ? 303 : 405;
}

/**
 * The expected statuses of requests to sign in or out without a valid form, by path and method; `undefined` for
 * unsupported methods.
 */
const sessionRoutes: Readonly<Record<string, (method: string) => number | undefined>> = {
  '/sign-in': (method) => ({ GET: 303, HEAD: 303, POST: 403 })[method],
  '/sign-out': (method) => ({ POST: 403 })[method],
};

describe('each route', () => {
  for (const role of [...roles, null]) {
    for (const method of methods) {
      it(`checks access for ${method} by ${role ?? 'an anonymous client'}`, async () => {
        const viewer = role === null ? null : { name: 'someone', role };
        const site = await openSite({ authorize: () => viewer, control: ({ storage }) => storage });
        try {
          for (const { route, acts } of routes) {
            const path = pathOf(route, site.story);
            const answer = await site.http.request(method, `/job-dashboard${path}`);
            const expected = statusFor(role, acts, method);
            expect([path, answer.status]).to.deep.equal([path, expected]);
            expect(answer.headers, path).to.include.keys('content-security-policy');
          }
          const { status } = await site.http.request(method, `/job-dashboard${displayPath}`);
          expect(status).to.equal(statusOfDisplay(role, method));
        } finally {
          await site.close();
        }
      });
    }
  }

  for (const method of methods) {
    it(`of a session responds to ${method} with and without passwords`, async () => {
      const basic = { authorization: `Basic ${Buffer.from('grace:secret').toString('base64')}` };
      const locked = await openSite({ password: 'secret', control: ({ storage }) => storage });
      const open = [...roles, null].map(async (role) => ({
        role,
        site: await openSite({ authorize: () => role && { name: 'someone', role } }),
      }));
      const responses = await Promise.all(open);
      const statusOf = async ({ http }: Site, path: string, headers = {}): Promise<number | undefined> => {
        const answer = await http.request(method, `/job-dashboard${path}`, { headers });
        expect(answer.headers, path).to.include.keys('content-security-policy');
        return answer.status;
      };
      try {
        for (const [path, status] of Object.entries(sessionRoutes)) {
          expect(await statusOf(locked, path), `${path} by an anonymous client`).to.equal(
            status(method) ?? 401,
          );
          expect(await statusOf(locked, path, basic), path).to.equal(status(method) ?? 405);
          for (const { role, site } of responses)
            expect(await statusOf(site, path), `${path} of ${role}`).to.equal(role === null ? 403 : 404);
        }
      } finally {
        await Promise.all([locked, ...responses.map(({ site }) => site)].map((site) => site.close()));
      }
    });
  }

  it('of a page is covered by the tests of all pages', async () => {
    const site = await openSite();
    try {
      const looked = pagePaths(site.story).map((path) => path.replace(/\?.*/s, ''));
      const overlooked = Object.keys(pages).filter((route) => {
        const pattern = new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`);
        return !looked.some((path) => pattern.test(path));
      });
      expect(overlooked).to.deep.equal([]);
    } finally {
      await site.close();
    }
  });
});
