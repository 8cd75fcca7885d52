import type { Batch, Job, JobState } from '@longshore/jobs';
import { endOf } from '@longshore/jobs/storage';
import type { DashboardReader } from '../reading/dashboard-reader.js';

export interface GraphNode {
  readonly id: string;
  readonly kind: 'job' | 'batch';
  readonly name: string;
  readonly state: JobState;
}

/** The dependencies around a job or batch, in both directions. */
export interface DependencyGraph {
  readonly nodes: readonly GraphNode[];
  /** Each edge leads from a parent to a job or batch that waits for it. */
  readonly edges: readonly (readonly [from: string, to: string])[];
  /** Whether jobs or batches were omitted to limit the size of the graph. */
  readonly isCut: boolean;
}

const MAX_NODES = 40;
/** Maximum distance from the start in each direction, in edges. */
const MAX_STEPS = 3;
/** Maximum number of dependents to read for each job or batch. */
const MAX_DEPENDENTS = 8;

/**
 * Reads the dependencies around a job or batch. If the starting job belongs to a batch with a callback, the graph
 * includes that batch.
 */
export async function readGraph(start: Job | Batch, reader: DashboardReader): Promise<DependencyGraph> {
  const graph = new GraphReader(reader);
  await graph.read(start);
  return graph;
}

class GraphReader implements DependencyGraph {
  readonly #reader: DashboardReader;
  readonly #nodes = new Map<string, GraphNode>();
  readonly #parents = new Map<string, readonly string[]>();
  readonly #removed = new Set<string>();
  isCut = false;

  constructor(reader: DashboardReader) {
    this.#reader = reader;
  }

  get nodes(): readonly GraphNode[] {
    return [...this.#nodes.values()];
  }

  get edges(): readonly (readonly [string, string])[] {
    return Array.from(this.#parents, ([to, parents]) =>
      parents.filter((from) => this.#nodes.has(from)).map((from) => [from, to] as const),
    ).flat();
  }

  async read(start: Job | Batch): Promise<void> {
    if ('state' in start) this.#addJob(start);
    else this.#addBatch(start);
    let below = [start.id];
    if ('batchId' in start && start.batchId !== null) {
      const batch = await this.#reader.batches.find(start.batchId);
      if (batch?.callbackId) {
        this.#addBatch(batch);
        this.#parents.set(batch.id, [start.id]);
        below.push(batch.id);
      }
    }
    for (let step = 0; step < MAX_STEPS && below.length > 0; step += 1)
      below = await this.#readDependents(below);
    if ((await this.#findDependents(below)).length > 0) this.isCut = true;
    for (let step = 0; step < MAX_STEPS; step += 1) await this.#readParents();
    this.isCut ||= this.#missing().length > 0;
  }

  /** Adds the jobs that depend on these nodes. Returns the ids of the added jobs. */
  async #readDependents(ids: readonly string[]): Promise<string[]> {
    const found = await this.#findDependents(ids);
    return found.filter((job) => this.#addJob(job)).map(({ id }) => id);
  }

  /** Finds the jobs that depend on these nodes and are not in the graph yet. */
  async #findDependents(ids: readonly string[]): Promise<Job[]> {
    if (ids.length === 0) return [];
    const dependents = await this.#reader.jobs.listDependents(ids, MAX_DEPENDENTS + 1);
    if (dependents.some((each) => each.ids.length > MAX_DEPENDENTS)) this.isCut = true;
    const all = new Set(dependents.flatMap((each) => each.ids.slice(0, MAX_DEPENDENTS)));
    return this.#findJobs([...all].filter((id) => !this.#nodes.has(id)));
  }

  async #findJobs(ids: readonly string[]): Promise<Job[]> {
    if (ids.length > MAX_NODES) this.isCut = true;
    return this.#reader.jobs.findMany(ids.slice(0, MAX_NODES));
  }

  /** Adds parents that are not in the graph yet. Remembers which ones no longer exist. */
  async #readParents(): Promise<void> {
    const ids = this.#missing().slice(0, MAX_NODES);
    if (ids.length === 0) return;
    const jobs = await this.#findJobs(ids);
    for (const job of jobs) this.#addJob(job);
    const found = new Set(jobs.map(({ id }) => id));
    const others = ids.filter((id) => !found.has(id)).slice(0, MAX_DEPENDENTS);
    for (const batch of await Promise.all(others.map((id) => this.#reader.batches.find(id)))) {
      if (batch !== null) this.#addBatch(batch);
    }
    for (const id of others) if (!this.#nodes.has(id)) this.#removed.add(id);
  }

  #missing(): string[] {
    const known = [...this.#parents.values()].flat();
    return [...new Set(known)].filter((id) => !this.#nodes.has(id) && !this.#removed.has(id));
  }

  /** Adds a job if it is new and the graph has room. Returns whether it was added. */
  #addJob({ id, name, state, parentIds }: Job): boolean {
    if (!this.#add({ id, kind: 'job', name, state })) return false;
    this.#parents.set(id, parentIds);
    return true;
  }

  #addBatch(batch: Batch): void {
    this.#add({
      id: batch.id,
      kind: 'batch',
      name: batch.name ?? 'Batch',
      state: endOf(batch) ?? 'processing',
    });
  }

  #add(node: GraphNode): boolean {
    if (this.#nodes.has(node.id)) return false;
    if (this.#nodes.size >= MAX_NODES) {
      this.isCut = true;
      return false;
    }
    this.#nodes.set(node.id, node);
    return true;
  }
}
