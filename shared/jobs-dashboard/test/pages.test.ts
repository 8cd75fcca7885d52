import { overriding } from '@longshore/test-support';
import { expect } from 'chai';
import { newId } from '@longshore/jobs/storage';
import { openSite, pagePaths, textOf, type Site } from './dashboard-site.js';

describe('the pages', () => {
  let site: Site;
  const page = async (path: string): Promise<string> => {
    const { status, text } = await site.http.get(`/job-dashboard${path}`);
    expect(status, path).to.equal(200);
    return textOf(text);
  };

  before(async () => {
    site = await openSite();
  });
  after(() => site.close());

  it('are all HTML', async () => {
    for (const path of pagePaths(site.story)) {
      const { status, headers } = await site.http.get(`/job-dashboard${path}`);
      expect([path, status, headers['content-type']]).to.deep.equal([path, 200, 'text/html; charset=utf-8']);
    }
  });

  it('leave requests outside their path to the application', async () => {
    expect((await site.http.get('/')).text).to.equal('elsewhere');
    expect((await site.http.get('/job-dashboards')).text).to.equal('elsewhere');
  });

  it('answer HEAD without a body', async () => {
    const { status, text } = await site.http.request('HEAD', '/job-dashboard/jobs');
    expect([status, text]).to.deep.equal([200, '']);
  });

  it('show the number of running servers and of jobs in each state on the overview', async () => {
    const text = await page('/');
    expect(text)
      .to.include('2 Servers')
      .and.include('72 Done')
      .and.include('2 Failed')
      .and.include('7 Running');
    expect(text).to.include('7 of 12 slots in use');
  });

  it('warn on the overview about a queue that no server consumes', async () => {
    expect(await page('/')).to.include('No server consumes queue “search”.');
  });

  it('list the jobs of one state', async () => {
    const text = await page('/jobs?state=failed');
    expect(text).to.include('charge-card').and.include('CardDeclinedError');
    expect(text).not.to.include('resize-image');
  });

  it('list the jobs of one queue and count their states', async () => {
    const text = await page('/jobs?queue=mail');
    expect(text).to.include('All 3').and.include('Done 2').and.include('Scheduled 1');
    expect(text).not.to.include('charge-card');
  });

  it('show a job’s arguments to the last digit', async () => {
    const exact = await openSite({
      read: ({ storage }) =>
        overriding(storage, {
          jobs: { findDocuments: async () => ({ args: '{"id": 900719925474099312345}', result: 'null' }) },
        }),
    });
    try {
      const { text } = await exact.http.get(`/job-dashboard/jobs/${exact.story.doneId}`);
      expect(textOf(text)).to.include('"id" : 900719925474099312345');
    } finally {
      await exact.close();
    }
  });

  it('show a job’s attempts, arguments and result', async () => {
    const text = await page(`/jobs/${site.story.retriedId}`);
    expect(text).to.include('Attempt 3 Done').and.include('Attempt 1 Failed');
    expect(text).to.include('smtp.example.com did not answer');
    expect(text).to.include('"invoiceId" : 5512').and.include('"messageId"');
  });

  it('show a stack trace', async () => {
    expect(await page(`/jobs/${site.story.failedId}`)).to.include(
      'at charge (file:///app/billing/charge-card.js:42:11)',
    );
  });

  it('find a job by its id in upper case', async () => {
    expect(await page(`/jobs/${site.story.doneId.toUpperCase()}`)).to.include('send-receipt');
  });

  it('never show values under keys that look like secrets', async () => {
    const { text } = await site.http.get(`/job-dashboard/jobs/${site.story.failedId}`);
    expect(text).to.include('cardToken').and.include('redacted');
    expect(text).not.to.include('tok_visa_4242');
  });

  it('list the queues and their consumers', async () => {
    expect(await page('/queues')).to.match(
      / search \d+ done, 0 failed \d+ 1 .* images \d+ done, 0 failed \d+ 5 /,
    );
    expect(await page('/queues/mail'))
      .to.include('worker-1, process 4127')
      .and.include('worker-2, process 4310');
  });

  it('show a recurring job’s next run in its zone, its settings and its last runs', async () => {
    const text = await page('/recurring/nightly-report');
    expect(text).to.include('30 2 * * 1-5').and.include('Mon 2 Mar, 02:30');
    expect(text).to.include('one job for each').and.not.include('tok_4711');
    expect(await page(`/recurring/${site.story.recurringId}`))
      .to.include('count-stock')
      .and.include('4.9 s');
  });

  it('show the arguments of a recurring job', async () => {
    expect(await page('/recurring/reindex-sundays'))
      .to.match(/At once at most 2 jobs with the key index/)
      .and.match(/Tags search/);
  });

  it('list the recurring jobs, the next one first', async () => {
    expect(await page('/recurring')).to.match(/count-stock.*nightly-report.*reindex-sundays.*Paused/);
  });

  it('show the arguments of a recurring job with all digits', async () => {
    const digits = '900719925474099312345';
    const other = await openSite({
      read: (story) =>
        overriding(story.storage, {
          recurring: {
            find: (id) => story.storage.recurring.find(id),
            findArgs: async () => `{"order":${digits},"apiKey":1}`,
            list: () => story.storage.recurring.list(),
          },
        }),
    });
    try {
      const { text } = await other.http.get(`/job-dashboard/recurring/${other.story.recurringId}`);
      expect(textOf(text)).to.include(digits).and.include('redacted');
    } finally {
      await other.close();
    }
  });

  it('count the jobs of a batch by state', async () => {
    expect(await page('/batches'))
      .to.include('March newsletter')
      .and.include('58 %');
    expect(await page(`/batches/${site.story.batchId}`))
      .to.include('7 of 12 jobs have finished')
      .and.include('then report-mailing Awaiting');
  });

  it('show a job’s dependencies and dependents', async () => {
    expect(await page(`/jobs/${site.story.awaitingId}`)).to.include(
      'It waits for job “import-catalogue”, which is running.',
    );
    expect(await page(`/jobs/${site.story.processingId}`)).to.include('Dependent jobs publish-catalogue');
  });

  it('find jobs by tag, arguments and time', async () => {
    expect(await page('/jobs?tag=march&args.reader=3&since=2h'))
      .to.include('All 1')
      .and.include('Failed 1');
  });

  it('list the running servers with their heartbeats', async () => {
    expect(await page('/servers'))
      .to.include('worker-2, process 4310')
      .and.include('3 s ago')
      .and.include('1 of 4');
  });

  it('show the queues and jobs of one server', async () => {
    expect(await page(`/servers/${site.story.serverId}`))
      .to.include('newsletter')
      .and.include('6 of 8')
      .and.include('resize-image');
  });

  it('group errors by what they have in common', async () => {
    expect(await page('/errors'))
      .to.include(
        'CardDeclinedError : The bank said no: insufficient funds (card ending in 4242) in charge-card',
      )
      .and.match(/Latest job 1 0 55 min ago/)
      .and.match(/TimeoutError : smtp.*in send-invoice .* Latest job 0 1 2 min ago/);
  });

  it('chart finished jobs, with the same figures as a table', async () => {
    expect(await page('/'))
      .to.include('Finished in the last 24 hours 72 done, 2 failed')
      .and.include('As a table');
    expect(await page('/queues/mail')).to.include('Finished in the last hour 2 done, 0 failed');
  });

  for (const [path, title] of [
    ['/jobs/none', 'There is no such job'],
    [`/jobs/${newId()}`, 'There is no such job'],
    ['/queues/none', 'There is no such queue'],
    ['/servers/none', 'There is no such server'],
    ['/recurring/none', 'There is no such recurring job'],
    ['/batches/none', 'There is no such batch'],
    ['/bulk/none', 'There is no such operation'],
    ['/nowhere', 'There is no such page'],
    ['/assets/0/dashboard.css', 'There is no such page'],
  ] as const) {
    it(`return 404 for ${path.replace(/[\da-f-]{36}/, '{unknown id}')}: ${title}`, async () => {
      const { status, text } = await site.http.get(`/job-dashboard${path}`);
      expect([status, textOf(text).includes(title)]).to.deep.equal([404, true]);
    });
  }

  it('link onwards from empty pages', async () => {
    const { text } = await site.http.get('/job-dashboard/nowhere');
    expect(textOf(text)).to.match(/There is no such page .* All jobs Overview Audit/);
  });

  for (const path of [
    '/jobs?state=lost',
    '/jobs?after=1',
    '/jobs?before=%27',
    '/jobs?state=failed&after=0195514a-0000-7000-8000-000000000000',
    '/jobs?failed=x',
    '/jobs/%zz',
    '/jobs/%00',
  ]) {
    it(`return a page of their own for ${path}`, async () => {
      const { status, text } = await site.http.get(`/job-dashboard${path}`);
      expect(status).to.be.within(400, 404);
      expect(text).to.include('<!doctype html>');
    });
  }

  it('list failed jobs after one that is no longer among them', async () => {
    const { text } = await site.http.get(
      `/job-dashboard/jobs?state=failed&after=${site.story.doneId}&failed=2100-01-01T00:00:00.000Z`,
    );
    expect(text).to.include(site.story.failedId);
  });

  it('answer other methods with 405 and Allow', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers } = await site.http.request(method, '/job-dashboard/jobs');
      expect([method, status, headers.allow]).to.deep.equal([method, 405, 'HEAD, GET']);
    }
  });
});
