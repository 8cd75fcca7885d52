import { readFile } from 'node:fs/promises';

/** A numeric option in a table of docs/operations.md. */
export interface DocumentedOption {
  readonly name: string;
  /** The default value; `null` if it is not a single number. */
  readonly default: number | null;
  readonly least: number;
  readonly most: number;
}

/**
 * Returns the options in a table of docs/operations.md. Skips options without a range.
 *
 * @param before a text that occurs only once on the page, between the previous table and this one
 */
export async function documentedOptions(before: string): Promise<DocumentedOption[]> {
  const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const [, rest = ''] = page.split(before);
  const lines = rest.trimStart().split('\n').slice(1);
  const table = lines.slice(lines.findIndex((line) => line.startsWith('| ---')) + 1);
  const rows = table.slice(
    0,
    table.findIndex((line) => !line.startsWith('|')),
  );
  return rows.flatMap((row) => {
    const [name = '', , usual = '', range = ''] = row
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    const [least, most] = range.split('–').map(numberOf);
    if (least === undefined || most === undefined) return [];
    const value = numberOf(usual);
    return [{ name: name.replaceAll('`', ''), default: Number.isNaN(value) ? null : value, least, most }];
  });
}

function numberOf(text: string): number {
  return Number(text.replaceAll(/\s/g, ''));
}
