import { expect } from 'chai';
import { roles } from '../src/access/viewer.js';
import { pages } from '../src/http/routes.js';
import { openSite, pathOf } from './dashboard-site.js';

describe('each route', () => {
  for (const role of [...roles, null]) {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const reads = method === 'GET' || method === 'HEAD';
      const allowed = reads ? 200 : 405;
      const status = role === null ? 403 : allowed;
      it(`answers ${method} by ${role ?? 'a stranger'} with ${status}`, async () => {
        const viewer = role === null ? null : { name: 'someone', role };
        const site = await openSite({ authorize: () => viewer });
        try {
          for (const route of Object.keys(pages)) {
            const path = pathOf(route, site.story);
            const answer = await site.http.request(method, `/job-dashboard${path}`);
            expect([path, answer.status]).to.deep.equal([path, status]);
          }
        } finally {
          await site.close();
        }
      });
    }
  }
});
