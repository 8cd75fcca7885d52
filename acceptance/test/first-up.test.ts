import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { house } from './house/house.js';

const names = ['POSTGRES_PASSWORD', 'SERVICES_PASSWORD', 'DASHBOARD_PASSWORD', 'API_ADMIN_KEY'];

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'longshore-up-'));
  file = path.join(directory, '.env');
});
afterEach(() => rm(directory, { recursive: true }));

/** Runs a script in `containers/` on the `.env` file and returns the script's output. */
async function run(script: string, env: Readonly<Record<string, string>> = {}, ...args: string[]) {
  const command = path.join(house, 'containers', script);
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)(command, [file, ...args], { env: { PATH, ...env } });
  return stdout;
}

async function variables(): Promise<Record<string, string>> {
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split('=', 2) as [string, string]));
}

describe('The first make up', () => {
  it('generates distinct random passwords and a key, in a file that only its owner can read', async () => {
    await run('secrets');
    const made = await variables();
    expect(Object.keys(made)).to.deep.equal(names);
    for (const value of Object.values(made)) expect(value).to.match(/^[0-9a-f]{48}$/);
    expect(new Set(Object.values(made)).size).to.equal(names.length);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });

  it('prints once what operators need, and no database password', async () => {
    const [first, second] = [await run('secrets'), await run('secrets')];
    const made = await variables();
    expect(first).to.contain(made['DASHBOARD_PASSWORD']).and.contain(made['API_ADMIN_KEY']);
    expect(first).not.to.contain(made['POSTGRES_PASSWORD']).and.not.contain(made['SERVICES_PASSWORD']);
    expect(second).to.equal('');
  });

  it('keeps existing values in the file, and restricts its permissions', async () => {
    const own = '# mine\nAPI_PORT=9090\nexport DASHBOARD_PASSWORD=chosen';
    await writeFile(file, own);
    await chmod(file, 0o644);
    const shown = await run('secrets');
    const after = await readFile(file, 'utf8');
    expect(after.startsWith(`${own}\n`)).to.equal(true);
    expect(after.match(/DASHBOARD_PASSWORD/g)).to.have.length(1);
    expect(shown).not.to.contain('Dashboard password');
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    await run('secrets');
    expect(await readFile(file, 'utf8')).to.equal(after);
  });

  it('keeps a password from the environment', async () => {
    await run('secrets', { DASHBOARD_PASSWORD: 'from the environment' });
    expect((await variables())['DASHBOARD_PASSWORD']).to.equal('from the environment');
  });
});

describe('make pin', () => {
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

  /**
   * Creates a `docker` stub that knows only the digest of the Node.js image. Returns environment variables that put the
   * stub first on the `PATH`.
   */
  async function engine(): Promise<Readonly<Record<string, string>>> {
    const script = `#!/bin/sh\ncase "$*" in *node:*) echo node@${digest};; esac\n`;
    await writeFile(path.join(directory, 'docker'), script, { mode: 0o755 });
    return { PATH: `${directory}:${process.env['PATH'] ?? ''}` };
  }

  it('replaces older digests with those that the engine knows, and keeps the rest of the file', async () => {
    await writeFile(
      file,
      'NODE_IMAGE=node:24-trixie-slim@sha256:old\nNGINX_IMAGE=nginx:stable@sha256:gone\nAPI_PORT=1\n',
    );
    const said = await run('pin-images', await engine());
    expect(await variables()).to.deep.equal({ API_PORT: '1', NODE_IMAGE: `node:24-trixie-slim@${digest}` });
    expect(said).to.contain('nginx:stable goes by its tag');
  });
});

describe('Each make up', () => {
  /** Creates a `docker` stub that prints `ps` for `docker compose … ps`, and the address of `ports` for `… port SERVICE PORT`. */
  async function engine(ps: string, ports: Readonly<Record<string, string>> = {}): Promise<{ PATH: string }> {
    const cases = Object.entries(ports).map(([port, address]) => `*'port ${port}') echo '${address}';;`);
    const script = `#!/bin/sh\ncase "$*" in ${cases.join(' ')} *' ps '*) printf '${ps}';; *) exit 1;; esac\n`;
    await writeFile(path.join(directory, 'docker'), script, { mode: 0o755 });
    return { PATH: `${directory}:${process.env['PATH'] ?? ''}` };
  }
  const output = async (script: string, env: { PATH: string }): Promise<string> =>
    (await promisify(execFile)(path.join(house, 'containers', script), ['--file', 'compose.yaml'], { env }))
      .stdout;

  it('keeps the number of containers of services that were scaled', async () => {
    const env = await engine('api\\nworker\\nworker\\ndashboard\\nworker\\n');
    expect((await output('scales', env)).trim()).to.equal('--scale worker=3');
  });

  it('prints the addresses of the ports that are published, and a call to the api', async () => {
    const ports = { 'api 8080': '127.0.0.1:9980', 'dashboard 8081': '192.0.2.7:9981', 'grafana 3000': ':0' };
    const lines = (await output('addresses', await engine('', ports))).split('\n');
    const addresses = lines.filter((line) => line.includes('http')).map((line) => line.trim().split(/ +/));
    expect(addresses.slice(0, 2)).to.deep.equal([
      ['API', 'http://localhost:9980'],
      ['Dashboard', 'http://192.0.2.7:9981/job-dashboard'],
    ]);
    expect(addresses[2]?.slice(0, 4)).to.deep.equal(['curl', '-X', 'POST', 'http://localhost:9980/test']);
    expect(addresses).to.have.length(3);
  });

  it('prints the address of the gateway where there is one', async () => {
    const lines = await output('addresses', await engine('', { 'gateway 8000': '0.0.0.0:8000' }));
    expect(lines).to.contain(' http://localhost:8000/job-dashboard\n');
    expect(lines).to.contain('curl -X POST http://localhost:8000/test');
  });
});
