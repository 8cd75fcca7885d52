import { inSlices, isDay, isTime, parseUuid, shorten } from '@longshore/edge';
import formats from 'ajv-formats';
import {
  Ajv2020,
  type ErrorObject,
  type FuncKeywordDefinition,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import { apiError, type Problem, ProblemList } from '../errors/api-error.js';
import { fieldPath, join, type JsonSchema, typesOf } from './json-schema.js';
import { unstorable } from './unstorable.js';

/** Checks values against one schema. */
export interface Validator {
  /**
   * Returns the problems of a body, or only the first if the body is large. Fills in defaults, and changes UUIDs to lower
   * case.
   *
   * @param at the position of the body in the request, e.g. `[3]`; empty by default
   */
  readonly check: (body: unknown, at?: string) => readonly Problem[];
  /** Returns what a value must be, such as `must be integer`; empty if the value is valid. */
  readonly explain: (value: unknown) => readonly string[];
}

const options = { useDefaults: true, strict: false, verbose: true, ownProperties: true };

/** Stops at the first problem. If an array is too long, its elements are not checked. */
const strict = withFormats(new Ajv2020(options));
const thorough = withFormats(new Ajv2020({ ...options, allErrors: true }));

/**
 * All problems of a value are reported if it has at most this many parts, including nested ones. Otherwise only the
 * first problem is reported, to save time.
 */
const maxParts = 500;

const validators = new WeakMap<JsonSchema, Validator>();

/**
 * Returns the validator of a schema. Compiles the schema on first use, so that start-up stays fast with many resources.
 */
export function validatorFor(schema: JsonSchema): Validator {
  const cached = validators.get(schema);
  if (cached !== undefined) return cached;
  let first: ValidateFunction | undefined;
  let allErrors: ValidateFunction | undefined;
  const errorsOf = (value: unknown): { errors: readonly ErrorObject[]; isWhole: boolean } => {
    first ??= strict.compile(schema);
    if (first(value)) return { errors: [], isWhole: true };
    if (!hasAtMost(maxParts, value))
      return { errors: withoutAlternatives(first.errors ?? []), isWhole: false };
    allErrors ??= thorough.compile(schema);
    return { errors: allErrors(value) ? [] : withoutAlternatives(allErrors.errors ?? []), isWhole: true };
  };
  const validator: Validator = {
    check: (body, at = '') => {
      const { errors, isWhole } = errorsOf(body);
      return [...errors.map((error) => toProblem(error, at)), ...(isWhole ? unstorable(body, at) : [])];
    },
    explain: (value) => errorsOf(value).errors.map(expectation),
  };
  validators.set(schema, validator);
  return validator;
}

// ajv-formats is a CommonJS module, so its plugin is the member `default`.
function withFormats(ajv: Ajv2020): Ajv2020 {
  formats.default(ajv).addFormat('date-time', isTime).addFormat('date', isDay);
  const compile = (format: string): FormatCheck =>
    format === 'uuid' ? normalizeUuid : matchFormat(ajv, format);
  return ajv
    .removeKeyword('format')
    .addKeyword({ keyword: 'format', type: 'string', schemaType: 'string', compile });
}

type FormatCheck = ReturnType<NonNullable<FuncKeywordDefinition['compile']>>;

/** Accepts a UUID in any case, and changes it to lower case where it stands in the body. */
const normalizeUuid: FormatCheck = (text: string, context) => {
  const uuid = parseUuid(text);
  if (uuid === undefined) normalizeUuid.errors = [{ keyword: 'format', params: { format: 'uuid' } }];
  else if (uuid !== text && context?.parentData?.[context.parentDataProperty] === text)
    context.parentData[context.parentDataProperty] = uuid;
  return uuid !== undefined;
};

function matchFormat(ajv: Ajv2020, format: string): FormatCheck {
  const definition = ajv.formats[format];
  const validate =
    typeof definition === 'object' && 'validate' in definition ? definition.validate : definition;
  const match: FormatCheck = (text: string) => {
    const matches =
      validate instanceof RegExp
        ? validate.test(text)
        : typeof validate !== 'function' || (validate as (text: string) => unknown)(text) === true;
    if (!matches) match.errors = [{ keyword: 'format', params: { format } }];
    return matches;
  };
  return match;
}

function toProblem(error: ErrorObject, at: string): Problem {
  const field = fieldPath(error.instancePath, at);
  const params: Readonly<Record<string, unknown>> = error.params;
  switch (error.keyword) {
    case 'required':
      return { code: 42201, internalMessage: `${join(field, String(params['missingProperty']))} is missing` };
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      const hint = unknownFieldHint(error.parentSchema as JsonSchema | undefined, name);
      return {
        code: 42203,
        internalMessage: `${join(field, shorten(name, 100))} is not a known field${hint}`,
      };
    }
    default:
      return { code: 42202, internalMessage: `${field === '' ? 'the body' : field} ${expectation(error)}` };
  }
}

/** Returns the hint in `x-unknown-fields` for an unknown field; empty if there is none. */
function unknownFieldHint(schema: JsonSchema | undefined, name: string): string {
  const hints = schema?.['x-unknown-fields'] ?? {};
  return Object.hasOwn(hints, name) ? `: ${hints[name]}` : '';
}

