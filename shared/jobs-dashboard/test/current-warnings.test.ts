import type { Incident } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { currentWarnings, isRecovering, observedWarnings, type Warning } from '../src/diagnosis/warning.js';
import { plainText, sentence } from '../src/format/sentence.js';

const nowMs = Date.UTC(2026, 2, 1, 12);
const ago = (seconds: number): Date => new Date(nowMs - seconds * 1_000);

const warning = (members: Partial<Warning> = {}): Warning => ({
  kind: 'queue-lags',
  cause: 'jobs of queue q wait',
  isMeasured: true,
  text: sentence`Queue “q” lags: its oldest job has been ready for ${{ since: ago(360) }}.`,
  advice: 'Add servers.',
  link: 'queues/q',
  ...members,
});

/** Returns the incident of a warning that was last seen `seenAgo` seconds ago. */
function incidentOf(observed: Warning, seenAgo: number, members: Partial<Incident> = {}): Incident {
  const [{ beganAt: _beganAt, ...recorded } = never()] = observedWarnings(
    [observed],
    nowMs - seenAgo * 1_000,
  );
  return {
    ...recorded,
    id: '1',
    since: ago(600),
    seenAt: ago(seenAgo),
    endedAt: null,
    ending: null,
    announced: true,
    acknowledgedAt: null,
    acknowledgedBy: null,
    acknowledgeReason: null,
    mutedUntil: null,
    mutedBy: null,
    muteReason: null,
    ...members,
  };
}

function never(): never {
  throw new Error('There is one warning');
}

describe('the current warnings', () => {
  it('have the incidents in which they are recorded', () => {
    const incident = incidentOf(warning(), 5);
    const [current] = currentWarnings([warning()], [incident], nowMs);
    expect(current).to.deep.include({ incident, recoveringSince: null, isMuted: false });
  });

  it('have lasted since their own texts say, unless they are measured', () => {
    const since = new Date(nowMs - 60_000);
    const sinceOf = (isMeasured: boolean): Date | undefined => {
      const found = warning({ isMeasured, since });
      return currentWarnings([found], [incidentOf(found, 5)], nowMs)[0]?.incident?.since;
    };
    const recorded = incidentOf(warning(), 5).since;
    expect(recorded).not.to.deep.equal(since);
    expect([sinceOf(false), sinceOf(true)]).to.deep.equal([since, recorded]);
  });

  it('have their incidents also if their keys are too long to store', () => {
    const long = warning({ subject: `servers of ${'q, '.repeat(2_000)}` });
    const incident = incidentOf(long, 5);
    expect(incident.key.length).to.be.at.most(1_000);
    const current = currentWarnings([long], [incident], nowMs);
    expect(current.map((each) => each.incident)).to.deep.equal([incident]);
  });

  it('are shown before they are recorded', () => {
    const [current] = currentWarnings([warning()], [], nowMs);
    expect(current).to.deep.include({ incident: null, recoveringSince: null });
  });

  it('recover while a measured condition is absent, with the text of when it was last seen', () => {
    const [current] = currentWarnings([], [incidentOf(warning(), 60)], nowMs);
    expect(current?.recoveringSince).to.deep.equal(ago(60));
    expect(current && plainText(current.text, nowMs)).to.equal(
      'Queue “q” lags: its oldest job has been ready for 5 min.',
    );
  });

  it('do not recover before they have been absent for longer than two checks take', () => {
    const recoveringAfter = (seconds: number) =>
      currentWarnings([], [incidentOf(warning(), seconds)], nowMs).map((each) => each.recoveringSince);
    expect(recoveringAfter(25)).to.deep.equal([null]);
    expect(recoveringAfter(26)).to.deep.equal([ago(26)]);
  });

  it('recover while what is wrong is back to normal', () => {
    const fails = warning({ isMeasured: false, isRecovering: true });
    const [current] = currentWarnings([fails], [incidentOf(fails, 5)], nowMs);
    expect(current).to.include({ isRecovering: true, recoveringSince: null });
    expect(isRecovering(incidentOf(fails, 5), nowMs)).to.equal(true);
    expect(isRecovering(incidentOf(warning({ isMeasured: false }), 5), nowMs)).to.equal(false);
  });

  it('do not recover if they are stored facts', () => {
    const fact = warning({ isMeasured: false });
    expect(currentWarnings([], [incidentOf(fact, 5)], nowMs)).to.deep.equal([]);
  });

  it('do not recover if something else is wrong with the same thing', () => {
    const silent = warning({ cause: 'server 7 is silent', subject: 'server 7', link: 'servers/7' });
    const died = warning({ cause: 'server 7 died', subject: 'server 7', link: 'servers', isMeasured: false });
    const paused = warning({ cause: 'queue q is paused', isMeasured: false });
    const causes = (found: Warning, before: Warning) =>
      currentWarnings([found], [incidentOf(before, 20)], nowMs).map(({ cause }) => cause);
    expect(causes(died, silent)).to.deep.equal(['server 7 died']);
    expect(causes(paused, warning())).to.deep.equal(['queue q is paused']);
  });

  it('keep their incident when the cause of a measured condition changes', () => {
    const busy = warning({ cause: 'jobs wait: busy', subject: 'jobs wait for the servers of q' });
    const incident = incidentOf(busy, 5);
    const [current] = currentWarnings([{ ...busy, cause: 'jobs wait: backlog' }], [incident], nowMs);
    expect(current?.incident).to.deep.equal(incident);
  });

  it('end with those that are muted', () => {
    const muted = incidentOf(warning(), 5, { mutedUntil: new Date(nowMs + 1) });
    const other = warning({ cause: 'queue r is paused', link: 'queues/r', isMeasured: false });
    const current = currentWarnings([warning(), other], [muted], nowMs);
    expect(current.map(({ cause, isMuted }) => [cause, isMuted])).to.deep.equal([
      ['queue r is paused', false],
      ['jobs of queue q wait', true],
    ]);
  });
});
