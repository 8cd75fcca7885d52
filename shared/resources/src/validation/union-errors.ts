import type { ErrorObject } from 'ajv/dist/2020.js';

/**
 * Simplifies the errors of each failed `anyOf` or `oneOf`. Ajv reports the errors of every alternative, and a summary.
 * If the type of the value fits exactly one alternative, keeps only the errors of that alternative. Otherwise keeps
 * only the summary.
 */
export function withoutAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const hidden = new Set<ErrorObject>();
  for (const summary of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const alternatives = alternativesOf(summary, errors);
    const meant = alternatives.filter((errors) => !errors.some((error) => isForOtherType(error, summary)));
    const kept = meant.length === 1 ? meant.flat() : [summary];
    for (const error of [summary, ...alternatives.flat()]) if (!kept.includes(error)) hidden.add(error);
  }
  return errors.filter((error) => !hidden.has(error));
}

/** Returns the errors of each alternative of a failed `anyOf` or `oneOf`. */
function alternativesOf(summary: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[][] {
  const alternatives = new Map<string, ErrorObject[]>();
  for (const error of errors) {
    if (!isBelow(error, summary)) continue;
    const [index = ''] = error.schemaPath.slice(summary.schemaPath.length + 1).split('/');
    alternatives.set(index, [...(alternatives.get(index) ?? []), error]);
  }
  return [...alternatives.values()];
}

/** Returns whether the error shows that the alternative is for another type of value. */
function isForOtherType({ instancePath, keyword }: ErrorObject, summary: ErrorObject): boolean {
  return instancePath === summary.instancePath && ['type', 'const', 'enum'].includes(keyword);
}

/**
 * Returns whether the error comes from an alternative of the summary. Compares the paths of the values too, because a
 * schema can apply to several values, such as array elements.
 */
function isBelow({ schemaPath, instancePath }: ErrorObject, summary: ErrorObject): boolean {
  return (
    schemaPath.startsWith(`${summary.schemaPath}/`) &&
    `${instancePath}/`.startsWith(`${summary.instancePath}/`)
  );
}
