import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { askUntilDone, getJob, getJson, postTest } from '../system/jobs.js';
import { listen } from '../system/listener.js';
import { nextPage } from '../system/paging.js';
import { freePort, type Service, startService } from '../system/service.js';
import { type Nginx, startNginx } from './nginx.js';

/** Ways in which a gateway can map paths to the API. */
const ways = [
  {
    way: 'that keeps the prefix',
    location: (api: string) => `location /platform/ { proxy_pass ${api}; }`,
    environment: (gateway: string) => ({ API_BASE_URL: gateway, API_PATH_PREFIX: '/platform' }),
  },
  {
    way: 'that takes the prefix away',
    location: (api: string) => `location /platform/ { proxy_pass ${api}/; }`,
    environment: (gateway: string) => ({ API_BASE_URL: gateway, API_PATH_PREFIX: '/platform' }),
  },
  {
    way: 'that takes away a prefix which is part of API_BASE_URL',
    location: (api: string) => `location /platform/ { proxy_pass ${api}/; }`,
    environment: (gateway: string) => ({ API_BASE_URL: `${gateway}/platform` }),
  },
];

for (const { way, location, environment } of ways) {
  describe(`behind nginx ${way}`, () => {
    let results: string;
    let api: Service | undefined;
    let nginx: Nginx | undefined;
    let base: string;

    before(async () => {
      const port = await freePort();
      const gateway = `http://127.0.0.1:${port}`;
      base = `${gateway}/platform`;
      results = await mkdtemp(path.join(tmpdir(), 'longshore-results-'));
      api = await startService('api', {
        API_STORAGE: 'memory',
        API_AUTH: 'none',
        API_TEST_JOB_MS: '200',
        WORKER_RESULTS_DIR: results,
        ...environment(gateway),
      });
      nginx = await startNginx(port, location(api.url));
    });
    after(async () => {
      await nginx?.stop();
      await api?.end('SIGKILL');
      await rm(results, { recursive: true, force: true });
    });

    const postJob = (job: object = { name: 'test', args: { waitMs: 1 } }): Promise<Response> =>
      fetch(`${base}/api/v1/jobs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(job),
      });

    it('POST /test returns the location of its job', async () => {
      const { status, location: job } = await postTest(base);
      expect(status).to.equal(202);
      expect(job).to.match(new RegExp(`^${base}/api/v1/jobs/`));
      await eventually(
        () => getJob(job),
        ({ state }) => state === 'done',
      );
    });

    it('POST /jobs returns the location of the job', async () => {
      const made = await postJob();
      const { id } = (await made.json()) as { id: string };
      expect(made.headers.get('location')).to.equal(`${base}/api/v1/jobs/${id}`);
      expect((await getJob(made.headers.get('location') ?? '')).id).to.equal(id);
    });

    it('the links of a list lead through the gateway', async () => {
      const queue = 'listed';
      for (let number = 0; number < 3; number++)
        await postJob({ name: 'test', args: { waitMs: 1 }, queue, delayMs: 3_600_000 });
      const ids = new Set<string>();
      let url: string | null = `${base}/api/v1/queues/${queue}/jobs?limit=1`;
      while (url !== null) {
        const response: Response = await fetch(url);
        for (const { id } of (await response.json()) as { id: string }[]) ids.add(id);
        url = nextPage(response);
        if (url !== null) expect(url).to.match(new RegExp(`^${base}/api/v1/`));
      }
      expect(ids.size).to.equal(3);
    });

    for (const path of [
      '/api/v1/jobs?colour=red',
      '/api/v1/nothing',
      '/api/v2/jobs',
      '/api/nothing',
      '/nothing',
    ]) {
      it(`the more-info link of an error at ${path} leads to its page`, async () => {
        const { errors } = (await (await fetch(base + path)).json()) as { errors: { 'more info': string }[] };
        const link = errors[0]?.['more info'] ?? '';
        expect(link).to.match(new RegExp(`^${base}/errors/\\d{5}$`));
        expect(await (await fetch(link)).text()).to.contain('<h2>Cause</h2>');
      });
    }

    it('the reference names the address of the API, and has its scripts', async () => {
      const { servers } = await getJson<{ servers: { url: string }[] }>(`${base}/api/v1/openapi.json`);
      expect(servers[0]?.url).to.equal(`${base}/api/v1`);
      const page = `${base}/api/v1/docs`;
      const scripts = [...(await (await fetch(page)).text()).matchAll(/<script [^>]*src="([^"]+)"/g)];
      expect(scripts.length).to.be.above(0);
      for (const [, script = ''] of scripts) {
        const answer = await fetch(new URL(script, page));
        expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
          200,
          'text/javascript; charset=utf-8',
        ]);
      }
    });

    it('events arrive while the stream is open', async () => {
      const listener = listen(`${base}/api/v1/events?state=done`);
      try {
        await eventually(async () => listener.isConnected());
        const { location: job } = await postTest(base);
        await eventually(async () => listener.jobs.has(job.slice(job.lastIndexOf('/') + 1)));
        expect(listener.isConnected()).to.equal(true);
      } finally {
        listener.stop();
      }
    });

    it('a call that waits for a job returns when it has ended', async () => {
      const { location: job } = await postTest(base);
      await askUntilDone(() => getJob(`${job}?wait=20`), 20);
    });

    for (const path of ['/healthz', '/readyz', '/metrics']) {
      it(`${path} responds`, async () => {
        expect((await fetch(base + path)).status).to.equal(200);
      });
    }
  });
}
