import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { getJob, postTest } from './system/jobs.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

interface Line {
  readonly level: string;
  readonly msg: string;
}

const unavailable = 'the storage is unavailable; trying again until it is back';
const available = 'the storage is available again';

describe('An outage of Postgres', () => {
  const system = useSystem({ API_TEST_JOB_MS: '20' }, { durable: true });
  let services: Service[];
  /** How many lines each service wrote before the outage. */
  const earlier = new Map<Service, number>();

  /** Returns what a service has logged since the outage began. */
  const linesOf = (service: Service): Line[] =>
    service.lines.slice(earlier.get(service)).map((line) => JSON.parse(line) as Line);
  const says = (service: Service, text: string): boolean => linesOf(service).some(({ msg }) => msg === text);

  /** Requests pages of all services until each has said something, and then some more. */
  async function requestUntil(text: string): Promise<void> {
    const [api, worker, dashboard] = services;
    const requests = [
      `${api?.url}/api/v1/jobs`,
      `${api?.url}/readyz`,
      `${worker?.url}/readyz`,
      `${worker?.url}/metrics`,
      `${dashboard?.url}/job-dashboard/jobs`,
      `${dashboard?.url}/metrics`,
    ];
    let more = 5;
    await eventually(async () => {
      for (const url of requests) await (await fetch(url)).arrayBuffer();
      if (services.every((service) => says(service, text))) more--;
      return more <= 0;
    });
  }

  before(async () => {
    services = [];
    for (const name of ['api', 'worker', 'dashboard'] as const) services.push(await system().start(name));
    const [api] = services;
    const { location } = await postTest(api?.url ?? '');
    await eventually(
      () => getJob(location),
      ({ state }) => state === 'done',
    );
    for (const service of services) earlier.set(service, service.lines.length);
    await system().postgres.stop();
    await requestUntil(unavailable);
    await system().postgres.start();
    await requestUntil(available);
  });

  it('is logged by each service when it begins and when it ends, and in no other way', () => {
    for (const service of services) {
      const lines = linesOf(service).filter(({ level, msg }) => level !== 'info' || msg === available);
      expect(lines.map(({ msg }) => msg)).to.deep.equal([unavailable, available]);
    }
  });
});
