import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { house } from './house/house.js';
import { eventually } from '@longshore/test-support';
import { getJob } from './system/jobs.js';
import { startPostgres, type Postgres } from './system/postgres.js';
import { startService, type Service } from './system/service.js';

/** Matches a file of the walkthrough: its name in backticks, a colon, and a block with its content. */
const fileBlock = /`(?<name>harbour\/[\w./-]+)`:\n\n```\w+\n(?<text>.*?)^```$/gms;

/** Matches an `http` block: the request line, then the body to send or the expected response. */
const requestBlock = /^```http\n(?<method>[A-Z]+) (?<target>\S+)\n(?<body>.*?)^```$/gms;

interface Walk {
  readonly page: string;
  readonly directory: string;
}

/**
 * Writes the files shown in `docs/own-application.md` to a new directory inside the repository, where they can import
 * the packages.
 */
async function followTheWalk(): Promise<Walk> {
  const page = await readFile(path.join(house, 'docs', 'own-application.md'), 'utf8');
  await mkdir(path.join(house, '.data'), { recursive: true });
  const directory = await mkdtemp(path.join(house, '.data', 'own-application-'));
  for (const { groups } of page.matchAll(fileBlock)) {
    const file = path.join(directory, groups?.['name'] ?? '');
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, groups?.['text'] ?? '');
  }
  return { page, directory };
}

describe('docs/own-application.md', () => {
  let walk: Walk;
  let postgres: Postgres;
  let services: Service[] = [];
  let api = '';

  before(async () => {
    [walk, postgres] = await Promise.all([followTheWalk(), startPostgres()]);
    const env = {
      LONGSHORE_APP: path.join(walk.directory, 'harbour', 'application.js'),
      DATABASE_URL: postgres.url,
    };
    const names = ['api', 'worker', 'dashboard'] as const;
    services = await Promise.all(names.map((name) => startService(name, env)));
    api = services[0]?.url ?? '';
  });

  after(async () => {
    await Promise.all(services.map((service) => service.end('SIGTERM')));
    await postgres?.remove();
    await rm(walk.directory, { recursive: true, force: true });
  });

  const call = async (method: string, target: string, body: string): Promise<Response> =>
    fetch(api + target, {
      method,
      ...(body === '' ? {} : { body, headers: { 'content-type': 'application/json' } }),
    });

  it('leads to an application that responds as documented', async () => {
    let id = '';
    const requests = [...walk.page.matchAll(requestBlock)];
    expect(requests).to.have.length.of.at.least(4);
    for (const { groups } of requests) {
      const { method = '', target = '', body = '' } = groups ?? {};
      const url = target.replace('{id}', id);
      if (method === 'GET') {
        await eventually(
          async () => (await call(method, url, '')).text(),
          (answer) => answer === body.trim(),
        );
        continue;
      }
      const response = await call(method, url, body.trim());
      expect(response.status, url).to.be.within(200, 202);
      const answer = (await response.json()) as { id: string };
      if (target.endsWith('/berths')) id = answer.id;
    }
  });

  it('leads to a job that a client enqueues and the worker runs', async () => {
    const body = '{"name":"sweep-berth","args":{"berth":"Quay 1"}}';
    const { id } = (await (await call('POST', '/api/v1/jobs', body)).json()) as { id: string };
    await eventually(
      () => getJob(`${api}/api/v1/jobs/${id}`),
      ({ state }) => state === 'done',
    );
  });
});
