import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { freePort, type Service, startService } from '../system/service.js';
import { type Nginx, startNginx } from './nginx.js';

const password = 'correct horse';
const operations = new URL('../../../docs/operations.md', import.meta.url);

/** Sends a form without `Sec-Fetch-Site`, as browsers do over plain HTTP. */
const plainForm = (gateway: string): Record<string, string> => ({
  'content-type': 'application/x-www-form-urlencoded',
  origin: gateway,
});

for (const { what, keepsHost } of [
  { what: 'as docs/operations.md has it', keepsHost: true },
  { what: 'with the Host that nginx sends by default, and DASHBOARD_BASE_URL', keepsHost: false },
]) {
  describe(`the example of nginx, ${what}`, () => {
    let service: Service | undefined;
    let nginx: Nginx | undefined;
    let gateway: string;

    before(async () => {
      const port = await freePort();
      gateway = `http://127.0.0.1:${port}`;
      service = await startService('api', {
        API_STORAGE: 'memory',
        API_AUTH: 'none',
        API_BASE_URL: gateway,
        API_PATH_PREFIX: '/platform',
        HTTP_TRUSTED_PROXIES: '1',
        DASHBOARD_PASSWORD: password,
        ...(!keepsHost && { DASHBOARD_BASE_URL: `${gateway}/platform/job-dashboard` }),
      });
      const [, example = ''] = /```nginx\n(.*?)```/s.exec(await readFile(operations, 'utf8')) ?? [];
      expect(example).to.contain('proxy_set_header Host');
      const locations = example
        .replaceAll(/http:\/\/127\.0\.0\.1:808[01]/g, service.url)
        .replace(/^proxy_set_header Host.*$/m, keepsHost ? '$&' : '');
      nginx = await startNginx(port, locations);
    });
    after(async () => {
      await nginx?.stop();
      await service?.end('SIGKILL');
    });

    it('serves the API', async () => {
      const job = { name: 'test', args: { waitMs: 1 } };
      const headers = { 'content-type': 'application/json' };
      const made = await fetch(`${gateway}/platform/api/v1/jobs`, {
        method: 'POST',
        headers,
        body: JSON.stringify(job),
      });
      expect(made.status).to.equal(201);
      const location = made.headers.get('location') ?? '';
      expect(location.startsWith(`${gateway}/platform/api/v1/jobs/`)).to.equal(true);
      expect((await fetch(location)).status).to.equal(200);
      const { errors } = (await (await fetch(`${gateway}/platform/api/v1/none`)).json()) as {
        errors: { 'more info': string }[];
      };
      expect((await fetch(errors[0]?.['more info'] ?? '')).status).to.equal(200);
    });

    it('lets people sign in to the dashboard', async () => {
      const page = await (await fetch(`${gateway}/platform/job-dashboard`)).text();
      const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
      const body = new URLSearchParams({ token, password }).toString();
      const signIn = await fetch(`${gateway}/platform/job-dashboard/sign-in`, {
        method: 'POST',
        headers: plainForm(gateway),
        body,
        redirect: 'manual',
      });
      expect(signIn.status).to.equal(303);
      const cookie = (signIn.headers.getSetCookie()[0] ?? '').split(';', 1)[0] ?? '';
      const home = await fetch(`${gateway}/platform/job-dashboard/`, { headers: { cookie } });
      expect([home.status, (await home.text()).includes('Overview')]).to.deep.equal([200, true]);
    });

    it('believes nginx, not the client, about the address of a client', async () => {
      const statuses: number[] = [];
      for (let guess = 0; guess < 12; guess += 1) {
        const headers = {
          authorization: `Basic ${btoa('x:wrong')}`,
          'x-forwarded-for': `203.0.113.${guess}`,
        };
        statuses.push((await fetch(`${gateway}/platform/job-dashboard`, { headers })).status);
      }
      expect(statuses.slice(-1)).to.deep.equal([429]);
    });
  });
}
