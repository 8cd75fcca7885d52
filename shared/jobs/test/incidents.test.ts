import {
  advanceIncidents,
  alertRetryMs,
  type Incident,
  incidentEndsAfterMs,
  incidentsKeptMs,
  type ObservedWarning,
} from '@longshore/jobs/storage';
import { expect } from 'chai';
import { MemoryStorage } from '../src/index.js';

const now = new Date('2026-03-01T12:00:00Z');
const measured: ObservedWarning = {
  kind: 'queue-lags',
  key: 'k',
  subject: 'k',
  text: 'It is wrong.',
  advice: 'Mend it.',
  link: '',
  beganAt: null,
  isMeasured: true,
  isRecovering: false,
};
const fact = { ...measured, isMeasured: false };

function incident(unseenMs: number, own: Partial<Incident> = {}): Incident {
  const { beganAt: _beganAt, ...warning } = measured;
  return {
    ...warning,
    id: '1',
    since: new Date(0),
    seenAt: new Date(now.getTime() - unseenMs),
    endedAt: null,
    ending: null,
    announced: true,
    acknowledgedAt: null,
    acknowledgedBy: null,
    acknowledgeReason: null,
    mutedUntil: null,
    mutedBy: null,
    muteReason: null,
    ...own,
  };
}

const advance = (stored: Incident[], observed: ObservedWarning[] = []) =>
  advanceIncidents(stored, observed, now, () => '2');
const types = (stored: Incident[], observed: ObservedWarning[] = []) =>
  advance(stored, observed).messages.map(({ content }) => content.type);

describe('changes of incidents', () => {
  it('end a measured condition that has not been seen for two minutes, when it was last seen', () => {
    expect(advance([incident(incidentEndsAfterMs - 1)]).changed).to.deep.equal([]);
    const last = incident(incidentEndsAfterMs);
    expect(advance([last]).changed).to.deep.equal([{ ...last, endedAt: last.seenAt, ending: 'recovered' }]);
    expect(types([last])).to.deep.equal(['warning.ended']);
  });

  it('announce nothing of a measured condition that comes back in time', () => {
    expect(types([incident(incidentEndsAfterMs - 1)], [measured])).to.deep.equal([]);
  });

  it('announce the end of a stored fact after two minutes, and not at all if it comes back', () => {
    const { changed, messages } = advance([incident(10_000, { isMeasured: false })]);
    expect(messages.map(({ dueAt }) => dueAt.getTime() - now.getTime())).to.deep.equal([incidentEndsAfterMs]);
    const again = advance([...changed], [fact]);
    expect(again.reopened).to.deep.equal(['1']);
    expect(again.messages).to.deep.equal([]);
  });

  it('begin a new incident if a condition comes back later', () => {
    const endedAt = new Date(now.getTime() - incidentEndsAfterMs);
    const { changed } = advance([incident(0, { endedAt, ending: 'resolved' })], [fact]);
    expect(changed.map(({ id, since }) => [id, since])).to.deep.equal([['2', now]]);
  });

  it('do not announce the end of an incident whose beginning was not announced by itself', () => {
    const { changed, messages } = advance([incident(incidentEndsAfterMs, { announced: false })]);
    expect([changed.length, messages.length]).to.deep.equal([1, 0]);
  });

  it('announce nothing of a warning that is muted', () => {
    const mutedUntil = new Date(now.getTime() + 1);
    expect(types([incident(incidentEndsAfterMs, { mutedUntil })])).to.deep.equal([]);
    const endedAt = new Date(now.getTime() - incidentEndsAfterMs);
    const ended = incident(0, { mutedUntil, endedAt, ending: 'recovered' });
    expect(types([ended], [measured])).to.deep.equal([]);
    expect(types([{ ...ended, mutedUntil: now }], [measured])).to.deep.equal(['warning.began']);
  });

  it('end a stored fact as resolved, although another warning about the same thing lasts', () => {
    const stored = incident(10_000, { isMeasured: false, link: 'queues/q' });
    const { changed } = advance([stored], [{ ...measured, key: 'other', link: 'queues/q' }]);
    expect(changed.at(-1)).to.include({ id: '1', endedAt: now, ending: 'resolved' });
  });

  it('begin at the latest when they are observed, although the clock was set back', () => {
    const later = new Date(now.getTime() + 3_600_000);
    const sinceOf = ({ changed }: ReturnType<typeof advance>) => changed.map(({ since }) => since);
    expect(sinceOf(advance([], [{ ...measured, beganAt: later }]))).to.deep.equal([now]);
    expect(sinceOf(advance([incident(0, { since: later })], [measured]))).to.deep.equal([now]);
    expect(sinceOf(advance([incident(0, { since: later, isMeasured: false })]))).to.deep.equal([now]);
  });

  it('end two minutes after the clock was set back', () => {
    const { changed, messages } = advance([incident(-3_600_000)]);
    expect(changed).to.deep.equal([incident(0)]);
    expect(messages).to.deep.equal([]);
  });

  it('do not go on with an incident that ended in the future', () => {
    const endedAt = new Date(now.getTime() + 3_600_000);
    const { changed } = advance([incident(0, { endedAt, ending: 'resolved' })], [fact]);
    expect(changed.map(({ id }) => id)).to.deep.equal(['2']);
  });

  it('use the first of several warnings with one key', () => {
    const { changed } = advance([], [measured, { ...measured, text: 'Another.' }]);
    expect(changed.map(({ text }) => text)).to.deep.equal(['It is wrong.']);
  });
});

