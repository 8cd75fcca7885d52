import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { getJob, getJson, type Job, postTest } from '../system/jobs.js';
import {
  api,
  compose,
  composeOnCitus,
  composeWithoutSecrets,
  composeWithReplica,
  credentials,
  dashboard,
  inspect,
  password,
  up,
} from './compose.js';
import { signIn } from './sign-in.js';

const services = ['api', 'worker', 'dashboard'];

type Services = Readonly<Record<string, { readonly environment: Readonly<Record<string, string>> }>>;

/** Returns Compose's configuration of each service, by name. */
async function configured(run: typeof compose): Promise<Services> {
  const { services } = JSON.parse(await run('config', '--format', 'json')) as { services: Services };
  return services;
}

describe('docker compose', () => {
  before(async function () {
    this.timeout(3_600_000);
    await composeWithReplica('down', '--volumes', '--remove-orphans');
    await up(compose, ...services);
  });
  after(async () => {
    await composeWithReplica('down', '--volumes');
  });

  it('responds to the first curl, and the job is done with its result', async () => {
    const { status, body, location } = await postTest(api, credentials);
    expect([status, body]).to.deep.equal([202, 'ok']);
    const done = await eventually(
      () => getJob(location, credentials),
      ({ state }) => state === 'done',
    );
    expect(done.result).to.have.property('waitedMs', 2_000);
  });

  it('keeps the result file on a volume that the worker can write', async () => {
    const files = await compose('exec', 'worker', 'ls', '/var/lib/longshore/results');
    expect(files).to.match(/^test-\S+\.txt$/m);
  });

  it('fails without passwords, and says that make up generates them', async () => {
    const refused = await composeWithoutSecrets('config').catch(String);
    expect(refused).to.match(/_PASSWORD is missing a value: run make up, which generates it/);
  });

  it('has a Citus cluster, whose coordinator the services connect to, in the profile citus only', async () => {
    const usual = await configured(compose);
    expect(Object.keys(usual)).to.deep.equal(['api', 'dashboard', 'postgres', 'worker']);
    const onCitus = await configured(composeOnCitus);
    expect(Object.keys(onCitus)).to.include.members(['citus', 'citus-worker-1', 'citus-worker-2']);
    for (const service of services) {
      expect(onCitus[service]?.environment['DATABASE_URL'], service).to.match(/@citus:5432\/longshore$/);
      expect(onCitus[service]?.environment['DATABASE_DISTRIBUTION'], service).to.equal('citus');
    }
  });

  it('rejects calls to the api without a key', async () => {
    const statuses = [(await postTest(api)).status, (await fetch(`${api}/api/v1/jobs`)).status];
    expect(statuses).to.deep.equal([401, 401]);
  });

  it('hides the dashboard without the password', async () => {
    expect((await fetch(`${dashboard}/jobs`)).status).to.equal(401);
  });

  it('shows the dashboard after signing in', async () => {
    expect(await signIn(dashboard, 'longshore')).to.not.include('Signed in as');
    expect(await signIn(dashboard, password)).to.include('Signed in as');
  });

  it('gives the services a role that owns its schemas and cannot create others', async () => {
    const ask = (sql: string): Promise<string> =>
      compose('exec', 'postgres', 'psql', '-U', 'postgres', '-d', 'longshore', '-Atc', sql);
    const rights = await ask(
      `select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
         has_database_privilege('longshore', 'longshore', 'CREATE'), has_schema_privilege('longshore', 'public', 'CREATE')
       from pg_roles where rolname = 'longshore'`,
    );
    expect(rights.trim()).to.equal('f|f|f|f|f|f|f');
    const users = await ask(
      "select distinct usename from pg_stat_activity where application_name like 'longshore %'",
    );
    expect(users.trim()).to.equal('longshore');
    const schemas = await ask(
      `select nspname from pg_namespace where nspowner = 'longshore'::regrole order by nspname collate "C"`,
    );
    expect(schemas.trim().split('\n')).to.deep.equal(['longshore', 'longshore_api', 'shop']);
  });

  for (const service of [...services, 'postgres']) {
    it(`restricts ${service}`, async () => {
      const { Config, HostConfig } = await inspect(service);
      expect(Config.User).to.not.be.oneOf(['', 'root', '0']);
      expect(HostConfig).to.include({ ReadonlyRootfs: true });
      expect(HostConfig.CapDrop).to.deep.equal(['ALL']);
      expect(HostConfig.CapAdd ?? []).to.deep.equal([]);
      expect(HostConfig.SecurityOpt).to.include('no-new-privileges:true');
      expect(HostConfig.Memory).to.be.within(1, 2 ** 30);
      expect(HostConfig.PidsLimit).to.be.within(1, 512);
    });
  }

  it('publishes only api and dashboard, on the loopback interface', async () => {
    const published = await Promise.all(
      [...services, 'postgres'].map(async (service) => {
        const { PortBindings } = (await inspect(service)).HostConfig;
        return Object.values(PortBindings).flatMap((ports) =>
          ports.map(({ HostIp }) => `${service} ${HostIp}`),
        );
      }),
    );
    expect(published.flat()).to.deep.equal(['api 127.0.0.1', 'dashboard 127.0.0.1']);
  });

  for (const service of services) {
    it(`runs ${service} as an unprivileged user, without development packages, unable to change its own files`, async () => {
      const script =
        'cd /longshore; id -u; ls node_modules node_modules/@longshore; touch package.json 2>/dev/null && echo writable';
      const seen = (await compose('exec', service, 'sh', '-c', `${script}; true`)).split('\n');
      expect(seen[0]).to.equal('1000');
      expect(seen).to.include('koa');
      expect(seen).to.not.include.oneOf([
        'typescript',
        'mocha',
        'oxlint',
        'test-support',
        'local-postgres',
        'writable',
      ]);
    });
  }

  it('logs JSON lines', async () => {
    const logs = await compose('logs', '--no-log-prefix', ...services);
    const lines = logs.split('\n').filter((line) => line !== '');
    const odd = lines.filter((line) => !line.startsWith('{'));
    expect(odd).to.deep.equal([]);
    for (const line of lines) expect(JSON.parse(line)).to.include.keys('level', 'time', 'msg', 'service');
  });

  it('runs three workers on request', async () => {
    await compose('up', '--wait', '--scale', 'worker=3', ...services);
    await eventually(
      () => getJson<unknown[]>(`${api}/api/v1/servers`, credentials),
      (servers) => servers.length === 3,
    );
  });

  it('has a replica for searches, in the profile replica, also beside a Postgres that has run without', async () => {
    await composeWithReplica('up', '--wait', '--no-deps', 'replica', 'api');
    const seen = await eventually(
      async () =>
        (await getJson<{ replica: { lagMs: number; fallback: string | null } }>(`${api}/readyz`)).replica,
      ({ fallback }) => fallback === null,
    );
    expect(seen.lagMs).to.be.at.least(0);
    const replicas = await compose(
      'exec',
      'postgres',
      'psql',
      '-U',
      'postgres',
      '-Atc',
      'select state, slot_name from pg_stat_replication join pg_replication_slots on pid = active_pid',
    );
    expect(replicas.trim()).to.equal('streaming|replica');
  });

  it('drains the workers when they are stopped: the jobs that run then end, and no others start', async () => {
    // So many jobs that the workers, which start again whenever one ends, are busy when the signal arrives.
    const jobs = Array.from({ length: 10_000 }, () => ({ name: 'test', args: { waitMs: 2_000 } }));
    const response = await fetch(`${api}/api/v1/jobs`, {
      method: 'POST',
      headers: { ...credentials, 'content-type': 'application/json' },
      body: JSON.stringify(jobs),
    });
    expect(response.status).to.equal(201);
    /** Lists the latest jobs in a state. Jobs start in the order in which they were created. */
    const inState = (state: string): Promise<Job[]> =>
      getJson<Job[]>(`${api}/api/v1/jobs?name=test&state=${state}&limit=100`, credentials);
    const [running] = await eventually(
      () => inState('processing'),
      ({ length }) => length > 0,
    );
    await compose('stop', 'worker');
    const stopped = (await compose('logs', '--no-log-prefix', 'worker'))
      .split('\n')
      .filter((line) => line.includes('"msg":"stopping"'))
      .map((line) => new Date((JSON.parse(line) as { time: string }).time))
      .filter((time) => time > new Date(running?.createdAt ?? ''));
    expect(stopped).to.have.length.above(0);
    expect(await inState('processing')).to.deep.equal([]);
    const done = await inState('done');
    expect(done.filter(({ attempt }) => attempt !== 1)).to.deep.equal([]);
    // Jobs were running at the signal, and have ended since.
    const [earliestStop] = stopped.toSorted((one, other) => one.getTime() - other.getTime());
    expect(done.some(({ finishedAt }) => new Date(finishedAt ?? '') > (earliestStop ?? 0))).to.equal(true);
    const waiting = await inState('enqueued');
    expect(waiting).to.have.length.above(0);
    expect(waiting.filter(({ attempt }) => attempt !== 0)).to.deep.equal([]);
  });
});
