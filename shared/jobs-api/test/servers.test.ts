import type { JobServer } from '@longshore/jobs';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

const unknown = '/servers/01890a5d-ac96-774b-bcce-b302099a8057';

/**
 * A server timeout, in milliseconds, with which servers soon learn what operators request. If the machine pauses for
 * longer, a server is declared dead and registers again with another id, so the tests repeat their requests.
 */
const frequentHeartbeats = 5_000;

onEachStorage('Servers as resources', (api) => {
  it('GET /servers lists running servers, by host, state and queue', async () => {
    const queue = api.newName();
    await api.withServer(queue, async ({ id }) => {
      const { items } = await api.get(`/servers?host=here&state=running&queue=${queue}`);
      expect(items.map((item) => item.id)).to.deep.equal([id]);
      expect((await api.get(`/servers?host=elsewhere`)).items).to.deep.equal([]);
    });
  });

  it('GET /servers/{id} shows one', async () => {
    await api.withServer(api.newName(), async ({ id }) => {
      const { item } = await api.get(`/servers/${id}`);
      expect(item).to.include({ host: 'here', concurrency: 3, state: 'running', requested: null });
    });
  });

  it('GET /servers/{id}/jobs lists the jobs that it has run', async () => {
    const queue = api.newName();
    const job = await api.enqueue(queue);
    await api.withServer(queue, async ({ id }) => {
      await eventually(
        async () => (await api.get(`/jobs/${job.id}`)).item['state'],
        (state) => state === 'done',
      );
      expect((await api.get(`/servers/${id}/jobs`)).items.map((item) => item.id)).to.deep.equal([job.id]);
    });
  });

  it('PUT /servers/{id}/quiet lets it take no more jobs', async () => {
    const quieten = async (server: JobServer): Promise<unknown> => {
      const path = `/servers/${String(server.id)}`;
      expect((await api.put(`${path}/quiet`)).item['requested']).to.equal('quiet');
      expect((await api.put(`${path}/quiet`)).status).to.equal(200);
      return (await api.get(path)).item['state'];
    };
    await api.withServer(
      api.newName(),
      async (server) =>
        void (await eventually(
          () => quieten(server),
          (state) => state === 'quiet',
        )),
      frequentHeartbeats,
    );
  });

  it('PUT /servers/{id}/stop lets it stop', async () => {
    const stop = async (server: JobServer): Promise<unknown> => {
      const path = `/servers/${String(server.id)}`;
      const { item } = await api.put(`${path}/stop`);
      if (!server.ended.aborted) expect(item['requested']).to.equal('stop');
      return server.ended.aborted && (await api.get(path)).status;
    };
    await api.withServer(
      api.newName(),
      async (server) =>
        void (await eventually(
          () => stop(server),
          (status) => status === 404,
        )),
      frequentHeartbeats,
    );
  });

  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/jobs'],
    ['PUT', '/quiet'],
    ['PUT', '/stop'],
  ] as const) {
    it(`${method} /servers/{id}${path} of one that does not run is 404`, async () => {
      expect((await api.call(method, `${unknown}${path}`)).codes).to.deep.equal([40402]);
    });
  }
});
