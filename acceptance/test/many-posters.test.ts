import { expect } from 'chai';
import { nextPage } from './system/paging.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

const posters = 64;

/**
 * Posts jobs one at a time until the API is killed and a request fails. Calls `answered` after each response. Resolves
 * to the ids in the responses.
 */
async function post(url: string, answered: () => void): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const body = JSON.stringify({ name: 'test', args: { waitMs: 1 }, queue: 'load' });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/v1/jobs`, { method: 'POST', headers, body }).catch(() => null);
    if (response?.status !== 201) return ids;
    const job = (await response.json().catch(() => null)) as { id: string } | null;
    if (job === null) return ids; // the response was cut off
    ids.push(job.id);
    answered();
  }
}

describe(`an api that is killed while ${posters} clients post jobs`, () => {
  const system = useSystem();
  let api: Service;

  before(async () => {
    api = await system().start('api');
  });

  it('has stored every job that it accepted', async () => {
    let answers = 0;
    let enough: () => void = () => undefined;
    const midLoad = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const loads = Array.from({ length: posters }, () =>
      post(api.url, () => {
        if (++answers === 10 * posters) enough();
      }),
    );
    // Posters that stop early would otherwise keep the test waiting.
    await Promise.race([midLoad, Promise.all(loads)]);
    await api.end('SIGKILL');
    const acknowledged = (await Promise.all(loads)).flat();

    const again = await system().start('api');
    const stored = new Set<string>();
    let page: string | null = `${again.url}/api/v1/queues/load/jobs?limit=1000&fields=id`;
    while (page !== null) {
      const response: Response = await fetch(page);
      for (const { id } of (await response.json()) as { id: string }[]) stored.add(id);
      page = nextPage(response);
    }
    expect(acknowledged).to.have.length.at.least(10 * posters);
    expect(acknowledged.filter((id) => !stored.has(id))).to.deep.equal([]);
  });
});
