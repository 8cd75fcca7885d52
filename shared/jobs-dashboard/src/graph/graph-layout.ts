import type { DependencyGraph, GraphNode } from './dependency-graph.js';

export interface PlacedNode extends GraphNode {
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
export interface GraphDrawing {
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
    const known = columns.get(id);
    if (known !== undefined) return known;
    columns.set(id, 0); // ends the recursion if the stored dependencies form a cycle
    const column = Math.max(-1, ...(parents.get(id) ?? []).map(columnOf)) + 1;
    columns.set(id, column);
    return column;
  };
  for (const id of parents.keys()) columnOf(id);
  return columns;
}

type Place = Pick<PlacedNode, 'x' | 'y'>;

/** @param between the places that the edge passes through, from left to right */
function edgePath(from: Place | undefined, to: Place | undefined, between: readonly Place[]): string[] {
  if (from === undefined || to === undefined) return [];
  let [x, y] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2];
  let path = `M${x} ${y}`;
  for (const place of [...between, to]) {
    const end = place.y + NODE_HEIGHT / 2;
    const middle = (x + place.x) / 2;
    path += `C${middle} ${y} ${middle} ${end} ${place.x} ${end}`;
    [x, y] = [place.x + NODE_WIDTH, end];
    if (place !== to) path += `H${x}`;
  }
  return [`${path}m-6 -4l6 4l-6 4`];
}

function labelOf(name: string): string {
  const characters = Array.from(name);
  if (characters.length <= LABEL) return name;
  return `${characters.slice(0, LABEL / 2).join('')}…${characters.slice(1 - LABEL / 2).join('')}`;
}
