import type { NewLogLine } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { openSite, type Site, textOf } from './dashboard-site.js';

describe('the logs of the jobs of a list', () => {
  let site: Site;
  before(async () => {
    site = await openSite();
    const { storage } = site.story;
    const lineAt = (second: number, message: string, fields: object | null = null): NewLogLine => ({
      line: second + 1,
      at: new Date(storage.manualClock.now() - 60_000 + second * 1_000),
      level: 'info',
      message,
      fields: fields && JSON.stringify(fields),
    });
    for (const [name, lines] of [
      ['print-label', [lineAt(1, 'first of one', { password: 'secret-7' }), lineAt(4, 'last of one')]],
      ['print-label', [lineAt(2, 'first of two'), lineAt(3, 'last of two')]],
      ['other', [lineAt(5, 'something else')]],
    ] as const) {
      await storage.add({ name, queue: 'labels' });
      const { claim } = await storage.start(site.story.serverId, 'labels');
      await storage.reports.report([{ claim, progress: null, lines }]);
    }
  });
  after(() => site.close());

  const page = async (path: string): Promise<string> => (await site.http.get(`/job-dashboard/${path}`)).text;
  const messages = async (path: string): Promise<string[]> =>
    [...textOf(await page(path)).matchAll(/print-label (?:first|last) of \w+|other something else/g)].map(
      String,
    );

  it('are shown together, newest first, each with its job', async () => {
    expect(await messages('logs?name=print-label')).to.deep.equal([
      'print-label last of one',
      'print-label last of two',
      'print-label first of two',
      'print-label first of one',
    ]);
    expect(await messages('logs?queue=labels')).to.have.length(5);
    expect(await messages('logs?queue=labels&state=done')).to.deep.equal([]);
  });

  it('are linked from the list of these jobs, and link back', async () => {
    expect(await page('jobs?name=print-label')).to.include('"./logs?name=print-label">Logs of these jobs');
    const text = await page('logs?name=print-label');
    expect(text).to.include('"./jobs?name=print-label"');
    expect(textOf(text)).to.include('newest first, of all 2 jobs with an attempt matching name:print-label');
  });

  it('have no values under keys that look like secrets', async () => {
    expect(await page('logs?name=print-label')).not.to.include('secret-7');
  });

  it('are a region that a browser refreshes by itself', async () => {
    const headers = { 'longshore-region': 'logs' };
    const { text } = await site.http.get('/job-dashboard/logs?queue=labels', { headers });
    expect(text).to.include('something else').and.not.to.include('<html');
  });
});
