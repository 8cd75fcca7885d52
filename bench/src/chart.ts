import type { Environment } from './environment.js';
import type { Row, ScenarioResult } from './result.js';

export type NamedResult = ScenarioResult & { readonly scenario: string };

const width = 760;
const margin = 24;
const labelWidth = 240;
const valueWidth = 90;
const barHeight = 16;
const rowHeight = 24;
const headHeight = 44;

const style = `
  :root { color-scheme: light dark; --paper: #fff; --ink: #1c2330; --soft: #667085; --bar: #c3cad6; --own: #2f6fed }
  @media (prefers-color-scheme: dark) {
    :root { --paper: #12161d; --ink: #e6eaf1; --soft: #98a2b3; --bar: #3a4454; --own: #6d9dff }
  }
  rect.paper { fill: var(--paper) } rect { fill: var(--bar) } rect.own { fill: var(--own) }
  text { fill: var(--ink); font: 13px system-ui, sans-serif } text.soft { fill: var(--soft); font-size: 12px }
  text.head { font-weight: 600; font-size: 14px } text.value { font-variant-numeric: tabular-nums }`;

/**
 * Returns an SVG document for light and dark pages, with one panel per scenario. Omits scenarios without rows. Each row
 * has a bar for its first figure.
 */
export function drawResults(
  results: readonly NamedResult[],
  { date = '', machine = '' }: Environment,
): string {
  let top = margin;
  const panels: string[] = [];
  for (const { title, rows } of results) {
    if (rows.length === 0) continue;
    panels.push(panel(title, rows, top));
    top += headHeight + rows.length * rowHeight + margin;
  }
  const height = top + margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Results of the benchmarks">
<style>${style}
</style>
<rect class="paper" width="${width}" height="${height}" rx="8"/>
${panels.join('\n')}
<text class="soft" x="${margin}" y="${height - margin / 2}">${escaped(`${date.slice(0, 10)} · ${machine}`)}</text>
</svg>
`;
}

function panel(title: string, rows: readonly Row[], top: number): string {
  const [unit = ''] = Object.keys(rows[0]?.figures ?? {});
  const values = rows.map(({ figures }) => figures[unit] ?? NaN);
  const max = Math.max(...values.filter((value) => !Number.isNaN(value)), Number.MIN_VALUE);
  const space = width - 2 * margin - labelWidth - valueWidth;
  const bars = rows.map(({ name }, index) => {
    const value = values[index] ?? NaN;
    const y = top + headHeight + index * rowHeight;
    const length = Number.isNaN(value) ? 0 : Math.max(1, (value / max) * space);
    const own = name.startsWith('longshore') || index === 0 ? ' class="own"' : '';
    const x = margin + labelWidth;
    return `<text x="${margin}" y="${y + 12}">${escaped(name)}</text><rect${own} x="${x}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="3"/><text class="value" x="${(x + length + 8).toFixed(1)}" y="${y + 12}">${format(value)}</text>`;
  });
  const head = `<text class="head" x="${margin}" y="${top + 14}">${escaped(title)}</text><text class="soft" x="${margin}" y="${top + 32}">${escaped(unit)}</text>`;
  return [head, ...bars].join('\n');
}

function format(value: number): string {
  if (Number.isNaN(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
