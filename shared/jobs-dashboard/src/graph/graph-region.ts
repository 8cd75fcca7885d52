import type { Batch, Job } from '@longshore/jobs';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { nothing, type Region } from '../shell/page.js';
import { readGraph } from './dependency-graph.js';
import { drawGraph } from './graph-layout.js';

/**
 * Creates the region with the dependency graph of a job or batch. Without dependencies, the region takes up no space.
 */
export function graphRegion(find: () => Promise<Job | Batch>, { reader }: ReadingContext): Region {
  return {
    name: 'graph',
    view: 'graph',
    everyMs: 5_000,
    load: async () => {
      const start = await find();
      const graph = await readGraph(start, reader);
      return graph.nodes.length < 2
        ? nothing
        : { id: start.id, isCut: graph.isCut, drawing: drawGraph(graph) };
    },
  };
}
