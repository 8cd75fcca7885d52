import { expect } from 'chai';
import { actions } from '../src/actions/actions.js';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('a dashboard that requires reasons', () => {
  let site: Site;
  before(async () => {
    site = await openSite({
      authorize: () => ({ name: 'ada', role: 'admin' }),
      control: ({ storage }) => storage,
      requireReasons: true,
    });
  });
  after(() => site.close());

  const act = async (path: string, fields: Record<string, string> = {}) => {
    const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.failedId}`);
    const token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return site.http.post(`/job-dashboard${path}`, new URLSearchParams({ token, ...fields }).toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  };

  it('rejects pausing, muting, discarding, and deleting anything but a saved search, without one, and nothing else', async () => {
    const rejected: string[] = [];
    for (const { path } of actions) {
      const { text } = await act(path.replace(':target', 'any'), { reason: ' ' });
      if (textOf(text).includes('because this action requires one')) rejected.push(path);
    }
    expect(rejected).to.have.members(
      actions
        .map(({ path }) => path)
        .filter(
          (path) =>
            /(pause|discard|delete|mute)$/.test(path) &&
            !path.startsWith('/searches') &&
            !path.endsWith('/unmute'),
        ),
    );
  });

  it('rejects an end of a pause in the past, more than a year ahead, or given twice', async () => {
    for (const end of [
      { until: '2020-01-01T00:00' },
      { until: '2999-01-01T00:00' },
      { until: 'soon' },
      { for: '-5' },
      { for: '600000' },
      { for: '15', until: '2026-03-02T14:05' },
    ]) {
      const { status } = await act('/queues/mail/pause', { reason: 'x', ...(end as Record<string, string>) });
      expect(status, JSON.stringify(end)).to.equal(422);
    }
    expect((await site.story.storage.queues.find('mail'))?.pausedAt).to.equal(null);
  });
});
