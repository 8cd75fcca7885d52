import { expect } from 'chai';
import { JobLinks } from '../src/format/job-links.js';
import { job } from './situation.js';

const linked = job({
  id: '019ca000-0000-7000-8000-000000000001',
  queue: 'mail & more',
  serverId: null,
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  startedAt: new Date('2026-03-01T12:00:00Z'),
  finishedAt: null,
});
const urlOf = (logUrl: string): string | null => new JobLinks({ logUrl }).ofJob(linked)[0]?.url ?? null;

describe('the template of a link', () => {
  it('inserts the values of a job, encoded', () => {
    expect(urlOf('https://logs.example/search?q={queue}+{jobId}&from={startedAt}&ms={startedAtMs}')).to.equal(
      `https://logs.example/search?q=mail%20%26%20more+${linked.id}&from=2026-03-01T12%3A00%3A00.000Z&ms=1772366400000`,
    );
    expect(urlOf('https://traces.example/trace/{traceId}')).to.equal(
      `https://traces.example/trace/${linked.traceId}`,
    );
  });

  it('leaves out the end of a job that has not finished, and the link if another value is unknown', () => {
    expect(urlOf('https://logs.example/?to={finishedAt}')).to.equal('https://logs.example/?to=');
    expect(urlOf('https://logs.example/?host={serverId}')).to.equal(null);
  });

  for (const [template, complaint] of [
    ['https://logs.example/{jobID}', 'logUrl contains {jobID}, which is not one of {jobId}, '],
    ['https://{queue}.example/', 'logUrl is not a URL'],
    ['javascript:alert(1)//{jobId}', 'logUrl is not a URL'],
    ['logs.example/{jobId}', 'logUrl is not a URL'],
    ['https://logs.example/{jobId', 'logUrl contains a single brace'],
  ] as const) {
    it(`refuses ${template}`, () => {
      expect(() => new JobLinks({ logUrl: template })).to.throw(TypeError, complaint);
    });
  }
});
