import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Scenario } from '../bench.js';
import { openPage, watchOverview } from '../dashboard/viewer.js';
import { postLoad } from '../http/load.js';
import { type Service, startService } from '../http/service.js';
import type { Row } from '../result.js';
import { readFigures } from '../store-figures.js';

const application = fileURLToPath(new URL('../http/application.js', import.meta.url));
const password = 'bench';
const headers = { authorization: `Basic ${Buffer.from(`bench:${password}`).toString('base64')}` };
const connections = 8;
const viewers = 5;

/** Maximum ratio of a service's memory at the end of the soak to its memory after a tenth of the soak. */
const growth = 1.25;

/**
 * Measures the memory of each service while idle and during a soak. The soak enqueues jobs over HTTP while viewers have
 * the dashboard's overview open.
 */
export const memory: Scenario = {
  name: 'memory',
  isLeftOutOfSmoke: true,
  run: async (bench) => {
    const { soakSeconds, idleSeconds } = bench.sizes;
    const url = await bench.database.create();
    const env = { DATABASE_URL: url, LONGSHORE_APP: application, WORKER_STOP_TIMEOUT_MS: '0' };
    const services = new Map<string, Service>();
    try {
      for (const name of ['api', 'worker', 'dashboard'])
        services.set(
          name,
          await startService(`services/${name}/dist/main.js`, { ...env, DASHBOARD_PASSWORD: password }),
        );
      await pause(idleSeconds * 1_000);
      const idle = await residents(services);
      const first = Math.max(1, Math.round(soakSeconds / 10));
      await soak(services, first);
      const early = await residents(services);
      await soak(services, Math.max(1, soakSeconds - first));
      const late = await residents(services);
      const { connections: sessions } = await readFigures(url);
      const rows = [...services.keys()].map((name): Row => {
        const figures = {
          'idle MiB': idle.get(name) ?? NaN,
          'early MiB': early.get(name) ?? NaN,
          'late MiB': late.get(name) ?? NaN,
          'late / early': (late.get(name) ?? NaN) / (early.get(name) ?? NaN),
        };
        return { name, settings: '', figures };
      });
      const worst = Math.max(...rows.map(({ figures }) => figures['late / early'] ?? NaN));
      return {
        title: `Resident memory: idle, and after ${first} s and ${soakSeconds} s of jobs over HTTP and ${viewers} viewers`,
        rows,
        ratios: [
          { name: 'most growth, late / early', value: worst, target: { atMost: growth } },
          { name: 'connections of the three services at the end', value: sessions },
        ],
      };
    } finally {
      await Promise.all([...services.values()].map((service) => service.stop()));
      await bench.database.drop(url);
    }
  },
};

async function soak(services: ReadonlyMap<string, Service>, seconds: number): Promise<void> {
  const overview = `${services.get('dashboard')?.url}/job-dashboard/`;
  const etags = await openPage(overview, headers);
  await Promise.all([
    postLoad({
      url: `${services.get('api')?.url}/api/v1/jobs`,
      body: JSON.stringify({ name: 'bench', args: { n: 1 } }),
      connections,
      seconds,
    }),
    ...Array.from({ length: viewers }, () => watchOverview(overview, headers, seconds, etags)),
  ]);
}

/** Returns the resident memory of each service in MiB; NaN if the system does not report it. */
async function residents(services: ReadonlyMap<string, Service>): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const [name, { pid }] of services) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    sizes.set(name, Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024);
  }
  return sizes;
}
