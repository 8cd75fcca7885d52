import { expect } from 'chai';
import type { Role } from '../src/auth/authenticator.js';
import { openSite, textOf } from './dashboard-site.js';

describe('the confirmation of a bulk action', () => {
  async function confirmation(role: Role, query: string): Promise<string> {
    const authorize = () => ({ name: 'ada', role });
    const site = await openSite({ authorize, control: ({ storage }) => storage });
    try {
      return (await site.http.get(`/job-dashboard/bulk/confirm?${query}`)).text;
    } finally {
      await site.close();
    }
  }

  it('has no button if no job would be changed', async () => {
    const html = await confirmation('admin', 'action=delete&state=done&queue=none');
    expect(textOf(html)).to.include('0 jobs').and.include('Go back');
    expect(html).not.to.include('Delete 0 jobs');
    expect(html).not.to.match(/action="[^"]*bulk-delete"/);
  });

  it('counts none if no job can be in a suitable state', async () => {
    expect(textOf(await confirmation('admin', 'action=run&state=failed'))).to.include('0 jobs');
  });

  it('shows a sample of the newest jobs if there are many', async () => {
    const site = await openSite({ control: ({ storage }) => storage });
    try {
      for (let index = 0; index < 130; index += 1)
        await site.story.storage.add({ name: `kind-${index % 6}`, queue: 'many' });
      const { text } = await site.http.get('/job-dashboard/bulk/confirm?action=cancel&queue=many');
      expect(textOf(text))
        .to.include('130 jobs')
        .and.include('queues and errors of the newest 100.')
        .and.match(/Name kind-\d 17 , .* and 2 more/);
    } finally {
      await site.close();
    }
  });

  it('has a button for viewers with the role', async () => {
    expect(textOf(await confirmation('operator', 'action=retry&state=failed'))).to.include(
      'Retry these jobs?',
    );
  });

  it('has no button for others, and names the role that is needed', async () => {
    const text = textOf(await confirmation('viewer', 'action=retry&state=failed'));
    expect(text).to.include('Jobs that would be retried').and.include('You need the role operator for this');
    expect(text).not.to.include('Retry these jobs?');
    const ofOperator = textOf(await confirmation('operator', 'action=delete&state=failed'));
    expect(ofOperator)
      .to.include('Jobs that would be deleted')
      .and.include('You need the role admin for this');
  });
});
