import { defineJob, JobClient } from '@longshore/jobs';
import { expect } from 'chai';
import { openSite, pagePaths, type Site, textOf } from './dashboard-site.js';

const banner = 'This installation is paused, because it is a restored copy';

describe('a paused installation', () => {
  let site: Site;
  let role: 'viewer' | 'operator';
  beforeEach(async () => {
    role = 'operator';
    site = await openSite({
      authorize: () => ({ name: 'ada', role }),
      control: ({ storage }) => storage,
    });
    await site.story.storage.installation.pauseCopy();
  });
  afterEach(() => site.close());

  const textAt = async (path: string): Promise<string> => (await site.http.get(`/job-dashboard${path}`)).text;

  it('is said on every page', async () => {
    for (const path of [...pagePaths(site.story), '/no-such-page'])
      expect(await textAt(path), path).to.include(banner);
  });

  it('is why a ready job does not start', async () => {
    const { id } = await new JobClient(site.story.storage).enqueue(defineJob({ name: 'waits' }), {});
    expect(textOf(await textAt(`/jobs/${id}`))).to.include(
      'It does not start, because this installation is paused: its database is a restored copy.',
    );
  });

  it('is resumed by the form of an operator, which viewers do not have', async () => {
    const form = 'installations/longshore/resume"';
    const text = await textAt('/');
    expect(text).to.include(form);
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(text) ?? [];
    role = 'viewer';
    expect(await textAt('/'))
      .to.include(banner)
      .and.not.include(form);
    role = 'operator';
    const { status } = await site.http.post(
      '/job-dashboard/installations/longshore/resume',
      new URLSearchParams({ token }).toString(),
      { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    );
    expect(status).to.equal(303);
    expect(await textAt('/')).not.to.include(banner);
    const [entry] = await site.story.storage.audit.list({ limit: 1 });
    expect(entry).to.include({ who: 'ada', action: 'installations/resume', target: 'longshore', count: 1 });
    expect(await textAt('/audit')).to.include('Resumed installation');
  });
});
