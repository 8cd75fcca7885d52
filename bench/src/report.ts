import type { StatementCost } from './database.js';
import type { Environment } from './environment.js';
import { isMet, type Ratio, type Row, type ScenarioResult } from './result.js';

export function formatEnvironment(environment: Environment): string {
  return Object.entries(environment)
    .map(([name, value]) => `${name.padEnd(18)}${value}`)
    .join('\n');
}

/**
 * Returns a scenario's title, table and ratios as text.
 *
 * @param judge whether to show the targets and whether they are met
 */
export function formatResult({ title, rows, ratios }: ScenarioResult, judge: boolean): string {
  return ['', title, ...table(rows), ...ratios.map((ratio) => formatRatio(ratio, judge))].join('\n');
}

export function formatStatement({ calls, execMs, planMs, rows, walBytes, query }: StatementCost): string {
  const figures = [
    `${(calls * (execMs + planMs)).toFixed(0)} ms`,
    `${calls} calls of ${execMs.toFixed(2)} ms and ${planMs.toFixed(2)} ms of planning`,
    `${rows} rows`,
    `${(walBytes / 2 ** 20).toFixed(1)} MiB of WAL`,
  ];
  return `  ${figures.join(', ')}: ${query.replaceAll(/\s+/g, ' ').trim().slice(0, 160)}`;
}

function table(rows: readonly Row[]): string[] {
  const columns = Object.keys(rows[0]?.figures ?? {});
  const nameWidth = Math.max(...rows.map(({ name }) => name.length)) + 2;
  const width = Math.max(12, ...columns.map((column) => column.length + 2));
  const head = ' '.repeat(nameWidth + 2) + columns.map((column) => column.padStart(width)).join('');
  return [
    head,
    ...rows.map(({ name, figures, settings }) => {
      const numbers = columns.map((column) => formatNumber(figures[column] ?? NaN).padStart(width)).join('');
      return `  ${name.padEnd(nameWidth)}${numbers}   ${settings}`.trimEnd();
    }),
  ];
}

function formatRatio(ratio: Ratio, judge: boolean): string {
  const { name, value, target } = ratio;
  const text = `  ${name} = ${value.toFixed(2)}`;
  if (target === undefined || !judge) return text;
  const bound = target.atLeast === undefined ? `at most ${target.atMost}` : `at least ${target.atLeast}`;
  return `${text} (target: ${bound}; ${isMet(ratio) ? 'met' : 'MISSED'})`;
}

function formatNumber(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2);
}
