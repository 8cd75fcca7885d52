import { expect } from 'chai';
import Type from 'typebox';
import {
  alertSettings,
  withVariableNames,
  dashboardVariables,
  readConfig,
  serviceVariables,
} from '../src/index.js';

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

  for (const [thrown, shown] of [
    ['logUrl contains {jobID}', 'DASHBOARD_LOG_URL contains {jobID}'],
    ['runbookUrl contains {job}', 'DASHBOARD_RUNBOOK_URL contains {job}'],
    ['tenant must be “key”', 'DASHBOARD_TENANT must be “key”'],
    ['The alert URL of x must use https', 'DASHBOARD_ALERT_URLS: The alert URL of x must use https'],
    ['The logo cannot be read: x', 'DASHBOARD_LOGO: The logo cannot be read: x'],
    ['Not a colour such as #8a1c7c: x', 'DASHBOARD_ACCENT: Not a colour such as #8a1c7c: x'],
    ['The alert secret must be Base64', 'DASHBOARD_ALERT_SECRET must be Base64'],
  ] as const) {
    it(`name the variable of a mistake: ${shown}`, () => {
      const create = (): never => {
        throw new TypeError(thrown);
      };
      expect(() => withVariableNames(create))
        .to.throw(shown)
        .with.property('name', 'ConfigError');
    });
  }
});
