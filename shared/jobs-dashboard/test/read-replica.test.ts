import type { ReadReplicaStatus } from '@longshore/jobs/storage';
import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the read replica on the page of servers', () => {
  let status: ReadReplicaStatus | null = null;
  let site: Site;

  before(async () => {
    site = await openSite({
      read: ({ storage }) => overriding(storage, { readReplica: async () => status }),
    });
  });
  after(() => site.close());

  const page = async (): Promise<string> => textOf((await site.http.get('/job-dashboard/servers')).text);

  it('is not mentioned if there is none', async () => {
    status = null;
    expect(await page()).not.to.contain('Read replica');
  });

  it('shows how far it is behind', async () => {
    status = { lagMs: 4_000, maxLagMs: 10_000, fallback: null };
    expect(await page()).to.contain('Searches use the replica, which is 4.0 s behind.');
  });

  it('shows why searches do not use it, and when they will again', async () => {
    status = { lagMs: 45_000, maxLagMs: 10_000, fallback: 'the replica is 45 s behind' };
    expect(await page()).to.contain(
      'Searches use the primary: the replica is 45 s behind. They return to the replica when it is at most 10 s behind.',
    );
  });
});
