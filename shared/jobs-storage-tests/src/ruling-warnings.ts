import { JobServer, type WarningRule } from '@longshore/jobs';
import { expect } from 'chai';
import { it } from 'mocha';
import { steadyServer } from './serving-queue.js';
import type { Fixture } from './storage-under-test.js';

/** Defines the tests of rules for warnings. Each test uses its own application. */
export function rulingWarnings(fixture: Fixture): void {
  const cards: WarningRule = {
    name: 'cards',
    about: { jobName: 'charge-card' },
    failing: 0.5,
    tell: ['billing'],
  };
  const mail: WarningRule = { name: 'mail', about: { queue: 'mail' }, slowMs: 2_000, waitingMs: 30_000 };
  const synchronize = (application: string, rules: readonly WarningRule[]) =>
    fixture.storage.warningRules.synchronize(application, rules);
  const rulesOf = async (application: string) =>
    (await fixture.storage.warningRules.list()).filter((rule) => rule.application === application);

  it('are stored by name, and match the code of their application from then on', async () => {
    await synchronize('other', [cards]);
    expect(await synchronize('shop', [mail, cards])).to.deep.equal({
      changed: ['cards', 'mail'],
      removed: [],
    });
    const [first, second] = await rulesOf('shop');
    expect(first).to.deep.equal({ application: 'shop', ...cards, updatedAt: first?.updatedAt });
    expect(second).to.deep.equal({ application: 'shop', ...mail, updatedAt: second?.updatedAt });
    expect(first?.updatedAt).to.be.a('date');

    const changed = { ...mail, waitingMs: 60_000 };
    expect(await synchronize('shop', [changed])).to.deep.equal({ changed: ['mail'], removed: ['cards'] });
    expect((await rulesOf('shop')).map(({ waitingMs }) => waitingMs)).to.deep.equal([60_000]);
    expect(await rulesOf('other')).to.have.length(1);
    for (const application of ['shop', 'other']) await synchronize(application, []);
  });

  it('keep their time if they are the same', async () => {
    await synchronize('steady', [cards, mail]);
    const before = await rulesOf('steady');
    expect(await synchronize('steady', [{ ...mail }, cards])).to.deep.equal({ changed: [], removed: [] });
    expect(await rulesOf('steady')).to.deep.equal(before);
    await synchronize('steady', []);
  });

  it('are stored when a server starts', async () => {
    const server = new JobServer({
      storage: fixture.storage,
      handlers: [],
      queues: [fixture.newQueue()],
      application: 'starting',
      warningRules: [cards],
      ...steadyServer,
    });
    await server.start();
    await server.stop();
    expect((await rulesOf('starting')).map(({ name }) => name)).to.deep.equal(['cards']);
    await synchronize('starting', []);
  });

  it('are refused if they are not valid, with what is wrong, and change nothing', async () => {
    await synchronize('bad', [cards]);
    for (const [rules, message] of [
      [[{ ...cards, failing: 1.5 }], /failing must be a share, more than 0 and up to 1, not 1\.5/],
      [[{ ...cards, slowMs: 0 }], /slowMs must be an integer from 1/],
      [[{ ...cards, about: { jobName: 'a', queue: 'b' } }], /about must be either/],
      [[{ ...cards, about: { jobName: 'not a name' } }], /not a valid name for a job/],
      [[{ name: 'none', about: { queue: 'mail' } }], /needs a threshold: failing, slowMs or waitingMs/],
      [[cards, cards], /two rules with the name "cards"/],
      [[{ ...cards, tel: ['x'] }], /no option "tel". Did you mean "tell"\?/],
    ] as const) {
      const refusal = await synchronize('bad', rules as readonly WarningRule[]).catch(String);
      expect(refusal).to.match(message);
    }
    expect(await rulesOf('bad')).to.have.length(1);
    await synchronize('bad', []);
  });
}
