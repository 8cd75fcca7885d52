import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { type AlertMessage, alertRetryMs } from '@longshore/jobs/storage';
import { warningOf } from './incidents.js';
import { type Fixture, hourMs } from './storage-under-test.js';

/** Defines the tests of the delivery of alerts. Each test uses its own targets. */
export function alerting(fixture: Fixture): void {
  let targets = 0;

  /** Registers a target, and begins an incident that is announced to it. */
  async function announce(key: string): Promise<string> {
    const target = `hooks.example ${++targets}`;
    await fixture.storage.alerts.register([target]);
    await fixture.storage.incidents.observe([warningOf(key)]);
    return target;
  }

  async function takeAll(target: string): Promise<AlertMessage[]> {
    return fixture.storage.alerts.take([target], 100, hourMs);
  }

  it('gives a message again if the process that has taken it does not settle it', async () => {
    const target = await announce('lost');
    const [message] = await fixture.storage.alerts.take([target], 10, 1);
    const [again] = await eventually(
      () => takeAll(target),
      (messages) => messages.length > 0,
    );
    expect(again?.id).to.equal(message?.id);
  });

  it('gives messages to the targets that a warning names, and to all if none of them is registered', async () => {
    const [one, other] = ['billing 1', 'ops 1'];
    await fixture.storage.alerts.register([one, other]);
    const { incidents } = fixture.storage;
    await incidents.observe([warningOf('named', { tell: [one, 'gone'] })]);
    await incidents.observe([warningOf('nowhere', { tell: ['gone'] })]);
    await incidents.observe([]);
    const keysOf = async (target: string): Promise<string[]> =>
      (await takeAll(target)).flatMap(({ content }) =>
        content.type === 'warning.began' ? content.incident.key : [],
      );
    expect(await keysOf(one)).to.deep.equal(['named', 'nowhere']);
    expect(await keysOf(other)).to.deep.equal(['nowhere']);
    const incident = (await incidents.list({ limit: 1_000 })).find(({ key }) => key === 'named');
    expect(incident?.tell).to.deep.equal([one, 'gone']);
  });

  it('gives a message to one process, and records its failures until it is delivered', async () => {
    const { alerts } = fixture.storage;
    const target = await announce('fails');
    const taken = await Promise.all(Array.from({ length: 4 }, () => takeAll(target)));
    const [message] = taken.flat();
    if (message === undefined) throw new Error('No message was taken');
    expect(taken.flat()).to.have.length(1);

    const fail = () => alerts.failed(message, 'It responded with 500');
    const from = (await fixture.storage.readClock()).getTime();
    await fail();
    const until = (await fixture.storage.readClock()).getTime();
    const [failure] = await alerts.listFailures(1);
    expect(failure).to.include({ id: message.id, target, attempts: 1, error: 'It responded with 500' });
    const retryMs = alertRetryMs(1, 0) ?? 0;
    expect((failure?.nextAt?.getTime() ?? 0) - retryMs).to.be.within(from, until);

    for (let attempts = 2; attempts <= 10; attempts++) await fail(); // after ten, the next is half an hour away
    expect(await takeAll(target)).to.deep.equal([]);
    await alerts.delivered(message);
    expect((await alerts.listFailures(10)).map(({ id }) => id)).not.to.include(message.id);
  });
}
