import type { ErrorObject } from 'ajv/dist/2020.js';

/**
 * A failed `anyOf` also reports each alternative. The summary is enough, unless the value has the type of just one of them: then
 * that tells what is wrong with it.
 */
export function withoutAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const hidden = new Set<ErrorObject>();
  for (const summary of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const alternatives = alternativesOf(summary, errors);
    const meant = alternatives.filter((said) => !said.some((error) => isMistaken(error, summary)));
    const kept = meant.length === 1 ? meant.flat() : [summary];
    for (const error of [summary, ...alternatives.flat()]) if (!kept.includes(error)) hidden.add(error);
  }
  return errors.filter((error) => !hidden.has(error));
}

/** What each alternative of a failed `anyOf` says, as far as it says something. */
function alternativesOf(summary: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[][] {
  const alternatives = new Map<string, ErrorObject[]>();
  for (const error of errors) {
    if (!isBelow(error, summary)) continue;
    const [index = ''] = error.schemaPath.slice(summary.schemaPath.length + 1).split('/');
    alternatives.set(index, [...(alternatives.get(index) ?? []), error]);
  }
  return [...alternatives.values()];
}

/** The value as a whole is not what this alternative is for. */
function isMistaken({ instancePath, keyword }: ErrorObject, summary: ErrorObject): boolean {
  return instancePath === summary.instancePath && ['type', 'const', 'enum'].includes(keyword);
}

/** One schema may have been asked about many values, elements of an array for example. */
function isBelow({ schemaPath, instancePath }: ErrorObject, summary: ErrorObject): boolean {
  return (
    schemaPath.startsWith(`${summary.schemaPath}/`) &&
    `${instancePath}/`.startsWith(`${summary.instancePath}/`)
  );
}