function expectation(error: ErrorObject): string {
  const params: Readonly<Record<string, unknown>> = error.params;
  const schema: unknown = error.schema;
  switch (error.keyword) {
    case 'enum':
      return `must be one of ${JSON.stringify(params['allowedValues'])}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'format':
      return formatted[String(params['format'])] ?? error.message ?? 'is invalid';
    case 'anyOf':
    case 'oneOf':
      return `must be ${Array.isArray(schema) ? schema.map(describe).join(' or ') : 'one of the alternatives'}`;
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return params['limit'] === 1 ? 'must not be empty' : `must have at least ${counted(error)}`;
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${counted(error)}`;
    case 'not':
      return `must not have ${exclusive.format((schema as { required?: readonly string[] }).required ?? [])} together`;
    case 'uniqueItems':
      return `must not contain an item twice, as at ${String(params['i'])} and ${String(params['j'])}`;
    default:
      return error.message ?? 'is invalid';
  }
}

const exclusive = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** Returns the limit that a value breaks, with its unit, such as `10 characters`. */
function counted({ keyword, params }: ErrorObject): string {
  const unit = keyword.endsWith('Length') ? 'character' : keyword.endsWith('Items') ? 'item' : 'member';
  const limit = Number(params['limit']);
  return `${limit} ${unit}${limit === 1 ? '' : 's'}`;
}

const formatted: Readonly<Record<string, string>> = {
  'date-time': 'must be a time with its zone, such as 2026-01-31T09:00:00Z',
  date: 'must be a day, such as 2026-01-31',
  uuid: 'must be a UUID',
  email: 'must be an e-mail address',
};

function describe(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  return typesOf(schema).join(' or ');
}

/** Returns whether a value contains at most `max` values, counting itself and all nested elements and members. */
function hasAtMost(max: number, value: unknown): boolean {
  const waiting = [value];
  for (let parts = 0; waiting.length > 0; parts += 1) {
    if (parts + waiting.length > max) return false;
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (Array.isArray(next) && next.length > max) return false;
    for (const member of Object.values(next) as unknown[]) waiting.push(member);
  }
  return true;
}

/**
 * Simplifies the errors of each failed `anyOf` or `oneOf`. Ajv reports the errors of every alternative, and a summary.
 * If the type of the value fits exactly one alternative, keeps only the errors of that alternative. Otherwise keeps
 * only the summary.
 */
function withoutAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const hidden = new Set<ErrorObject>();
  for (const summary of errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')) {
    const alternatives = alternativesOf(summary, errors);
    const meant = alternatives.filter((errors) => !errors.some((error) => isForOtherType(error, summary)));
    const reported = meant.length === 1 ? meant.flat() : [summary];
    for (const error of [summary, ...alternatives.flat()]) if (!reported.includes(error)) hidden.add(error);
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

/** Maximum number of items that one request can create or change. */
export const maxElements = 10_000;

/**
 * Checks that an array has 1 to 10,000 items.
 * @throws {ApiError} 42202
 */
export function requireElements(elements: readonly unknown[]): void {
  if (elements.length === 0)
    throw apiError(42202, 'the body must have at least one element: an empty array changes nothing');
  if (elements.length > maxElements)
    throw apiError(42202, `the body must have at most ${maxElements} elements, not ${elements.length}`);
}

/**
 * Checks a body and adds its problems to `problems`. Checks arrays of objects last and in time slices, so that other
 * requests are served in between. Skips these arrays if the rest of the body has problems.
 */
export async function checkBody(schema: JsonSchema, body: unknown, problems: ProblemList): Promise<void> {
  const { shape, lists } = split(schema);
  const ofShape = validatorFor(shape).check(body);
  problems.addAll(ofShape);
  if (typeof body !== 'object' || body === null || ofShape.length > 0) return;
  const members = new Map<string, unknown>(Object.entries(body));
  for (const [name, items] of lists) {
    const elements = members.get(name);
    if (!Array.isArray(elements)) continue;
    const { check } = validatorFor(items);
    await inSlices(elements as unknown[], (element, index) =>
      problems.addAll(check(element, `${join('', name)}[${index}]`)),
    );
  }
}

interface Split {
  /** The schema without the element schemas of arrays of objects. */
  readonly shape: JsonSchema;
  /** The element schemas of the arrays of objects, each with the name of the array's field. */
  readonly lists: readonly (readonly [name: string, items: JsonSchema])[];
}

const splits = new WeakMap<JsonSchema, Split>();

function split(schema: JsonSchema): Split {
  const cached = splits.get(schema);
  if (cached !== undefined) return cached;
  const lists = Object.entries(schema.properties ?? {}).flatMap(([name, { items }]) =>
    items?.properties === undefined ? [] : [[name, items] as const],
  );
  const bare = Object.fromEntries(
    lists.map(([name]) => {
      const { items: _items, ...list } = schema.properties?.[name] ?? {};
      return [name, list] as const;
    }),
  );
  const parts: Split = {
    shape: lists.length === 0 ? schema : { ...schema, properties: { ...schema.properties, ...bare } },
    lists,
  };
  splits.set(schema, parts);
  return parts;
}
