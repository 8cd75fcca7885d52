import { expect } from 'chai';
import { it } from 'mocha';
import type { JobError } from '@longshore/jobs';
import { defaultRedaction, errorFingerprint, type JobFilter, type NewJob } from '@longshore/jobs/storage';
import { BulkFixture } from './bulk-fixture.js';
import { type Fixture, hourMs, yearMs } from './storage-under-test.js';

/** Defines the tests of searching by error and by words. Each test uses its own queue. */
export function searching(fixture: Fixture): void {
  const found = async (queue: string, filter: JobFilter): Promise<string[]> => {
    const jobs = await fixture.storage.jobs.list({ filter: { queue: [queue], ...filter }, limit: 100 });
    const { count } = await fixture.storage.jobs.count({ queue: [queue], ...filter });
    expect(count, 'as many counted as listed').to.equal(jobs.length);
    return jobs.map(({ id }) => id).toSorted();
  };
  const fail = async (
    queue: string,
    message: string,
    kind: 'failed' | 'retry' = 'failed',
    job: Partial<NewJob> = {},
  ): Promise<string> => {
    const { claim } = await fixture.claimOne({ ...job, queue });
    const error: JobError = { name: 'RangeError', message, stack: null };
    const outcome = kind === 'failed' ? { kind, error } : { kind, error, delayMs: yearMs };
    await fixture.storage.completions.complete([{ claim, outcome }]);
    return claim.jobId;
  };

  it('finds jobs by part of their latest error, ignoring case', async () => {
    const queue = fixture.newQueue();
    const wanted = [await fail(queue, 'No ship for 7'), await fail(queue, 'No SHIP at all', 'retry')];
    await fail(queue, 'No sea');
    await fixture.enqueue(queue);
    expect(await found(queue, { error: ['no ship'] })).to.deep.equal(wanted.toSorted());
    expect(await found(queue, { error: ['RangeError: No sh', 'no sea'] })).to.have.length(3);
    expect(await found(queue, { error: ['no ship'], state: ['failed'] })).to.deep.equal([wanted[0]]);
    expect(await found(queue, { error: ['no ship'], state: ['done'] })).to.deep.equal([]);
  });

  it('does not see redacted arguments, in words and in conditions', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, {
      args: '{"password":"hunter2","userPIN":4711,"note":"seen","big":9007199254740993,"list":[{"name":"token","value":"hunter2"},{"name":"x","value":"seen"}],"pairs":[["cookie","hunter2"]]}',
    });
    const redact = defaultRedaction.source;
    const args = (path: string, value: string | number) => ({
      args: [{ path: path.split('.'), values: [value] }],
    });
    for (const filter of [
      { q: 'hunt' },
      { q: 'seen hunter2' },
      { q: '4711' },
      args('password', 'hunter2'),
      args('list.0.value', 'hunter2'),
      args('pairs.0.1', 'hunter2'),
    ]) {
      expect(await found(queue, filter), JSON.stringify(filter)).to.deep.equal([id]);
      expect(await found(queue, { ...filter, redact }), JSON.stringify(filter)).to.deep.equal([]);
    }
    for (const filter of [
      { q: 'seen' },
      { q: 'password' },
      { q: '9007199254740993' },
      args('note', 'seen'),
      args('list.1.value', 'seen'),
      args('list.0.name', 'token'),
    ])
      expect(await found(queue, { ...filter, redact }), JSON.stringify(filter)).to.deep.equal([id]);
    const { jobs } = await fixture.storage.jobs.search({
      filter: { queue: [queue], q: 'hunter2', redact },
      limit: 10,
      maxBytes: 1_000_000,
    });
    expect(jobs).to.deep.equal([]);
  });

  it('changes no job in bulk because of a redacted argument', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue, { args: '{"password":"hunter2"}' });
    const filter = { queue: [queue], q: 'hunter2', redact: defaultRedaction.source };
    const { id } = await fixture.storage.bulk.start({ action: 'cancel', filter, requestedBy: 'test' });
    while (await fixture.storage.bulk.advance());
    expect((await fixture.storage.bulk.find(id))?.changed).to.equal(0);
  });

  it('treats pattern characters literally', async () => {
    const queue = fixture.newQueue();
    const id = await fail(queue, 'at 100%_\\');
    await fail(queue, 'at 1000 m');
    for (const text of ['100%', '%_', '_\\'])
      expect(await found(queue, { error: [text] }), text).to.deep.equal([id]);
  });

  it('finds jobs whose errors are of one kind', async () => {
    const queue = fixture.newQueue();
    const wanted = [await fail(queue, 'No ship 7'), await fail(queue, 'No ship 18', 'retry')];
    await fail(queue, 'No ship');
    const kind = errorFingerprint({ name: 'RangeError', message: 'No ship 1' });
    expect(await found(queue, { errorFingerprint: [kind] })).to.deep.equal(wanted.toSorted());
  });

  it('retries the failed jobs of an error group', async () => {
    const queue = fixture.newQueue();
    const name = 'searching.group';
    const id = await fail(queue, 'No ship 7', 'failed', { name });
    await fail(queue, 'No sea', 'failed', { name });
    const { groups } = await fixture.storage.statistics.listErrorGroups({ sinceMs: hourMs, limit: 1_000 });
    const group = groups.find((candidate) => candidate.name === name && candidate.exampleId === id);
    const filter = { name: [name], errorFingerprint: [group?.fingerprint ?? ''], state: ['failed'] as const };
    expect(await new BulkFixture(fixture).carryOut({ action: 'retry', filter })).to.include({ changed: 1 });
    expect((await fixture.storage.jobs.find(id))?.state).to.equal('enqueued');
  });

  for (const [where, job] of Object.entries({
    'the name': { name: 'Searched.needle' },
    'a tag': { meta: { tags: ['hay', 'a needle'] } },
    'the arguments': { args: '{"in":{"the":["stack","one needle"]}}' },
  })) {
    it(`finds jobs in any state by a word in ${where}`, async () => {
      const queue = fixture.newQueue();
      const { id } = await fixture.enqueue(queue, job);
      const scheduled = await fixture.enqueue(queue, { ...job, due: { inMs: yearMs } });
      const cancelled = await fixture.enqueue(queue, job);
      await fixture.storage.control.cancel(cancelled.id);
      await fixture.enqueue(queue);
      expect(await found(queue, { q: 'NEEDLE' })).to.deep.equal([id, scheduled.id, cancelled.id].toSorted());
    });
  }

  it('finds a word in any case, for all letters of Unicode', async () => {
    const queue = fixture.newQueue();
    const letters: string[] = [];
    for (let code = 1; code < 0x2_00_00; code++) {
      const character = code >= 0xd8_00 && code < 0xe0_00 ? '' : String.fromCodePoint(code);
      if (/[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u.test(character))
        letters.push(character);
    }
    // Ten words of 20 letters in each search.
    const words = Array.from({ length: Math.ceil(letters.length / 20) }, (_, word) =>
      letters.slice(word * 20, word * 20 + 20).join(''),
    );
    for (let from = 0; from < words.length; from += 10) {
      const some = words.slice(from, from + 10);
      const { id } = await fixture.enqueue(queue, { args: JSON.stringify({ some }) });
      for (const q of [some.join(' '), some.join(' ').toUpperCase(), some.join(' ').toLowerCase()])
        expect(await found(queue, { q }), q).to.include(id);
    }
  });

  for (const [text, ...searches] of [
    ['İSTANBUL', 'İSTANBUL', 'istanbul', 'ISTANBUL'],
    ['ΑΘΗΝΑΣ', 'ΑΘΗΝΑΣ', 'αθηνας', 'αθηνασ', 'ΘΗΝΑ'],
    ['Große Straße', 'STRASSE', 'STRAẞE', 'große', 'gross'],
    ['oﬃce', 'office', 'OFFICE', 'oﬃce'],
    ['Ǆ ŉ', 'ǆ', 'ǅ', 'ʼn'],
    [String.raw`C:\temp\r7.pdf`, String.raw`C:\temp\r7.pdf`, String.raw`\TEMP\R7`, '\\'],
    ['say "yes" to\nb\\n', '"yes"', 'b\\n', 'to'],
    ['50% of_it', '50%', 'of_it', '%'],
    ['a\x02b', 'a\x02b', 'A\x02B'],
    ['(x|y)*[z]{2}^$.', '(x|y)*[z]{2}^$.', '[Z]', '.'],
  ] as const) {
    it(`finds ${JSON.stringify(text)} in arguments, tags and errors, by ${JSON.stringify(searches)}`, async () => {
      const queue = fixture.newQueue();
      const failed = await fail(queue, text);
      const given = await fixture.enqueue(queue, { args: JSON.stringify({ deep: [{ text }] }) });
      const tagged = await fixture.enqueue(queue, { meta: { tags: ['other', text] } });
      await fixture.enqueue(queue, { args: '{"deep":["nb"]}' });
      for (const q of searches) {
        expect(await found(queue, { q }), q).to.deep.equal([failed, given.id, tagged.id].toSorted());
        expect(await found(queue, { error: [q] }), q).to.deep.equal([failed]);
        const page = await fixture.storage.jobs.search({
          filter: { queue: [queue], q },
          limit: 10,
          maxBytes: 1_000_000,
        });
        expect(page.jobs.map(({ id }) => id).toSorted(), q).to.deep.equal(
          [failed, given.id, tagged.id].toSorted(),
        );
      }
    });
  }

  it('finds jobs by words of their error and of their queue', async () => {
    const queue = fixture.newQueue();
    const id = await fail(queue, 'A needle broke');
    await fixture.enqueue(queue);
    expect(await found(queue, { q: 'needle' })).to.deep.equal([id]);
    expect(await found(queue, { q: queue.slice(1) })).to.have.length(2);
  });

  it('finds jobs that contain every word', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue, { name: 'ship', args: '{"to":"Delft"}' });
    await fixture.enqueue(queue, { name: 'ship', args: '{"to":"Gouda"}' });
    expect(await found(queue, { q: ' delft  ship ' })).to.deep.equal([id]);
    expect(await found(queue, { q: 'ship 50%' })).to.deep.equal([]);
  });

  it('treats a search without words as absent', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    expect(await found(queue, { q: '' })).to.deep.equal([id]);
    expect(await found(queue, { q: '  ' })).to.deep.equal([id]);
  });

  it('finds jobs by id, ignoring case', async () => {
    const queue = fixture.newQueue();
    const { id } = await fixture.enqueue(queue);
    await fixture.enqueue(queue);
    expect(await found(queue, { id: [id.toUpperCase(), 'nothing'] })).to.deep.equal([id]);
    expect(await found(queue, { id: ['nothing'] })).to.deep.equal([]);
  });

  it('finds array elements and object members with numeric names in arguments', async () => {
    const queue = fixture.newQueue();
    const element = await fixture.enqueue(queue, { args: '{"a":[7,8]}' });
    const member = await fixture.enqueue(queue, { args: '{"a":{"1":8}}' });
    await fixture.enqueue(queue, { args: '{"a":[8]}' });
    for (const { id } of [element, member]) await fixture.storage.control.cancel(id);
    const filter = { args: [{ path: ['a', '1'], values: [8] }] };
    expect(await found(queue, filter)).to.deep.equal([element.id, member.id].toSorted());
  });
}
