import type { Paint } from '@longshore/service/log-line';

export interface Addresses {
  readonly api: string;
  readonly dashboard: string;
  /** Absent if the API runs the jobs itself. */
  readonly worker?: string | undefined;
  /** Absent if jobs are kept in memory. */
  readonly database?: string | undefined;
}

/** Returns the message to show when everything is ready: the addresses to open and a first command to try. */
export function welcome({ api, dashboard, worker, database }: Addresses, paint: Paint): string {
  const rows: readonly (readonly [string, string])[] = [
    ['API', `${api}/api/v1/jobs`],
    ['Dashboard', dashboard],
    ['Worker', worker === undefined ? 'in the process of the API' : `${worker}/readyz`],
    ['Postgres', database ?? 'none: jobs are kept in memory'],
  ];
  return [
    '',
    `  ${paint('bold', 'Longshore is up.')} Ctrl-C stops it.`,
    '',
    ...rows.map(([name, value]) => `    ${name.padEnd(11)}${paint('cyan', value)}`),
    '',
    '  Your first job:',
    `    ${paint('bold', `curl -X POST ${api}/test`)}`,
    '',
  ].join('\n');
}
