import type { Batch, Job, JobState } from '@longshore/jobs';
import { endOf } from '@longshore/jobs/storage';
import type { DashboardReader, ReadingContext } from '../reading/dashboard-reader.js';
import { nothing, type Region } from '../shell/page.js';

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

interface GraphNode {
  readonly id: string;
  readonly kind: 'job' | 'batch';
  readonly name: string;
  readonly state: JobState;
}

/** The dependencies around a job or batch, in both directions. */
interface DependencyGraph {
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
    if ('total' in start) this.#addBatch(start);
    else this.#addJob(start);
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
    const dependents = await this.#findDependents(ids);
    return dependents.filter((job) => this.#addJob(job)).map(({ id }) => id);
  }

  /** Finds the jobs that depend on these nodes and are not in the graph yet. */
  async #findDependents(ids: readonly string[]): Promise<Job[]> {
    if (ids.length === 0) return [];
    const dependents = await this.#reader.jobs.listDependents(ids, MAX_DEPENDENTS + 1);
    if (dependents.some((jobDependents) => jobDependents.ids.length > MAX_DEPENDENTS)) this.isCut = true;
    const dependentIds = new Set(
      dependents.flatMap((jobDependents) => jobDependents.ids.slice(0, MAX_DEPENDENTS)),
    );
    return this.#findJobs([...dependentIds].filter((id) => !this.#nodes.has(id)));
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
    const jobIds = new Set(jobs.map(({ id }) => id));
    const otherIds = ids.filter((id) => !jobIds.has(id)).slice(0, MAX_DEPENDENTS);
    for (const batch of await Promise.all(otherIds.map((id) => this.#reader.batches.find(id)))) {
      if (batch !== null) this.#addBatch(batch);
    }
    for (const id of otherIds) if (!this.#nodes.has(id)) this.#removed.add(id);
  }

  #missing(): string[] {
    const parentIds = [...this.#parents.values()].flat();
    return [...new Set(parentIds)].filter((id) => !this.#nodes.has(id) && !this.#removed.has(id));
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

interface PlacedNode extends GraphNode {
  readonly x: number;
  readonly y: number;
  /** The node's page, as a path inside the dashboard. */
  readonly path: string;
  /** The name, shortened to fit into the node. */
  readonly label: string;
  /** The names of the nodes that this node waits for. */
  readonly after: readonly string[];
}

/** The drawing of a dependency graph. Each node is to the right of the nodes that it waits for. */
interface GraphDrawing {
  readonly width: number;
  readonly height: number;
  readonly nodeWidth: number;
  readonly nodeHeight: number;
  readonly nodes: readonly PlacedNode[];
  /** The SVG paths of the edges. Each ends with an arrowhead. */
  readonly edges: readonly string[];
}

const NODE_WIDTH = 176;
const NODE_HEIGHT = 44;
const COLUMN = NODE_WIDTH + 48;
const ROW = NODE_HEIGHT + 12;
const LABEL = 22;

/**
 * Places each node in a column to the right of all nodes that it waits for. An edge across several columns runs below
 * the nodes in between. Otherwise, it would seem to begin or end at one of them.
 */
export function drawGraph({ nodes, edges }: DependencyGraph): GraphDrawing {
  const parents = new Map(
    nodes.map(({ id }) => [id, edges.filter(([, to]) => to === id).map(([from]) => from)]),
  );
  const columns = columnsOf(parents);
  const filled = new Map<number, number>();
  const placed = new Map<string, PlacedNode>();
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  for (const node of nodes) {
    const column = columns.get(node.id) ?? 0;
    const row = filled.get(column) ?? 0;
    filled.set(column, row + 1);
    placed.set(node.id, {
      ...node,
      x: 1 + column * COLUMN,
      y: 1 + row * ROW,
      path: `${node.kind === 'job' ? 'jobs' : 'batches'}/${node.id}`,
      label: labelOf(node.name),
      after: (parents.get(node.id) ?? []).map((id) => names.get(id) ?? ''),
    });
  }
  const lanes = new Map<string, number>();
  const laneOf = (from: string, column: number): number => {
    const key = `${column} ${from}`;
    const row = lanes.get(key) ?? filled.get(column) ?? 0;
    if (!lanes.has(key)) filled.set(column, row + 1);
    lanes.set(key, row);
    return row;
  };
  const paths = edges.flatMap(([from, to]) => {
    const [first, last] = [(columns.get(from) ?? 0) + 1, columns.get(to) ?? 0];
    const between = Array.from({ length: Math.max(0, last - first) }, (_each, index) => first + index);
    return edgePath(
      placed.get(from),
      placed.get(to),
      between.map((column) => ({ x: 1 + column * COLUMN, y: 1 + laneOf(from, column) * ROW })),
    );
  });
  return {
    width: Math.max(0, ...filled.keys()) * COLUMN + NODE_WIDTH + 2,
    height: (Math.max(0, ...filled.values()) - 1) * ROW + NODE_HEIGHT + 2,
    nodeWidth: NODE_WIDTH,
    nodeHeight: NODE_HEIGHT,
    nodes: [...placed.values()],
    edges: paths,
  };
}

function columnsOf(parents: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const columns = new Map<string, number>();
  const columnOf = (id: string): number => {
    const columnSoFar = columns.get(id);
    if (columnSoFar !== undefined) return columnSoFar;
    columns.set(id, 0); // ends the recursion if the stored dependencies form a cycle
    const column = Math.max(-1, ...(parents.get(id) ?? []).map(columnOf)) + 1;
    columns.set(id, column);
    return column;
  };
  for (const id of parents.keys()) columnOf(id);
  return columns;
}

type Corner = Pick<PlacedNode, 'x' | 'y'>;

/** @param between the places that the edge passes through, from left to right */
function edgePath(from: Corner | undefined, to: Corner | undefined, between: readonly Corner[]): string[] {
  if (from === undefined || to === undefined) return [];
  let [x, y] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2];
  let path = `M${x} ${y}`;
  for (const stop of [...between, to]) {
    const end = stop.y + NODE_HEIGHT / 2;
    const middle = (x + stop.x) / 2;
    path += `C${middle} ${y} ${middle} ${end} ${stop.x} ${end}`;
    [x, y] = [stop.x + NODE_WIDTH, end];
    if (stop !== to) path += `H${x}`;
  }
  return [`${path}m-6 -4l6 4l-6 4`];
}

function labelOf(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= LABEL) return name;
  return `${characters.slice(0, LABEL / 2).join('')}…${characters.slice(1 - LABEL / 2).join('')}`;
}
