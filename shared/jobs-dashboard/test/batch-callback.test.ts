import { newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the callback of a batch whose failures are retried', () => {
  let site: Site;
  let id: string;
  let callbackId: string;
  beforeEach(async () => {
    site = await openSite({ control: ({ storage }) => storage });
    const { storage, serverId } = site.story;
    id = newId(storage.manualClock.now());
    const job = {
      ...storage.order({ name: 'resize', queue: 'albums', maxAttempts: 1 }),
      meta: { batchId: id },
    };
    const publish = storage.order({ name: 'publish', queue: 'mail' });
    callbackId = publish.id;
    const after = { parents: [id], when: 'onDone' as const };
    const callback = { ...publish, meta: { parentIds: [id] }, after };
    await storage.enqueuer.enqueueBatch({ id, name: 'album 7', jobs: [job], callback });
    const error = { name: 'Refused', message: 'no', stack: null };
    await storage.end(await storage.start(serverId, 'albums'), { kind: 'failed', error });
  });
  afterEach(() => site.close());

  const get = async (path: string): Promise<string> => (await site.http.get(`/job-dashboard${path}`)).text;
  const confirm = (action: string): string => `/bulk/confirm?action=${action}&state=failed&batch=${id}`;

  it('is restored with them, as the batch’s page explains', async () => {
    expect((await site.story.storage.jobs.find(callbackId))?.state).to.equal('cancelled');
    expect(textOf(await get(`/batches/${id}`))).to.include(
      'You can restore it when you retry the failed jobs.',
    );
  });

  it('is counted by the confirmation, which restores it unless this is unchecked', async () => {
    const html = await get(confirm('retry'));
    expect(textOf(html)).to.include('Also restore 1 dependent job cancelled because of these jobs.');
    expect(html).to.include('name="dependents" checked');
  });

  it('offers to wait again or to run anyway on its own page', async () => {
    const text = textOf(await get(`/jobs/${callbackId}`));
    expect(text)
      .to.include('Skipped because batch “album 7” failed.')
      .and.include('Run anyway…')
      .and.include('Wait again');
  });

  it('is not mentioned before they are deleted', async () => {
    expect(await get(confirm('delete'))).not.to.include('dependent job');
  });

  it('is not mentioned once it will run', async () => {
    await site.story.storage.control.retry(callbackId, { ignoreDependencies: true });
    expect(await get(confirm('retry'))).not.to.include('dependent job');
    expect(await get(`/batches/${id}`)).not.to.include('You can restore it');
  });
});
