import { expect } from 'chai';
import { actions } from '../src/actions/actions.js';
import { roles } from '../src/access/viewer.js';
import { pages } from '../src/http/routes.js';
import { streamPath } from '../src/http/stream-routes.js';
import { openSite, pagePaths, pathOf } from './dashboard-site.js';

/** All there are. What an action does if its form is whole, by each role, is told by the tests of actions. */
const routes = [
  ...[...Object.keys(pages), streamPath].map((route) => ({ route, acts: false })),
  ...Object.keys(actions).map((route) => ({ route, acts: true })),
];

/** Without its form, an action is refused to everyone. */
function statusFor(role: string | null, acts: boolean, method: string): number {
  if (role === null) return 403;
  if (acts) return method === 'POST' ? 403 : 405;
  return method === 'GET' || method === 'HEAD' ? 200 : 405;
}

describe('each route', () => {
  for (const role of [...roles, null]) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      it(`answers ${method} by ${role ?? 'a stranger'} as it should`, async () => {
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
        } finally {
          await site.close();
        }
      });
    }
  }

  it('of a page is among those that are looked at for everything else', async () => {
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
