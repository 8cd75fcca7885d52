import { expect } from 'chai';
import { getJson } from './system/jobs.js';
import { untilReady } from './system/service.js';
import { useSystem } from './system/system.js';

describe('an empty database', function () {
  this.timeout(150_000);
  const system = useSystem({ DATABASE_POOL_SIZE: '2' });

  it('is migrated by three services and twenty workers that start concurrently, and none fails', async () => {
    const names = ['api', 'dashboard', ...Array.from({ length: 20 }, () => 'worker' as const)] as const;
    const services = await Promise.all(names.map((name) => system().launch(name)));
    await Promise.all(services.map((service) => untilReady(service, 120_000)));
    const servers = await getJson<unknown[]>(`${services[0]?.url}/api/v1/servers?limit=100`);
    expect(servers).to.have.length(20);
  });
});
