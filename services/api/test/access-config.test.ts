import { expect } from 'chai';
import { ConfigError } from '@longshore/service';
import { acceptedKinds } from '../src/access/access-config.js';
import { readApiConfig } from '../src/config.js';
import { adminKey, runApi } from './support/running-api.js';

const memory = { API_STORAGE: 'memory' };
const kindsOf = (environment: object) => [...acceptedKinds(readApiConfig({ ...memory, ...environment }))];

describe('API_AUTH', () => {
  it('requires no credentials by default outside of production', () => {
    expect(kindsOf({})).to.deep.equal([]);
  });

  it('requires API keys by default in production', () => {
    expect(kindsOf({ NODE_ENV: 'production' })).to.deep.equal(['keys']);
  });

  it('can require no credentials in production', () => {
    expect(kindsOf({ NODE_ENV: 'production', API_AUTH: 'none' })).to.deep.equal([]);
  });

  it('accepts several methods', () => {
    const jwt = {
      API_JWT_ISSUER: 'https://issuer',
      API_JWT_AUDIENCE: 'api',
      API_JWT_JWKS_URL: 'https://issuer/keys',
    };
    expect(kindsOf({ API_AUTH: 'keys,jwt', ...jwt })).to.deep.equal(['keys', 'jwt']);
  });

  it('is rejected if it names no method', () => {
    expect(() => kindsOf({ API_AUTH: 'basic' })).to.throw(ConfigError, 'API_AUTH');
  });

  it('is rejected with `none` next to another method', () => {
    expect(() => kindsOf({ API_AUTH: 'none,keys' })).to.throw(ConfigError, 'API_AUTH');
  });

  it('requires the issuer of JWTs, and names what is missing', () => {
    expect(() => kindsOf({ API_AUTH: 'jwt', API_JWT_ISSUER: 'https://issuer' })).to.throw(
      ConfigError,
      'API_JWT_AUDIENCE, API_JWT_JWKS_URL is not set',
    );
  });

  it('must accept keys if there is an admin key', () => {
    expect(() => kindsOf({ API_ADMIN_KEY: adminKey })).to.throw(ConfigError, 'API_ADMIN_KEY');
  });

  it('is logged if it is not set', async () => {
    const api = await runApi({ API_AUTH: '', API_ADMIN_KEY: '' });
    await api.stop();
    expect(api.log()).to.contain('clients on this machine can do everything');
  });

  it('is logged if it is `none`', async () => {
    const api = await runApi({ API_AUTH: 'none', API_ADMIN_KEY: '' });
    await api.stop();
    expect(api.log()).to.contain('API_AUTH=none: anyone who can reach the API can do everything');
  });

  it('leaves the API open if it is `none`, and creates no keys that would be valid later', async () => {
    const api = await runApi({ API_AUTH: 'none', API_ADMIN_KEY: '' });
    const statuses = [
      (await api.call('GET', '/api/v1/jobs')).status,
      (await api.call('POST', '/test')).status,
      (await api.call('GET', '/api/v1/api-keys')).status,
    ];
    await api.stop();
    expect(statuses).to.deep.equal([200, 202, 404]);
  });
});

describe('API_JWT_JWKS_URL', () => {
  const jwt = { ...memory, API_AUTH: 'jwt', API_JWT_ISSUER: 'https://issuer', API_JWT_AUDIENCE: 'api' };
  const read = (url: string, mode: string) =>
    readApiConfig({ ...jwt, API_JWT_JWKS_URL: url, NODE_ENV: mode });

  it('is rejected in production if it uses plain HTTP', () => {
    for (const url of ['http://issuer/keys', 'HTTP://issuer/keys'])
      expect(() => read(url, 'production')).to.throw(ConfigError, 'API_JWT_JWKS_URL');
    expect(() => read('https://issuer/keys', 'production')).not.to.throw();
    expect(() => read('http://issuer/keys', 'development')).not.to.throw();
  });

  it('is rejected if it is not a URL', () => {
    expect(() => read('https://', 'production')).to.throw(ConfigError, 'API_JWT_JWKS_URL');
  });
});

describe('API_JWT_CLOCK_TOLERANCE_S', () => {
  it('is five minutes at most', () => {
    expect(() => readApiConfig({ ...memory, API_JWT_CLOCK_TOLERANCE_S: '301' })).to.throw(ConfigError);
  });
});

describe('API_BASE_URL', () => {
  it('is rejected if it is not a URL', () => {
    expect(() => readApiConfig({ ...memory, API_BASE_URL: 'http://' })).to.throw(ConfigError, 'API_BASE_URL');
  });
});

describe('API_ADMIN_KEY', () => {
  const hash = 'sha256:0dd1d21d1a4ad1cb6bd4b4be2ba1dd5e1b5e6e3dd8b1fd0a8c2a8ae3b7d9a1b2';

  it('must be too long to guess', () => {
    expect(() => readApiConfig({ ...memory, API_AUTH: 'keys', API_ADMIN_KEY: 'letmein' })).to.throw(
      ConfigError,
      'API_ADMIN_KEY',
    );
  });

  it('may be a hash, which must be complete', () => {
    expect(() => readApiConfig({ ...memory, API_AUTH: 'keys', API_ADMIN_KEY: hash })).not.to.throw();
    expect(() => readApiConfig({ ...memory, API_AUTH: 'keys', API_ADMIN_KEY: hash.slice(0, -1) })).to.throw(
      ConfigError,
      '64 hexadecimal digits',
    );
  });
});
