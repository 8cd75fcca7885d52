import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { ReadTimeoutError, StorageUnavailableError } from '@longshore/jobs';
import { etagIn, openSite, pagePaths, textOf, type Site } from './dashboard-site.js';

const csp =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

describe('every answer', () => {
  let site: Site;
  before(async () => {
    site = await openSite();
  });
  after(() => site.close());

  it('has the content security policy, nosniff and no-store', async () => {
    const paths = [
      ...pagePaths(site.story),
      '',
      '/nowhere',
      '/jobs/none',
      '/jobs?state=x',
      '/jobs?q=a',
      '/%zz',
    ];
    for (const path of paths) {
      const { headers } = await site.http.get(`/job-dashboard${path}`);
      expect(headers, path).to.include({
        'content-security-policy': csp,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
    }
  });

  it('has them on rejections, errors, 304s and other methods too', async () => {
    const refused = await openSite({ authorize: () => null });
    const broken = await openSite({
      authorize: () => {
        throw new Error('broken');
      },
    });
    const asking = await openSite({ password: 'x' });
    try {
      const fresh = await site.http.get('/job-dashboard/', { headers: { 'longshore-region': 'flow' } });
      const answers = [
        await refused.http.get('/job-dashboard/'),
        await broken.http.get('/job-dashboard/'),
        await asking.http.get('/job-dashboard/'),
        await asking.http.post('/job-dashboard/sign-in'),
        await site.http.get('/job-dashboard/', {
          headers: { 'longshore-region': 'flow', 'if-none-match': etagIn(fresh.text) },
        }),
        await site.http.request('OPTIONS', '/job-dashboard/'),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([403, 500, 401, 403, 304, 405]);
      for (const { headers } of answers) {
        expect(headers).to.include({ 'content-security-policy': csp, 'cache-control': 'no-store' });
      }
    } finally {
      await Promise.all([refused.close(), broken.close(), asking.close()]);
    }
  });
});

describe('links', () => {
  const cases = [
    { path: '/job-dashboard', from: 'https://ops.test/job-dashboard' },
    { path: '/job-dashboard/', from: 'https://ops.test/job-dashboard/' },
    { path: '/job-dashboard/jobs', from: 'https://ops.test/stripped/prefix/job-dashboard/jobs' },
    { path: '/job-dashboard/jobs/', from: 'https://ops.test/stripped/job-dashboard/jobs/' },
    { path: '/job-dashboard/queues/images', from: 'https://ops.test/stripped/job-dashboard/queues/images' },
    { path: '/job-dashboard/no/such/page', from: 'https://ops.test/stripped/job-dashboard/no/such/page' },
  ];
  for (const { path, from } of cases) {
    it(`of ${path} stay inside the dashboard for a browser at ${from}`, async () => {
      const site = await openSite();
      try {
        const { text } = await site.http.get(path);
        const root = from.slice(0, from.indexOf('/job-dashboard') + '/job-dashboard'.length);
        const links = Array.from(
          text.matchAll(/(?:href|src|action)="([^"#]+)"/g),
          (match) => new URL(match[1] ?? '', from).href,
        );
        expect(links).to.include(`${root}/queues`).and.include(`${root}/`);
        expect(links.filter((link) => !link.startsWith(`${root}/`))).to.deep.equal([]);
      } finally {
        await site.close();
      }
    });
  }
});

describe('the files of the pages', () => {
  let site: Site;
  before(async () => {
    site = await openSite({ authorize: () => null });
  });
  after(() => site.close());

  it('are public, hashed and cached forever', async () => {
    const { text } = await site.http.get('/job-dashboard/');
    const files = Array.from(
      text.matchAll(/(?:href|src)="\.\/(assets\/[\da-f]{16}\/[^"]+)"/g),
      (match) => match[1] ?? '',
    );
    expect(files.map((file) => file.split('/').at(-1))).to.deep.equal([
      'icon.svg',
      'dashboard.css',
      'dashboard.js',
    ]);
    for (const file of files) {
      const { status, headers } = await site.http.get(`/job-dashboard/${file}`);
      expect([file, status, headers['cache-control']]).to.deep.equal([
        file,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(headers['x-content-type-options']).to.equal('nosniff');
    }
  });
});

describe('an unreachable storage', () => {
  it('results in an error page with status 503', async () => {
    const fail = () =>
      Promise.reject(new StorageUnavailableError('connect ECONNREFUSED postgres://user:secret@db'));
    const out = {
      jobs: { stateCounts: fail, listBrief: fail, listLatestFailed: fail, find: fail },
      queues: { list: fail },
      savedSearches: { list: fail },
      servers: { list: fail },
    };
    const statistics = { throughput: fail, throughputByQueue: fail, listErrorGroups: fail };
    const site = await openSite({ read: ({ storage }) => overriding(storage, { ...out, statistics }) });
    try {
      for (const path of ['/', '/jobs', `/jobs/${site.story.doneId}`, '/queues', '/servers']) {
        const { status, headers, text } = await site.http.get(`/job-dashboard${path}`);
        expect([path, status, headers['retry-after']]).to.deep.equal([path, 503, '5']);
        expect(text).to.include('The storage is unavailable').and.not.include('secret');
      }
    } finally {
      await site.close();
    }
  });
});

describe('a storage that responds too late', () => {
  it('results in an error page that does not call it unavailable', async () => {
    const fail = () => Promise.reject(new ReadTimeoutError('The read took longer than 5000 ms'));
    const site = await openSite({ read: ({ storage }) => overriding(storage, { queues: { list: fail } }) });
    try {
      const { status, text } = await site.http.get('/job-dashboard/queues');
      expect(status).to.equal(503);
      expect(text).to.include('The storage is too slow').and.include('hold a lock');
    } finally {
      await site.close();
    }
  });
});

describe('a storage that times out on one part', () => {
  it('results in a page without that part, and a notice', async () => {
    const fail = () => Promise.reject(new StorageUnavailableError('It took too long'));
    const site = await openSite({
      read: ({ storage }) => overriding(storage, { jobs: { listBrief: fail } }),
    });
    try {
      const { status, text } = await site.http.get('/job-dashboard/jobs');
      expect(status).to.equal(200);
      expect(text).to.include('The storage did not respond in time').and.include('72');
    } finally {
      await site.close();
    }
  });
});

describe('an unforeseen error', () => {
  it('shows only its incident, and reports the cause to the application', async () => {
    const cause = new Error('password is hunter2');
    const site = await openSite({
      read: ({ storage }) => overriding(storage, { servers: { list: () => Promise.reject(cause) } }),
    });
    try {
      const { status, text } = await site.http.get('/job-dashboard/servers');
      const incident = /incident ([\da-f]{8})/.exec(textOf(text))?.[1] ?? 'none';
      expect(status).to.equal(500);
      expect(text).not.to.include('hunter2');
      expect(site.errors.map((error) => [error.message, error.cause])).to.deep.equal([
        [`Dashboard, incident ${incident}`, cause],
      ]);
    } finally {
      await site.close();
    }
  });
});
