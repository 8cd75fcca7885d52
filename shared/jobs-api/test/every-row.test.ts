import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';
import { checks } from './support/method-checks.js';
import {
  type Method,
  namedPlaces,
  newJob,
  unknownId,
  type PathValues,
  rows,
  schedule,
  unknownPlaces,
} from './support/table-of-resources.js';

onEachStorage('Every row of the table of resources', (api) => {
  describe('with something in each place', () => {
    let places: PathValues;
    let release: () => void;
    let serving: Promise<void>;

    before(async () => {
      const queue = api.newName();
      const [job, finished] = [
        await api.enqueue(api.newName(), { runAt: '2100-01-01T00:00:00Z' }),
        await api.enqueue(api.newName()),
      ];
      await api.put(`/jobs/${finished.id}/cancel`);
      await api.enqueue(queue, { runAt: '2100-01-01T00:00:00Z' });
      const { item: recurring } = await api.post('/recurring-jobs', { ...schedule, id: 'row' });
      const { item: batch } = await api.post('/batches', { jobs: [{ ...newJob, delayMs: 3_600_000 }] });
      const released = new Promise<void>((resolve) => (release = resolve));
      const server = await new Promise<string>((ready) => {
        serving = api.withServer(api.newName(), async ({ id }) => {
          ready(String(id));
          await released;
        });
      });
      places = {
        job: job.id,
        finished: finished.id,
        queue,
        idle: String(finished['queue']),
        server,
        recurring: recurring.id,
        batch: batch.id,
      };
    });
    after(async () => {
      release();
      await serving;
    });

    for (const [index, { path, kind, offers, deletable = path }] of rows(unknownPlaces).entries()) {
      const shown = path(namedPlaces);
      const offered = Object.keys(offers) as Method[];

      it(`OPTIONS ${shown} names what it offers, and everything else is 405 with the same`, async () => {
        const url = path(places);
        const options = await api.call('OPTIONS', url);
        expect([options.status, options.text]).to.deep.equal([204, '']);
        const allow = String(options.headers['allow']);
        const heads = offered.includes('GET') ? ['HEAD'] : [];
        expect(allow.split(', ')).to.have.members([...offered, ...heads, 'OPTIONS']);
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
          if (offered.includes(method)) continue;
          const refused = await api.call(method, url, method === 'GET' ? undefined : {});
          expect([method, refused.status, refused.codes, refused.headers['allow']]).to.deep.equal([
            method,
            405,
            [40501],
            allow,
          ]);
        }
      });

      const explained = { collection: ['POST', 'PUT', 'DELETE'], item: ['PUT', 'PATCH', 'DELETE'] } as const;
      if ((kind === 'collection' || kind === 'item') && !shown.includes('/search/')) {
        it(`a method that ${shown} does not offer is refused with the reason`, async () => {
          for (const method of explained[kind].filter((name) => !offered.includes(name))) {
            const { text } = await api.call(method, path(places), {});
            expect(text).to.match(new RegExp(`"internalMessage":"${method} is not possible here: [A-Z]`));
          }
        });
      }

      for (const method of offered) {
        if (kind === 'stream') continue; // streams are tested in job-events.test.ts
        it(`${method} ${shown} answers as the table of methods says`, async () => {
          const [row] = rows(places).slice(index);
          const url = method === 'DELETE' ? deletable(places) : path(places);
          await checks[kind][method]?.(api, url, row?.offers[method]);
        });
      }

      const unknown = path(unknownPlaces);
      if (!unknown.includes(unknownId)) continue;
      it(`what ${shown} offers is 404 for one that does not exist`, async () => {
        for (const method of offered) {
          const { status, codes } = await api.call(method, unknown, offers[method]);
          expect([method, status, codes]).to.deep.equal([method, 404, [40402]]);
        }
      });
    }
  });
});