describe('alerts', () => {
  it('are retried at growing intervals, and given up after a day', () => {
    expect([1, 2, 3, 10].map((attempts) => alertRetryMs(attempts, 0))).to.deep.equal([
      5_000, 20_000, 80_000, 1_800_000,
    ]);
    expect(alertRetryMs(50, 86_400_000)).to.equal(null);
  });

  it('in memory are delivered before retries, which those to a dead webhook would otherwise make late', async () => {
    let nowMs = now.getTime();
    const { alerts, incidents } = new MemoryStorage({ clock: { now: () => nowMs } });
    await alerts.register(['dead']);
    await incidents.observe([measured]);
    const [first] = await alerts.take(['dead'], 1, 1_000);
    if (first === undefined) throw new Error('No message was taken');
    await alerts.failed(first, 'No answer');
    nowMs += 10_000;
    await alerts.register(['alive']);
    await incidents.observe([measured, { ...measured, key: 'new', subject: 'new' }]);
    const keys: unknown[] = [];
    for (let turn = 0; turn < 3; turn++)
      for (const { content } of await alerts.take(['alive', 'dead'], 1, 1_000))
        keys.push(content.type === 'warning.began' && content.incident.key);
    expect(keys).to.deep.equal(['new', 'new', 'k']);
  });
});

describe('incidents in memory', () => {
  it('are muted and unmuted with all incidents of their warning', async () => {
    let nowMs = now.getTime();
    const { incidents } = new MemoryStorage({ clock: { now: () => nowMs } });
    await incidents.observe([fact]);
    await incidents.observe([]);
    nowMs += incidentEndsAfterMs;
    await incidents.observe([fact]);
    const [latest, earlier] = await incidents.list({ limit: 10 });
    const ends = async () => (await incidents.list({ limit: 10 })).map(({ mutedUntil }) => mutedUntil);
    const until = new Date(nowMs + 3_600_000);
    await incidents.mute(earlier?.id ?? '', { until });
    expect(await ends()).to.deep.equal([until, until]);
    await incidents.mute(latest?.id ?? '', null);
    expect(await ends()).to.deep.equal([null, null]);
  });

  it('are checked again after the clock was set back', async () => {
    let nowMs = now.getTime();
    const { incidents } = new MemoryStorage({ clock: { now: () => nowMs } });
    expect(await incidents.reserveCheck(10_000)).to.equal(true);
    nowMs -= 3_600_000;
    expect(await incidents.reserveCheck(10_000)).to.equal(true);
    expect(await incidents.reserveCheck(10_000)).to.equal(false);
  });

  it('are kept for thirty days after their end', async () => {
    let nowMs = now.getTime();
    const { incidents } = new MemoryStorage({ clock: { now: () => nowMs } });
    await incidents.observe([fact]);
    await incidents.observe([]);
    nowMs += incidentsKeptMs;
    await incidents.observe([]);
    expect(await incidents.list({ limit: 10 })).to.have.length(1);
    nowMs += 1;
    await incidents.observe([]);
    expect(await incidents.list({ limit: 10 })).to.deep.equal([]);
  });
});
