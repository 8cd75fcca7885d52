import { expect } from 'chai';
import { it } from 'mocha';
import { QuotaExceededError } from '@longshore/jobs';
import { type CreatedKind, newId } from '@longshore/jobs/storage';
import { RecurringFixture } from './recurring-fixture.js';
import { type Fixture, newJob } from './storage-under-test.js';

/** Defines the tests of quotas for what callers create. */
export function limitingCallers(fixture: Fixture): void {
  const recurring = new RecurringFixture(fixture);

  /** Returns the message of the quota if it is exceeded; otherwise `admitted`. */
  async function admit(
    items: readonly string[],
    caller: string,
    perCaller: number,
    total: number,
    kind: CreatedKind = 'queue',
  ): Promise<string> {
    const limits = { perCaller, total: total + before[kind] };
    return fixture.storage.quotas.admit(kind, items, caller, limits).then(
      () => 'admitted',
      (error: unknown) => {
        expect(error).to.be.instanceOf(QuotaExceededError);
        return (error as Error).message;
      },
    );
  }

  /** How many things earlier tests have admitted. */
  const before: Record<CreatedKind, number> = { queue: 0, 'recurring job': 0, deployment: 0 };
  const newQueues = (count: number): string[] => Array.from({ length: count }, () => fixture.newQueue());

  it('admit queues up to the quota of the caller, and say how many it has created', async () => {
    const [caller, other] = [fixture.newQueue(), fixture.newQueue()];
    const [one = '', two = '', three = ''] = newQueues(3);
    expect(await admit([one, two, one], caller, 2, 100)).to.equal('admitted');
    expect(await admit([two, three], caller, 2, 100)).to.contain(
      `does not allow the queue "${three}": you have created 2 of at most 2 queues; use one that exists, or delete`,
    );
    expect(await admit([three], other, 2, 100)).to.equal('admitted');
    before.queue += 3;
  });

  it('admit queues up to the quota of all callers, all of a request or none', async () => {
    const queues = newQueues(3);
    expect(await admit(queues, fixture.newQueue(), 10, 2)).to.contain('all callers together have created');
    expect(await admit(queues.slice(1), fixture.newQueue(), 10, 2)).to.equal('admitted');
    before.queue += 2;
  });

  it('admit queues that exist, whoever created them, and count none of them', async () => {
    const queue = fixture.newQueue();
    await fixture.enqueue(queue);
    expect(await admit([queue], fixture.newQueue(), 0, 0)).to.equal('admitted');
  });

  it('no longer count queues that an application defines or a server consumes', async () => {
    const caller = fixture.newQueue();
    const [defined = '', served = '', third = '', fourth = ''] = newQueues(4);
    expect(await admit([defined, served], caller, 2, 100)).to.equal('admitted');
    await fixture.storage.quotas.defineQueues([defined]);
    await fixture.register(served);
    expect(await admit([third, fourth], caller, 2, 100)).to.equal('admitted');
    before.queue += 2;
  });

  it('create the queues of definitions', async () => {
    const queues = newQueues(2);
    await fixture.storage.quotas.defineQueues(queues);
    expect((await fixture.storage.queues.list()).map(({ name }) => name)).to.include.members(queues);
  });

  it('hold for callers that create queues at the same time', async () => {
    const caller = fixture.newQueue();
    const answers = await Promise.all(newQueues(6).map((queue) => admit([queue], caller, 4, 100)));
    expect(answers.filter((answer) => answer === 'admitted')).to.have.length(4);
    before.queue += 4;
  });

  it('limit recurring jobs', async () => {
    const caller = fixture.newQueue();
    const { id } = recurring.describe();
    expect(await admit([id], caller, 1, 100, 'recurring job')).to.equal('admitted');
    expect(await admit([recurring.describe().id], caller, 1, 100, 'recurring job')).to.contain(
      'you have created 1 of at most 1 recurring jobs; change one that exists, or delete',
    );
    before['recurring job'] += 1;
  });

  it('limit deployments', async () => {
    const { deployments } = fixture.storage;
    const [caller, other] = [fixture.newQueue(), fixture.newQueue()];
    const record = async (by: string, perCaller: number, total: number): Promise<string> => {
      const id = newId();
      const answer = await admit([id], by, perCaller, total, 'deployment');
      if (answer === 'admitted') await deployments.record({ id, version: '1.0.0' });
      return answer;
    };
    expect(await record(caller, 1, 100)).to.equal('admitted');
    expect(await record(caller, 1, 100)).to.equal(
      'The quota does not allow another deployment: you have created 1 of at most 1 deployments; delete the records that are no longer needed (DELETE /deployments/{id}), or ask the operator to raise the quota',
    );
    expect(await record(other, 1, 1)).to.contain('all callers together have created');
    expect(await record(other, 1, 2)).to.equal('admitted');
    before.deployment += 2;
  });

  it('let a recurring job enqueue only as many jobs as its queue has room for', async () => {
    const { id, queue, nextDueAt } = await recurring.addDue(10 * 60_000, { misfire: 'all', maxBacklog: 3 });
    await fixture.storage.enqueuer.enqueue([newJob(queue)]);
    expect((await recurring.fire(id)).jobIds).to.have.length(2);
    await fixture.setNextDue(id, nextDueAt);
    const { jobIds, skipped } = await recurring.fire(id);
    expect([jobIds.length, skipped?.reason]).to.deep.equal([0, 'backlog']);
    const [missed] = await fixture.storage.recurring.listMissed([id], 1);
    expect(missed).to.include({ recurringJobId: id, reason: 'backlog' });
    expect(await fixture.jobsOf(queue)).to.have.length(3);
  });
}
