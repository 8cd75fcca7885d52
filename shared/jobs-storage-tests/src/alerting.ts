import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { type AlertMessage, alertRetryMs, maxAnnounced, type ObservedWarning } from '@longshore/jobs/storage';
import { type Fixture, hourMs } from './storage-under-test.js';

const warning = (key: string): ObservedWarning => ({
  key,
  text: `${key} is wrong.`,
  advice: 'Mend it.',
  link: `queues/${key}`,
});

/** Defines the tests of alerts. Each test uses its own targets. */
export function alerting(fixture: Fixture): void {
  let targets = 0;
  const newTarget = (): string => `hooks.example ${++targets}`;

  async function takeAll(target: string): Promise<AlertMessage[]> {
    return fixture.storage.alerts.take([target], 100, hourMs);
  }

  it('lets one of several processes take a turn in a period', async () => {
    const { alerts } = fixture.storage;
    const turns = await Promise.all(Array.from({ length: 5 }, () => alerts.reserveCheck(hourMs)));
    expect(turns.filter(Boolean)).to.have.length(1);
    expect(await alerts.reserveCheck(0)).to.equal(true);
  });

  it('stores a message to each target when a warning begins, however many processes observe it', async () => {
    const { alerts } = fixture.storage;
    const [one, other] = [newTarget(), newTarget()];
    await Promise.all(Array.from({ length: 4 }, () => alerts.observe([warning('begins')], [one, other])));
    const [message, ...rest] = await takeAll(one);
    expect(rest).to.deep.equal([]);
    expect(message).to.include({ target: one, attempts: 0, error: null });
    expect(message?.content).to.deep.include({ type: 'warning.began', warning: warning('begins') });
    expect((await takeAll(other)).map(({ id }) => id)).to.deep.equal([message?.id]);
    expect((await alerts.list()).map(({ key, text }) => [key, text])).to.deep.include([
      'begins',
      'begins is wrong.',
    ]);
  });

  it('announces warnings whose texts contain what storages cannot store, such as half of an emoji', async () => {
    const target = newTarget();
    const odd = { ...warning('odd'), text: 'It failed with “\ud83d…\0', advice: '😀'.repeat(2_000) };
    await fixture.storage.alerts.observe([odd], [target]);
    const [content] = (await takeAll(target)).map((message) => message.content);
    expect(content).to.nested.include({ 'warning.text': 'It failed with “\ufffd…\u2400' });
    expect((await fixture.storage.alerts.list()).map(({ text }) => text)).to.include(
      'It failed with “\ufffd…\u2400',
    );
  });

  it('announces many warnings that begin at once in one message after the most urgent ones', async () => {
    const target = newTarget();
    const many = Array.from({ length: maxAnnounced + 7 }, (_, index) => warning(`many-${index}`));
    await fixture.storage.alerts.observe(many, [target]);
    const contents = (await takeAll(target)).map(({ content }) => content);
    expect(contents).to.have.length(maxAnnounced + 1);
    expect(contents.find(({ type }) => type === 'warnings.began')).to.include({ count: 7 });
  });

  it('gives a message again if the process that has taken it does not settle it', async () => {
    const { alerts } = fixture.storage;
    const target = newTarget();
    await alerts.observe([warning('lost')], [target]);
    const [message] = await alerts.take([target], 10, 1);
    const [again] = await eventually(
      () => takeAll(target),
      (messages) => messages.length > 0,
    );
    expect(again?.id).to.equal(message?.id);
  });

  it('gives a message to one process, and records its failures until it is delivered', async () => {
    const { alerts } = fixture.storage;
    const target = newTarget();
    await alerts.observe([warning('fails')], [target]);
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
