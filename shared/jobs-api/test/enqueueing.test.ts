import { newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

const job = { name: 'add', args: { b: 2, a: 1 } };
const missing = '01a20472-5ed1-7102-9962-bf1f1a0fa733';

onEachStorage('Enqueueing over HTTP', (api) => {
  for (const [what, body] of [
    ['that is plain', {}],
    ['that is given a time', { runAt: '2100-01-01T00:00:00.000Z', priority: -5, maxAttempts: 3 }],
    ['that waits some milliseconds', { delayMs: 3_600_000, timeoutMs: 500 }],
    ['with tags', { tags: ['a', 'b'] }],
    ['with a concurrency key', { concurrency: { key: 'k', limit: 2 } }],
    ['with an idempotency key', { idempotencyKey: 'once' }],
  ] as const) {
    it(`answers a job ${what} as it is then read`, async () => {
      const made = await api.post('/jobs', { ...job, queue: api.newName(), ...body });
      const read = await api.get(`/jobs/${made.item.id}`);
      expect([made.status, made.item]).to.deep.equal([201, read.item]);
      expect(made.headers.etag).to.equal(read.headers.etag);
      expect(made.item).to.deep.include('tags' in body || 'maxAttempts' in body ? { ...body } : {});
    });
  }

  it('answers a job that waits for another as it is then read', async () => {
    const parent = await api.enqueue(api.newName());
    const made = await api.post('/jobs', { ...job, after: { parents: [parent.id] }, delayMs: 5 });
    expect(made.item).to.deep.equal((await api.get(`/jobs/${made.item.id}`)).item);
    const after = { parents: [parent.id], when: 'onDone' };
    expect(made.item).to.deep.include({ state: 'awaiting', after, delayMs: 5 });
  });

  it('lets jobs of an array wait for earlier ones by their places', async () => {
    const queue = api.newName();
    const bodies = [{}, { after: { parents: [0] } }, { after: { parents: [0, 1], when: 'onAny' } }];
    const { items } = await api.post(
      '/jobs',
      bodies.map((body) => ({ ...job, queue, ...body })),
    );
    const [first, second, third] = items.map(({ id }) => id);
    expect(items.map(({ after }) => after)).to.deep.equal([
      null,
      { parents: [first], when: 'onDone' },
      { parents: [first, second], when: 'onAny' },
    ]);
    const waiting = (await api.get(`/jobs/${second}/continuations`)).items;
    expect(waiting.map(({ id }) => id)).to.deep.equal([third]);
  });

  it('refuses a place that no earlier job of the request has', async () => {
    const parents = [{ parents: [0] }, { parents: [1] }, { parents: [-1] }, { parents: ['0'] }];
    for (const after of parents)
      expect((await api.post('/jobs', [{ ...job, after }, job])).codes).to.deep.equal([42202]);
  });

  for (const [what, path, body] of [
    ['a job', '/jobs', (id: string) => ({ ...job, id })],
    ['a job of a queue', '/queues/default/jobs', (id: string) => ({ ...job, id })],
    ['a job of an array', '/jobs', (id: string) => [job, { ...job, id }]],
    ['a job of a batch', '/batches', (id: string) => ({ jobs: [{ ...job, id }] })],
    ['the callback of a batch', '/batches', (id: string) => ({ jobs: [job], callback: { ...job, id } })],
    ['a batch', '/batches', (id: string) => ({ id, jobs: [job] })],
  ] as const) {
    it(`takes no id that a caller chose for ${what}, and says what to send instead`, async () => {
      await api.enqueue('default');
      const refused = await api.post(path, body(newId()));
      expect(refused.codes).to.deep.equal([42203]);
      expect(refused.text)
        .to.contain('id is not a known field: the platform creates the ids of ')
        .and.to.contain(what === 'a batch' ? 'the response contains the id' : 'idempotencyKey');
    });
  }

  it('answers the same idempotency key with the same job, and other arguments with 409', async () => {
    const body = { ...job, queue: api.newName(), idempotencyKey: 'same' };
    const first = await api.post('/jobs', body);
    expect((await api.post('/jobs', body)).item.id).to.equal(first.item.id);
    expect((await api.post('/jobs', { ...body, args: { a: 2, b: 2 } })).codes).to.deep.equal([40901]);
  });

  it('enqueues nothing of an array with the idempotency key of a job that was deleted', async () => {
    const queue = api.newName();
    const keyed = { ...job, queue, idempotencyKey: 'gone' };
    const { item } = await api.post('/jobs', keyed);
    await api.call('PUT', `/jobs/${item.id}/cancel`);
    await api.call('DELETE', `/jobs/${item.id}`);
    const plain = { ...job, queue };
    expect((await api.post('/jobs', [plain, keyed, plain])).codes).to.deep.equal([40901]);
    expect((await api.post('/jobs', keyed)).codes).to.deep.equal([40901]);
    expect((await api.get(`/queues/${queue}/jobs`)).items).to.deep.equal([]);
  });

  it('answers an array with jobs that are there already as they are', async () => {
    const queue = api.newName();
    const keyed = { ...job, queue, idempotencyKey: 'known' };
    const { item } = await api.post('/jobs', keyed);
    await api.call('PUT', `/jobs/${item.id}/cancel`);
    const fresh = { ...keyed, idempotencyKey: 'fresh' };
    const { items } = await api.post('/jobs', [keyed, fresh, fresh]);
    expect(items[0]).to.deep.equal((await api.get(`/jobs/${item.id}`)).item);
    expect(items[1]).to.deep.equal(items[2]);
  });

  it('answers a repeated request with the same Idempotency-Key as the first', async () => {
    const queue = api.newName();
    const headers = { 'idempotency-key': queue };
    const first = await api.call('POST', '/jobs', { ...job, queue }, headers);
    expect((await api.call('POST', '/jobs', { ...job, queue }, headers)).item).to.deep.equal(first.item);
    expect((await api.get(`/queues/${queue}/jobs`)).items).to.have.length(1);
  });

  it('answers a unique job that must not be there twice with 409', async () => {
    const body = { ...job, queue: api.newName(), unique: { key: 'one', onConflict: 'reject' } };
    await api.post('/jobs', body);
    expect((await api.post('/jobs', body)).codes).to.deep.equal([40901]);
  });

  it('takes 10 000 jobs in one request, and answers in their order', async () => {
    const queue = api.newName();
    const bodies = Array.from({ length: 10_000 }, (_, a) => ({ name: 'add', args: { a, b: 0 }, queue }));
    const made = await api.post('/jobs', bodies);
    expect([made.status, made.items.length]).to.deep.equal([201, 10_000]);
    expect(made.items.every(({ args }, a) => (args as { a: number }).a === a)).to.equal(true);
    expect((await api.get(`/queues/${queue}`)).item['counts']).to.include({ enqueued: 10_000 });
  });

  it('takes no more than 10 000 jobs in one request', async () => {
    expect(
      (
        await api.post(
          '/jobs',
          Array.from({ length: 10_001 }, () => job),
        )
      ).codes,
    ).to.deep.equal([42202]);
  });

  it('refuses an array as a whole, and names what is wrong with each job', async () => {
    const queue = api.newName();
    const bodies = [
      { ...job, queue },
      { name: 'add', args: { a: 'x' }, queue },
      { name: 'add', args: 1, queue },
    ];
    const refused = await api.post('/jobs', bodies);
    expect(refused.status).to.equal(422);
    expect(refused.text).to.contain('[1].args.a must be number').and.to.contain('[2].args must be object');
    expect((await api.get(`/jobs?queue=${queue}`)).items).to.deep.equal([]);
  });

  // A body with `__proto__` is refused as a whole.
  for (const name of Object.getOwnPropertyNames(Object.prototype).filter((each) => each !== '__proto__'))
    it(`treats ${name} like any other unknown field, argument and parameter`, async () => {
      const answers = async (word: string): Promise<string[]> => {
        const texts = await Promise.all([
          api.post('/jobs', { ...job, [word]: 1 }),
          api.post('/jobs', { ...job, args: { ...job.args, [word]: 1 } }),
          api.post('/batches', { jobs: [job], [word]: 1 }),
          api.call('PATCH', '/queues/default', { [word]: 1 }),
          api.get(`/jobs?${word}=1`),
          api.get(`/jobs?sort=${word}`),
          api.get(`/jobs?fields=${word}`),
          api.get(`/jobs?args.${word}=1`),
          api.get(`/${word}`),
          api.call('PUT', `/jobs/${missing}/${word}`),
        ]);
        return texts.map(({ status, text }) => `${status} ${text.replaceAll(word, 'WORD')}`);
      };
      expect(await answers(name)).to.deep.equal(await answers('colour'));
    });

  const wrong = { name: 'add', args: { a: 'x', b: 1 }, priority: 1_000 };
  const unknown = { name: 'no-such-job', colour: 'red' };
  for (const [path, body, at] of [
    ['/jobs', wrong, ['args.a must be number', 'priority must be <= 100']],
    [
      '/jobs',
      [wrong, unknown],
      [
        '[0].args.a must be number',
        '[0].priority must be <= 100',
        '[1].colour is not a known field',
        '[1].name "no-such-job" is not a job of this application',
      ],
    ],
    [
      '/batches',
      { jobs: [unknown, wrong] },
      [
        'jobs[0].colour is not a known field',
        'jobs[0].name "no-such-job" is not a job of this application',
        'jobs[1].args.a must be number',
        'jobs[1].priority must be <= 100',
      ],
    ],
    [
      '/jobs',
      [{ ...wrong, priority: 1 }, { name: 'no-such-job' }],
      ['[0].args.a must be number', '[1].name "no-such-job" is not a job of this application'],
    ],
    [
      '/jobs',
      { name: 'no-such-job', after: { parents: [missing, missing.replace('01', '02')] } },
      [
        `There is no job or batch ${missing} to depend on; nothing was enqueued`,
        `There is no job or batch ${missing.replace('01', '02')} to depend on; nothing was enqueued`,
        'name "no-such-job" is not a job of this application',
      ],
    ],
    [
      '/jobs',
      [
        { ...job, after: { parents: [missing] } },
        { ...job, args: { a: 1 }, after: { parents: [missing.toUpperCase()] } },
      ],
      [
        `[0]: There is no job or batch ${missing} to depend on; nothing was enqueued`,
        '[1].args.b is missing',
        `[1]: There is no job or batch ${missing} to depend on; nothing was enqueued`,
      ],
    ],
  ] as const)
    it(`names everything that is wrong at once: POST ${path} ${JSON.stringify(at.length)}`, async () => {
      const { status, text } = await api.post(path, body);
      const { errors } = JSON.parse(text) as { errors: { internalMessage: string }[] };
      const messages = errors
        .map(({ internalMessage }) => internalMessage.replace(/; it has .*/, ''))
        .toSorted();
      expect([status, messages]).to.deep.equal([422, at]);
    });

  it('puts what concurrent requests ask for into the storage, a failing one alone', async () => {
    const queue = api.newName();
    const bodies = Array.from({ length: 40 }, (_, a) => ({
      name: 'add',
      args: { a: a === 7 ? 'x' : a, b: 0 },
    }));
    const answers = await Promise.all(bodies.map((body) => api.post('/jobs', { ...body, queue })));
    expect(answers.map(({ status }) => status).filter((status) => status !== 201)).to.deep.equal([422]);
    expect((await api.get(`/queues/${queue}`)).item['counts']).to.include({ enqueued: 39 });
  });

  it('refuses the name of no job', async () => {
    expect((await api.post('/jobs', { name: 'subtract' })).codes).to.deep.equal([42202]);
  });

  it('DELETE /jobs deletes the jobs that match, and no others', async () => {
    const [queue, other] = [api.newName(), api.newName()];
    const jobs = [await api.enqueue(queue), await api.enqueue(queue), await api.enqueue(other)];
    for (const { id } of jobs) await api.put(`/jobs/${id}/cancel`);
    expect((await api.delete(`/jobs?queue=${queue}`)).status).to.equal(204);
    const statuses = jobs.map(async ({ id }) => (await api.get(`/jobs/${id}`)).status);
    expect(await Promise.all(statuses)).to.deep.equal([404, 404, 200]);
  });

  for (const [selection, headers] of [
    ['that match', {}],
    ['at all', {}],
    ['that match', { 'idempotency-key': 'none-left' }],
  ] as const)
    it(`DELETE /jobs deletes nothing if there are unfinished jobs ${selection}, ${headers['idempotency-key'] === undefined ? 'without' : 'with'} a key`, async () => {
      const queue = api.newName();
      const [finished] = [await api.enqueue(queue), await api.enqueue(queue)];
      await api.put(`/jobs/${finished.id}/cancel`);
      const path = selection === 'at all' ? '/jobs' : `/jobs?queue=${queue}`;
      const refused = await api.call('DELETE', path, undefined, headers);
      expect([refused.status, ...refused.codes]).to.deep.equal([409, 40902]);
      expect(refused.text).to.match(
        /No job was deleted, because \d+ jobs? that match(es)? ha(s|ve) not finished/,
      );
      expect((await api.get(`/jobs/${finished.id}`)).status).to.equal(200);
    });

  it('DELETE /jobs says how many finished jobs it has forgotten', async () => {
    const queue = api.newName();
    for (const { id } of [await api.enqueue(queue), await api.enqueue(queue)])
      await api.put(`/jobs/${id}/cancel`);
    const answer = await api.delete(`/jobs?queue=${queue}`);
    expect([answer.status, answer.headers['x-total-count']]).to.deep.equal([204, '2']);
  });

  it('DELETE /jobs deletes the jobs of the given states, and leaves all others', async () => {
    const unfinished = await api.enqueue(api.newName());
    const { id } = await api.enqueue(api.newName());
    await api.put(`/jobs/${id}/cancel`);
    expect((await api.delete('/jobs?state=done&state=failed&state=cancelled')).status).to.equal(204);
    expect((await api.get(`/jobs/${id}`)).status).to.equal(404);
    expect((await api.get(`/jobs/${unfinished.id}`)).status).to.equal(200);
  });

  it('DELETE /jobs with an unknown parameter is 400 and forgets nothing', async () => {
    const { id } = await api.enqueue(api.newName());
    await api.put(`/jobs/${id}/cancel`);
    expect((await api.delete('/jobs?colour=red')).codes).to.deep.equal([40002]);
    expect((await api.get(`/jobs/${id}`)).status).to.equal(200);
  });
});

onEachStorage(
  'Enqueueing jobs of any name over HTTP',
  (api) => {
    it('takes them with whatever arguments', async () => {
      const { item } = await api.post('/jobs', { name: 'elsewhere', args: { x: [1] } });
      expect(item).to.deep.include({ name: 'elsewhere', args: { x: [1] }, queue: 'default' });
    });

    it('refuses what cannot be a name', async () => {
      expect((await api.post('/jobs', { name: 'no name' })).codes).to.deep.equal([42202]);
    });
  },
  { acceptUnknownJobs: true },
);

onEachStorage(
  'A queue that is full',
  (api) => {
    it('is 429 with Retry-After, until jobs have left it', async () => {
      const queue = api.newName();
      const statuses: number[] = [];
      for (let count = 0; count < 6; count += 1)
        statuses.push((await api.post('/jobs', { ...job, queue })).status);
      expect(statuses).to.deep.equal([201, 201, 201, 429, 429, 429]);
      const refused = await api.post('/jobs', { ...job, queue });
      expect([refused.codes, refused.headers['retry-after']]).to.deep.equal([[42901], '1']);
    });

    it('takes nothing of an array that is too long for it', async () => {
      const queue = api.newName();
      const refused = await api.post(
        '/jobs',
        Array.from({ length: 4 }, () => ({ ...job, queue })),
      );
      expect(refused.codes).to.deep.equal([42901]);
      expect((await api.post('/jobs', { ...job, queue })).status).to.equal(201);
    });

    it('takes no jobs that are moved to it, or made ready in it, either', async () => {
      const [full, other] = [api.newName(), api.newName()];
      const later = '9000-01-01T00:00:00.000Z';
      for (let count = 0; count < 3; count += 1) await api.post('/jobs', { ...job, queue: full });
      const { id: elsewhere } = (await api.post('/jobs', { ...job, queue: other })).item;
      const { id: waiting } = (await api.post('/jobs', { ...job, queue: full, runAt: later })).item;
      expect((await api.patch(`/jobs/${elsewhere}`, { queue: full })).codes).to.deep.equal([42901]);
      expect((await api.patch(`/jobs/${waiting}`, { runAt: '2020-01-01T00:00:00Z' })).codes).to.deep.equal([
        42901,
      ]);
      expect((await api.patch(`/jobs/${waiting}`, { priority: 3 })).status).to.equal(200);
    });

    it('does not keep jobs out of another', async () => {
      expect((await api.post('/jobs', { ...job, queue: api.newName() })).status).to.equal(201);
    });
  },
  { maxBacklog: 3 },
);
