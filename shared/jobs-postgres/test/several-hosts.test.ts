import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineJob, JobClient, StorageUnavailableError } from '@longshore/jobs';
import { type LocalPostgres, startLocalPostgres } from '@longshore/local-postgres';
import { eventually, patientStorage, TcpProxy } from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { hostsOfUrl } from '../src/connection/host-list.js';
import { PostgresStorage } from '../src/index.js';

describe('A URL with several hosts', () => {
  it('is separated into hosts, what they must be like, and a URL for the driver', () => {
    expect(
      hostsOfUrl('url', 'postgres://u:p,@a:1,[::1],c:3/db?x=1&target_session_attrs=primary&y=2'),
    ).to.deep.equal({
      url: 'postgres://u:p,@a:1/db?x=1&y=2',
      hosts: {
        hosts: [
          { host: 'a', port: 1 },
          { host: '::1', port: 5432 },
          { host: 'c', port: 3 },
        ],
        attributes: 'primary',
      },
    });
    expect(hostsOfUrl('url', 'postgres://a/db?target_session_attrs=standby')).to.deep.equal({
      url: 'postgres://a/db',
      hosts: { hosts: [{ host: 'a', port: 5432 }], attributes: 'standby' },
    });
    for (const plain of ['postgres://u:p,@a:1/db', 'postgres:///db?host=/run/postgresql'])
      expect(hostsOfUrl('url', plain)).to.deep.equal({ url: plain });
  });

  it('is refused, without repeating it, if something in it has no meaning', () => {
    for (const url of [
      'postgres://u:secret@a,b:c/db',
      'postgres://u:secret@a,,b/db',
      'postgres://u:secret@a/db?target_session_attrs=master',
      'postgres://u:secret@/db?host=a,b',
    ])
      expect(() => new PostgresStorage({ url }), url)
        .to.throw(RangeError, /^url (has an|names several)/)
        .with.property('message')
        .that.does.not.include('secret');
    const pool = new pg.Pool({ connectionString: 'postgres://a,b/db' });
    expect(() => new PostgresStorage({ pool })).to.throw(RangeError, 'several hosts');
  });

  describe('of which one is the primary', () => {
    const work = defineJob({ name: 'work' });
    let directory: string;
    let servers: LocalPostgres[];
    let urls: string[];
    let proxies: TcpProxy[];
    let storage: PostgresStorage;

    before(async () => {
      directory = await mkdtemp(path.join(tmpdir(), 'longshore-hosts-'));
      servers = [];
      for (const name of ['first', 'second'])
        servers.push(
          await startLocalPostgres({ directory: path.join(directory, name), settings: { fsync: 'off' } }),
        );
      urls = servers.map(({ url }) => url);
      proxies = await Promise.all(urls.map((url) => TcpProxy.start(Number(new URL(url).port))));
      for (const url of urls) {
        const each = new PostgresStorage({ url, ...patientStorage });
        await each.open();
        await each.close();
      }
      const url = new URL(urls[0] ?? '');
      await sql(1, `alter role ${url.username} password '${url.password}'`, writable);
      urls[1] = Object.assign(new URL(urls[1] ?? ''), { password: url.password }).href;
      const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
      storage = new PostgresStorage({
        url: `postgres://${url.username}:${url.password}@${hosts}${url.pathname}?target_session_attrs=read-write`,
        ...patientStorage,
        silenceTimeoutMs: 1_000,
      });
    });

    after(async () => {
      await storage.close();
      await Promise.all(
        [...proxies, ...servers].map((each) => ('close' in each ? each.close() : each.stop())),
      );
      await rm(directory, { recursive: true, force: true });
    });

    const writable = '-c default_transaction_read_only=off';

    /** Runs a statement on the server with this index. */
    async function sql(
      index: number,
      text: string,
      options = '',
    ): Promise<pg.QueryResult<{ value: string }>> {
      const client = new pg.Client({ connectionString: urls[index], options });
      await client.connect();
      try {
        return await client.query(text);
      } finally {
        await client.end();
      }
    }

    /** Makes the server with this index accept writes, and the other only reads. */
    async function promote(index: number): Promise<void> {
      for (const each of urls.keys()) {
        const wanted = each === index ? 'off' : 'on';
        await sql(each, `alter system set default_transaction_read_only = ${wanted}`, writable);
        await sql(each, 'select pg_reload_conf()');
        await eventually(
          () => sql(each, `select current_setting('default_transaction_read_only') as value`),
          ({ rows }) => rows[0]?.value === wanted,
        );
      }
    }

    /** Enqueues a job, and returns the index of the server that has it. */
    async function enqueued(): Promise<number> {
      const { id } = await eventually(() => new JobClient(storage).enqueue(work));
      const found = urls.map((_, index) => sql(index, `select from longshore.job where id = '${id}'`));
      return (await Promise.all(found)).findIndex(({ rowCount }) => rowCount === 1);
    }

    it('leads to it, to the next one after a promotion, and past a silent server', async () => {
      await promote(1);
      expect(await enqueued()).to.equal(1);
      await promote(0);
      expect(await enqueued()).to.equal(0);
      proxies[0]?.lose();
      await promote(1);
      expect(await enqueued()).to.equal(1);
      proxies[0]?.recover();
    });

    it('fails while none is', async () => {
      const url = new URL(urls[0] ?? '');
      const standby = new PostgresStorage({
        url: `${url.href}?target_session_attrs=standby`,
        ...patientStorage,
      });
      const error = await standby.readClock().catch((thrown: unknown) => thrown);
      await standby.close();
      expect(error).to.be.instanceOf(StorageUnavailableError);
      expect(String(error)).to.include('None of the hosts').and.include('target_session_attrs=standby');
    });
  });
});
