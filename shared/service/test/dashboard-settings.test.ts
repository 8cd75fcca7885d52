import { expect } from 'chai';
import Type from 'typebox';
import { alertSettings, dashboardVariables, readConfig, serviceVariables } from '../src/index.js';

const read = (environment: Readonly<Record<string, string>>) =>
  alertSettings(readConfig(Type.Object({ ...serviceVariables, ...dashboardVariables }), environment));

describe('the settings of alerts', () => {
  it('have no webhooks without a URL', () => {
    expect(read({ DASHBOARD_ALERT_SECRET: 'x' }).webhooks).to.deep.equal([]);
  });

  it('have one webhook for each URL, and allow http outside production only', () => {
    const urls = 'https://one.example/a, http://two.example/b';
    const settings = read({
      DASHBOARD_ALERT_URLS: urls,
      DASHBOARD_BASE_URL: 'https://ops.example',
      NODE_ENV: 'production',
    });
    expect(settings.baseUrl).to.equal('https://ops.example');
    expect(settings.webhooks).to.deep.equal(
      ['https://one.example/a', 'http://two.example/b'].map((url) => ({
        url,
        secret: undefined,
        format: 'standard',
        allowsHttp: false,
      })),
    );
    expect(read({ DASHBOARD_ALERT_URLS: urls }).webhooks[0]?.allowsHttp).to.equal(true);
  });

  it('name a webhook by what precedes its URL', () => {
    const urls = 'billing=https://one.example/a?b=c, https://two.example/?x=https://y';
    const webhooks = read({ DASHBOARD_ALERT_URLS: urls }).webhooks.map(({ name, url }) => [name, url]);
    expect(webhooks).to.deep.equal([
      ['billing', 'https://one.example/a?b=c'],
      [undefined, 'https://two.example/?x=https://y'],
    ]);
  });
});
