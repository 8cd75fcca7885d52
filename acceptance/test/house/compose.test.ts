import { access } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { house, readSource } from './house.js';

type Service = Readonly<Record<string, unknown>> & {
  readonly environment: Readonly<Record<string, unknown>>;
};

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, unknown>>;
}

/** What confines a container. */
const hardening = [
  'restart',
  'read_only',
  'cap_drop',
  'security_opt',
  'tmpfs',
  'user',
  'init',
  'mem_limit',
  'shm_size',
  'pids_limit',
  'networks',
  'stop_grace_period',
];

const template = 'shared/create-longshore/template';
const services = ['postgres', 'api', 'worker', 'dashboard'];

/** How long a worker takes at most, after its jobs, to release everything else, in milliseconds. */
const releaseMs = 15_000;

describe('A compose file', () => {
  const read = async (file: string): Promise<Compose> =>
    parse(await readSource(file), { merge: true }) as Compose;
  const confined = ({ services: all }: Compose): unknown =>
    services.map((name) => [name, ...hardening.map((option) => [option, all[name]?.[option]])]);

  it('of a created application confines its containers as that of Longshore does', async () => {
    const [own, created] = [await read('compose.yaml'), await read(`${template}/compose.yaml`)];
    expect(confined(created)).to.deep.equal(confined(own));
    expect(created.networks['database']).to.deep.equal(own.networks['database']);
    for (const name of services) expect(created.services[name]).to.include({ read_only: true });
  });

  it('confines the containers of profiles, and publishes their ports on the loopback interface only', async () => {
    const { services: all } = await read('compose.yaml');
    for (const [name, service] of Object.entries(all)) {
      expect(service, name).to.deep.include({ read_only: true, cap_drop: ['ALL'] });
      expect(service['mem_limit'], name).to.match(/^\d+[mg]$/);
      for (const port of (service['ports'] ?? []) as string[]) expect(port, name).to.match(/^127\.0\.0\.1:/);
    }
  });

  it('names an exact version of every image that it does not build, and files that exist', async () => {
    const { services: all } = await read('compose.yaml');
    for (const [name, service] of Object.entries(all)) {
      if (service['build'] === undefined)
        expect(service['image'], name).to.match(/^\$\{[A-Z]+_IMAGE:-[\w/-]+:v?\d[\w.-]*\}$/);
      const mounts = (service['volumes'] ?? []) as string[];
      for (const mount of mounts.filter((each) => each.startsWith('./')))
        await access(path.join(house, mount.split(':')[0] ?? ''));
    }
  });

  for (const file of ['compose.yaml', `${template}/compose.yaml`]) {
    it(`gives workers more time than they take to stop: ${file}`, async () => {
      const variables = await readSource('shared/service/src/variables.ts');
      const [, stopTimeout = ''] = /WORKER_STOP_TIMEOUT_MS:.*default: ([\d_]+)/.exec(variables) ?? [];
      const { worker } = (await read(file)).services;
      const graceMs = Number(/^(\d+)s$/.exec(String(worker?.['stop_grace_period']))?.[1]) * 1_000;
      expect(graceMs).to.be.at.least(Number(stopTimeout.replace('_', '')) + releaseMs);
    });

    it(`connects the services as a role without the rights of a superuser: ${file}`, async () => {
      const compose = await read(file);
      for (const name of services.slice(1)) {
        const environment = compose.services[name]?.environment ?? {};
        expect(environment['DATABASE_URL'], name).to.match(/^postgres:\/\/longshore:\$\{SERVICES_PASSWORD/);
        expect(JSON.stringify(environment), name).to.not.contain('POSTGRES_PASSWORD');
      }
      const roles = JSON.stringify(compose.services['postgres']?.['volumes']);
      expect(roles).to.contain('./containers/postgres-role.sh:/docker-entrypoint-initdb.d/');
    });
  }

  it('of a created application makes the same role, for its own schema', async () => {
    const own = await readSource('containers/postgres-role.sh');
    const created = await readSource(`${template}/containers/postgres-role.sh`);
    const comparable = (text: string): string =>
      text.replace(/^-- The jobs.*$/m, '').replace(/create schema (shop|app) /, 'create schema APP ');
    expect(comparable(created)).to.equal(comparable(own));
    const application = await readSource(`${template}/src/application.ts`);
    const [, schema = ''] = /schema: '(\w+)'/.exec(application) ?? [];
    expect(created).to.contain(`create schema ${schema} authorization longshore;`);
  });
});
