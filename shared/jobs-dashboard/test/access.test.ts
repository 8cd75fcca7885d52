import { request } from 'node:http';
import { expect } from 'chai';
import { httpClient, serve } from '@longshore/test-support';
import Koa from 'koa';
import { type Authorize, createDashboard } from '../src/index.js';
import { listenerOf, openSite, pagePaths, type Site } from './dashboard-site.js';

describe('an unconfigured dashboard', () => {
  let site: Site;
  before(async () => {
    site = await openSite();
  });
  after(() => site.close());

  it('serves a direct client on the same machine', async () => {
    expect((await site.http.get('/job-dashboard/')).status).to.equal(200);
  });

  for (const [name, value] of [
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-proto', 'http'],
    ['x-forwarded-anything', ''],
    ['forwarded', 'for=127.0.0.1'],
    ['via', '1.1 proxy'],
    ['x-real-ip', '127.0.0.1'],
    ['cf-connecting-ip', '127.0.0.1'],
    ['true-client-ip', '127.0.0.1'],
  ] as const) {
    it(`is closed to a request with ${name}: ${value}`, async () => {
      expect((await site.http.get('/job-dashboard/', { headers: { [name]: value } })).status).to.equal(403);
    });
  }

  for (const host of ['example.com', 'localhost.example.com', '10.0.0.1', '127.0.0.1.example.com']) {
    it(`is closed to a request for the host ${host}`, async () => {
      expect((await site.http.get('/job-dashboard/', { headers: { host } })).status).to.equal(403);
    });
  }

  for (const host of ['localhost', 'LOCALHOST:8080', '[::1]:8080', '127.0.0.2']) {
    it(`accepts a request for the host ${host}`, async () => {
      expect((await site.http.get('/job-dashboard/', { headers: { host } })).status).to.equal(200);
    });
  }

  it('is closed to HTTP/1.0 requests, which come from proxies that do not identify their client', async () => {
    const answer = await site.http.raw('GET /job-dashboard/ HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n');
    expect(answer).to.match(/^HTTP\/1\.1 403 /);
  });

  it('is closed on every page in production', async () => {
    const production = await openSite({ env: 'production' });
    try {
      for (const path of pagePaths(production.story)) {
        expect([path, (await production.http.get(`/job-dashboard${path}`)).status]).to.deep.equal([
          path,
          403,
        ]);
      }
    } finally {
      await production.close();
    }
  });

  it('is closed if configured for production', async () => {
    const production = await openSite({ production: true });
    try {
      expect((await production.http.get('/job-dashboard/')).status).to.equal(403);
    } finally {
      await production.close();
    }
  });

  it('is closed to clients that use another address of this machine', async () => {
    const app = new Koa().use(createDashboard({ storage: site.story.storage }));
    const server = app.listen(0, '127.0.0.1');
    try {
      server.prependListener('connection', (socket) => {
        Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.7' });
      });
      await new Promise((resolve) => server.once('listening', resolve));
      const address = server.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      const status = await new Promise((resolve, reject) => {
        request({ port, path: '/job-dashboard/', agent: false }, (response) => resolve(response.statusCode))
          .on('error', reject)
          .end();
      });
      expect(status).to.equal(403);
    } finally {
      server.close();
    }
  });

  it('treats an empty password as no password', async () => {
    const empty = await openSite({ password: '', production: true });
    try {
      expect((await empty.http.get('/job-dashboard/')).status).to.equal(403);
    } finally {
      await empty.close();
    }
  });

  it('rejects a password together with an authorize function', () => {
    const authorize: Authorize = () => null;
    expect(() => createDashboard({ storage: site.story.storage, password: 'x', authorize })).to.throw(
      TypeError,
    );
  });
});

describe('a dashboard with an authorize function', () => {
  it('shows the viewer that the function returned', async () => {
    const site = await openSite({
      production: true,
      authorize: async () => ({ name: 'Ada <3', role: 'operator' }),
    });
    try {
      const { status, text } = await site.http.get('/job-dashboard/');
      expect(status).to.equal(200);
      expect(text).to.include('Ada &lt;3').and.include('operator');
    } finally {
      await site.close();
    }
  });

  it('rejects everybody else on every page, from loopback too', async () => {
    const site = await openSite({ authorize: () => null });
    try {
      for (const path of pagePaths(site.story)) {
        expect([path, (await site.http.get(`/job-dashboard${path}`)).status]).to.deep.equal([path, 403]);
      }
    } finally {
      await site.close();
    }
  });

  it('passes on the errors of the function', async () => {
    const site = await openSite({ authorize: () => Promise.reject(new Error('directory down')) });
    try {
      expect((await site.http.get('/job-dashboard/')).status).to.equal(500);
      expect(site.errors).to.have.lengthOf(1);
    } finally {
      await site.close();
    }
  });
});

describe('a dashboard mounted elsewhere', () => {
  for (const path of ['jobs', '/a b', '/:path', '/a/../b', '//']) {
    it(`rejects the path ${path}`, async () => {
      const site = await openSite();
      await site.close();
      const mount = (): unknown => createDashboard({ storage: site.story.storage, path });
      if (path === '//') expect(mount).not.to.throw();
      else expect(mount).to.throw(TypeError);
    });
  }

  it('can be a whole application', async () => {
    const site = await openSite();
    const server = await serve(
      listenerOf(new Koa().use(createDashboard({ storage: site.story.storage, path: '/' }))),
    );
    try {
      const { status, text } = await httpClient(server.url).get('/jobs');
      expect(status).to.equal(200);
      expect(text).to.include('href="./queues"');
    } finally {
      await server.close();
      await site.close();
    }
  });
});
