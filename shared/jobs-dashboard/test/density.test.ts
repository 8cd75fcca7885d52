import { expect } from 'chai';
import { openSite } from './dashboard-site.js';

describe('The density', () => {
  it('is chosen with a form, and stays in the browser', async () => {
    const site = await openSite();
    try {
      const help = '/job-dashboard/help';
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        origin: site.url,
        referer: `${site.url}${help}`,
      };
      const body = new URLSearchParams({ density: 'compact' }).toString();
      const answer = await site.http.request('POST', '/job-dashboard/display', { body, headers });
      expect([answer.status, answer.headers['location']]).to.deep.equal([303, `${site.url}${help}`]);
      const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
      const { text } = await site.http.get(help, { headers: { cookie } });
      expect(text).to.include('<body class="compact">');
    } finally {
      await site.close();
    }
  });
});
