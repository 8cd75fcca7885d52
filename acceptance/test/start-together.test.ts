import { expect } from 'chai';
import { getJson } from './system/jobs.js';
import { untilReady } from './system/service.js';
import { useSystem } from './system/system.js';

const workers = 6;

describe('an empty database', () => {
  const system = useSystem({ DATABASE_POOL_SIZE: '2' });

  it('is migrated by an api, a dashboard and six workers that start concurrently, and none fails', async () => {
    const names = ['api', 'dashboard', ...Array.from({ length: workers }, () => 'worker' as const)] as const;
    const services = await Promise.all(names.map((name) => system().launch(name)));
    await Promise.all(services.map((service) => untilReady(service)));
    const servers = await getJson<unknown[]>(`${services[0]?.url}/api/v1/servers?limit=100`);
    expect(servers).to.have.length(workers);
  });
});
