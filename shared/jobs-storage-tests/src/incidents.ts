import { expect } from 'chai';
import { it } from 'mocha';
import { type Incident, maxAnnounced, type ObservedWarning } from '@longshore/jobs/storage';
import { type Fixture, hourMs } from './storage-under-test.js';

/** Returns a warning of a stored fact. */
export const warningOf = (key: string, own: Partial<ObservedWarning> = {}): ObservedWarning => ({
  kind: 'queue-paused',
  key,
  subject: `queue ${key}`,
  text: `${key} is wrong.`,
  advice: 'Mend it.',
  link: `queues/${key}`,
  beganAt: null,
  isMeasured: false,
  isRecovering: false,
  ...own,
});

/** Defines the tests of incidents. Each test uses its own keys; each observation ends the incidents of the tests before. */
export function incidents(fixture: Fixture): void {
  const roles = () => fixture.storage;
  const latest = async (key: string): Promise<Incident | undefined> =>
    (await roles().incidents.list({ limit: 1_000 })).find((incident) => incident.key === key);
  const idOf = async (key: string): Promise<string> => (await latest(key))?.id ?? '';

  it('let one of several processes check the warnings in a period', async () => {
    const turns = await Promise.all(Array.from({ length: 5 }, () => roles().incidents.reserveCheck(hourMs)));
    expect(turns.filter(Boolean)).to.have.length(1);
    expect(await roles().incidents.reserveCheck(0)).to.equal(true);
  });

  it('begin once, however many processes observe the warning', async () => {
    const beganAt = new Date('2026-03-01T12:00:00Z');
    await Promise.all(
      Array.from({ length: 4 }, () => roles().incidents.observe([warningOf('begins', { beganAt })])),
    );
    const all = await roles().incidents.list({ isActive: true, limit: 1_000 });
    const [incident, ...rest] = all.filter(({ key }) => key === 'begins');
    expect(rest).to.deep.equal([]);
    expect(incident).to.deep.include({
      text: 'begins is wrong.',
      since: beganAt,
      endedAt: null,
      ending: null,
    });
    expect(await roles().incidents.find(incident?.id ?? '')).to.deep.equal(incident);
  });

  it('keep the beginning of what is measured, and take the latest text', async () => {
    const { incidents: role } = roles();
    const measured = { isMeasured: true };
    await role.observe([warningOf('lasts', { ...measured, beganAt: new Date(1_000) })]);
    const before = await latest('lasts');
    await role.observe([
      warningOf('lasts', { ...measured, text: 'It got worse.', beganAt: new Date(9_000) }),
    ]);
    expect(await latest('lasts')).to.deep.include({
      id: before?.id,
      text: 'It got worse.',
      since: new Date(1_000),
    });
    // Ends it at once.
    await role.observe([warningOf('lasts no longer', { subject: 'queue lasts' })]);
  });

  it('take the latest beginning of what is a fact, if it is known', async () => {
    const { incidents: role } = roles();
    await role.observe([warningOf('corrected', { beganAt: new Date(1_000) })]);
    const id = await idOf('corrected');
    await role.observe([warningOf('corrected', { beganAt: new Date(9_000) })]);
    expect(await latest('corrected')).to.deep.include({ id, since: new Date(9_000) });
    await role.observe([warningOf('corrected')]);
    expect(await latest('corrected')).to.deep.include({ id, since: new Date(9_000) });
  });

  it('end at once if they are stored facts, and go on if these return soon', async () => {
    const { incidents: role } = roles();
    await role.observe([warningOf('paused')]);
    const id = await idOf('paused');
    await role.observe([]);
    expect(await latest('paused')).to.deep.include({ id, ending: 'resolved' });
    expect(await role.list({ isActive: true, limit: 1_000 })).to.deep.equal([]);
    await role.observe([warningOf('paused')]);
    expect(await latest('paused')).to.deep.include({ id, endedAt: null, ending: null });
  });

  it('have recovered, if their warning ends while its condition is back to normal', async () => {
    const { incidents: role } = roles();
    await role.observe([warningOf('slow')]);
    await role.observe([warningOf('slow', { isRecovering: true })]);
    expect(await latest('slow')).to.deep.include({ isRecovering: true, ending: null });
    await role.observe([]);
    expect((await latest('slow'))?.ending).to.equal('recovered');
  });

  it('begin again, and are announced again, if their warning has recovered and begins anew soon', async () => {
    const { incidents: role, alerts } = roles();
    await alerts.register(['again.example']);
    const first = new Date(1_000);
    await role.observe([warningOf('again', { beganAt: first })]);
    await role.observe([warningOf('again', { beganAt: first, isRecovering: true })]);
    await role.observe([]);
    const second = new Date(9_000);
    await role.observe([warningOf('again', { beganAt: second })]);
    const all = (await role.list({ limit: 1_000 })).filter(({ key }) => key === 'again');
    expect(all.map(({ since, ending }) => [since, ending])).to.deep.equal([
      [second, null],
      [first, 'recovered'],
    ]);
    const told = (await alerts.take(['again.example'], 100, hourMs)).flatMap(({ content }) =>
      content.type !== 'warnings.began' && content.incident.key === 'again' ? content.type : [],
    );
    expect(told.toSorted()).to.deep.equal(['warning.began', 'warning.began', 'warning.ended']);
  });

  it('do not end at once if they are measured', async () => {
    const { incidents: role } = roles();
    await role.observe([warningOf('lags', { isMeasured: true })]);
    await role.observe([]);
    expect((await latest('lags'))?.endedAt).to.equal(null);
  });

  it('are replaced by another warning about the same subject', async () => {
    const { incidents: role } = roles();
    await role.observe([warningOf('silent', { subject: 'server 1', isMeasured: true })]);
    await role.observe([warningOf('died', { subject: 'server 1' })]);
    expect((await latest('silent'))?.ending).to.equal('replaced');
    expect((await latest('died'))?.endedAt).to.equal(null);
  });

  it('store a message for each registered target when a warning begins', async () => {
    const { incidents: role, alerts } = roles();
    await alerts.register(['one.example', 'other.example']);
    await role.observe([warningOf('announced')]);
    const [message, ...rest] = (await alerts.take(['one.example'], 100, hourMs)).filter(
      ({ content }) => content.type === 'warning.began' && content.incident.key === 'announced',
    );
    expect(rest).to.deep.equal([]);
    expect(message).to.include({ target: 'one.example', attempts: 0, error: null });
    const { text, advice, link } = warningOf('announced');
    expect(message?.content).to.deep.include({
      type: 'warning.began',
      endedAt: null,
      incident: { id: await idOf('announced'), kind: 'queue-paused', key: 'announced', text, advice, link },
    });
    expect((await alerts.take(['other.example'], 100, hourMs)).map((each) => each.id)).to.include(
      message?.id,
    );
  });

  it('announce many warnings that begin at once in one message after the most urgent ones', async () => {
    const { incidents: role, alerts } = roles();
    await alerts.register(['many.example']);
    const many = Array.from({ length: maxAnnounced + 7 }, (_, index) => warningOf(`many-${index}`));
    await role.observe(many);
    const contents = (await alerts.take(['many.example'], 100, hourMs)).map(({ content }) => content);
    expect(contents).to.have.length(maxAnnounced + 1);
    expect(contents.find(({ type }) => type === 'warnings.began')).to.include({ count: 7 });
    expect((await latest('many-0'))?.announced).to.equal(true);
  });

  it('keep what storages cannot store, such as half of an emoji, in another form', async () => {
    const odd = warningOf('odd', { text: 'It failed with “\ud83d…\0', advice: '😀'.repeat(2_000) });
    await roles().incidents.observe([odd]);
    expect((await latest('odd'))?.text).to.equal('It failed with “\ufffd…\u2400');
  });

  it('are acknowledged by a person, and keep that while they last', async () => {
    const { incidents: role } = roles();
    await role.observe([warningOf('acknowledged')]);
    const id = await idOf('acknowledged');
    const before = await role.acknowledge(id, { by: 'ann', reason: 'the PSP knows' });
    expect(before?.acknowledgedAt).to.equal(null);
    await role.observe([warningOf('acknowledged')]);
    const after = await latest('acknowledged');
    expect(after).to.include({ acknowledgedBy: 'ann', acknowledgeReason: 'the PSP knows' });
    expect(after?.acknowledgedAt).to.be.a('date');
  });

  it('that are muted send no messages, also after they have ended and begun again', async () => {
    const { incidents: role, alerts } = roles();
    await role.observe([warningOf('muted', { isMeasured: true })]);
    const until = new Date((await roles().readClock()).getTime() + hourMs);
    await role.mute(await idOf('muted'), { until, by: 'ann', reason: null });
    await role.observe([warningOf('muting', { subject: 'queue muted' })]); // replaces it
    await alerts.register(['muted.example']);
    await role.observe([warningOf('muted', { isMeasured: true })]);
    expect(await latest('muted')).to.deep.include({ mutedUntil: until, mutedBy: 'ann', endedAt: null });
    const keys = (await alerts.take(['muted.example'], 100, hourMs)).map(
      ({ content }) => content.type === 'warning.began' && content.incident.key,
    );
    expect(keys).not.to.include('muted');
    await role.mute(await idOf('muted'), null);
    expect((await latest('muted'))?.mutedUntil).to.equal(null);
  });

  it('that do not exist are neither found nor changed', async () => {
    const { incidents: role } = roles();
    for (const id of ['01a22396-c5a0-7049-a34e-c7eab229156c', 'no id', ''])
      expect([
        await role.find(id),
        await role.acknowledge(id, { by: 'ann', reason: null }),
        await role.mute(id, null),
      ]).to.deep.equal([null, null, null]);
  });

  it('are listed newest first, from page to page', async () => {
    const { incidents: role } = roles();
    for (const key of ['first', 'second', 'third']) await role.observe([warningOf(key)]);
    const [newest] = await role.list({ limit: 1 });
    const next = await role.list({ limit: 2, after: newest?.id ?? '' });
    expect([newest, ...next].map((incident) => incident?.key)).to.deep.equal(['third', 'second', 'first']);
    const ended = await role.list({ isActive: false, limit: 2 });
    expect(ended.map(({ key }) => key)).to.deep.equal(['second', 'first']);
  });
}
