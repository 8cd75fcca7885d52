import { expect } from 'chai';
import { drawGraph, readGraph } from '../src/pages/dependency-graph.js';
import { openSite, textOf } from './dashboard-site.js';

describe('The dependency graph', () => {
  it('shows what a job waits for on its left, and the same as a list', async () => {
    const site = await openSite();
    try {
      const { storage, awaitingId } = site.story;
      const job = await storage.jobs.find(awaitingId);
      if (job === null) throw new Error('The job is missing');
      const graph = await readGraph(job, storage);
      expect(graph.edges).to.deep.include([job.parentId, awaitingId]);
      const { nodes } = drawGraph(graph);
      const x = (id: string | null): number => nodes.find((node) => node.id === id)?.x ?? 0;
      expect(x(job.parentId)).to.be.below(x(awaitingId));
      const { text } = await site.http.get(`/job-dashboard/jobs/${awaitingId}`);
      expect(textOf(text)).to.match(/Dependencies .* As a list .* job, after /);
    } finally {
      await site.close();
    }
  });

  for (const [steps, isCut] of [
    [3, false],
    [4, true],
  ] as const)
    it(`is ${isCut ? 'cut' : 'complete'} if ${steps} jobs wait for each other in turn`, async () => {
      const site = await openSite();
      try {
        const { storage } = site.story;
        const ids = [await storage.add({ name: 'first' })];
        for (let step = 1; step <= steps; step += 1)
          ids.push(await storage.add({ name: `step ${step}`, after: ids.at(-1) ?? '' }));
        const job = await storage.jobs.find(ids[0] ?? '');
        if (job === null) throw new Error('The job is missing');
        expect((await readGraph(job, storage)).isCut).to.equal(isCut);
      } finally {
        await site.close();
      }
    });

  const node = (id: string) => ({ id, kind: 'job', name: id, state: 'awaiting' }) as const;

  it('leads an edge to a later column around the nodes in between', () => {
    const edges = [
      ['a', 'b'],
      ['b', 'c'],
      ['a', 'c'],
    ] as const;
    const {
      nodes,
      edges: paths,
      height,
    } = drawGraph({ nodes: ['a', 'b', 'c'].map(node), edges, isCut: false });
    const [, between] = nodes;
    const [, lane = 0] = /C[\d. ]+ (\d+)H/.exec(paths[2] ?? '') ?? [];
    expect(Number(lane)).to.be.within((between?.y ?? 0) + 44, height);
  });

  it('draws a circle', () => {
    const edges = [
      ['a', 'b'],
      ['b', 'a'],
    ] as const;
    expect(drawGraph({ nodes: [node('a'), node('b')], edges, isCut: false }).nodes).to.have.length(2);
  });
});
