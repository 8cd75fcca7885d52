import type { JsonValue } from '@longshore/jobs';
import {
  ExactNumber,
  type ExactJson,
  isExactNumber,
  isRedacted,
  omitted,
  redact,
  redacted,
  type Shown,
} from '@longshore/jobs/storage';
import { jsonText } from '../format/json-tokens.js';
import { FieldErrors } from '../http/problem.js';
import type { Form } from '../shell/form.js';

/** A field of the form for the arguments of a job. */
export interface ArgumentField {
  /** The name in the form: `args.` and the name of the argument, or `args` for what has no field of its own. */
  readonly name: string;
  /** The argument; `null` for all arguments that have no field of their own. */
  readonly argument: string | null;
  readonly label: string;
  readonly hint: string;
  /** `secret` shows nothing and keeps the value if it is left empty; `kept` cannot be changed in a form. */
  readonly kind: 'text' | 'number' | 'choice' | 'json' | 'secret' | 'kept';
  /** The values of a choice, as JSON text. */
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  /** The current value as the form shows it; empty if there is none. */
  readonly value: string;
}

type Members = Readonly<Record<string, ExactJson | undefined>>;

/** The part of a JSON Schema that forms understand. */
interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly JsonValue[];
  readonly const?: JsonValue;
  readonly anyOf?: readonly Schema[];
  readonly title?: unknown;
  readonly description?: unknown;
  readonly default?: JsonValue;
}

/** Arguments whose text is longer are not offered for editing, because the form would exceed the limit of its size. */
const maxText = 50_000;
/** With more arguments, the form has one field for all of them. */
const maxFields = 40;

/**
 * Returns the fields for the arguments of a job: one for each property of the schema, and one with JSON for the others.
 *
 * @param schema the JSON Schema of the arguments; `null` if it is unknown
 * @param current the current arguments
 * @param pattern matches the keys of arguments whose values are not shown
 */
export function argumentFields(
  schema: object | null,
  current: ExactJson,
  pattern: RegExp,
): readonly ArgumentField[] {
  const { properties = {}, required = [] } = (schema ?? {}) as Schema;
  const names = Object.keys(properties).filter((name) => !/[\r\n]/.test(name));
  if (!isMembers(current) || names.length === 0 || names.length > maxFields)
    return [wholeField('args', 'Arguments, as JSON', current, pattern)];
  const shown = redact(current, pattern) as Readonly<Record<string, Shown | undefined>>;
  const fields = names.map((name): ArgumentField => {
    const property = properties[name] ?? {};
    const value = Object.hasOwn(current, name) ? current[name] : undefined;
    const isRequired = required.includes(name);
    const { title, description } = property;
    const common = {
      name: `args.${name}`,
      argument: name,
      label: typeof title === 'string' ? title : name,
      hint: typeof description === 'string' ? description : '',
      choices: [],
      isRequired: isRequired && value !== '',
    };
    if (isRedacted(name, pattern) || shown[name] === redacted)
      return { ...common, kind: 'secret', value: '', isRequired: isRequired && value === undefined };
    return { ...common, ...inputFor(property, value, shown[name]) };
  });
  const others = Object.entries(current).filter(([name]) => !names.includes(name));
  if (others.length === 0) return fields;
  return [...fields, wholeField('args', 'Other arguments, as JSON', Object.fromEntries(others), pattern)];
}

function wholeField(name: string, label: string, value: ExactJson, pattern: RegExp): ArgumentField {
  const common = { name, argument: null, label, hint: '', choices: [], isRequired: true };
  return { ...common, ...jsonInput(redact(value, pattern)) };
}

type Input = Pick<ArgumentField, 'kind' | 'value'> & Partial<Pick<ArgumentField, 'choices'>>;

function inputFor(schema: Schema, value: ExactJson | undefined, shown: Shown | undefined): Input {
  const choices = choicesOf(schema);
  if (choices !== null && (value === undefined || !isNested(value))) {
    const current = value === undefined ? '' : jsonText(value);
    const isKnown = current === '' || choices.includes(current);
    return { kind: 'choice', choices: isKnown ? choices : [...choices, current], value: current };
  }
  const { type } = schema;
  if (type === 'string' && (value === undefined || (typeof value === 'string' && !/[\r\n]/.test(value))))
    return value === undefined || value.length <= maxText
      ? { kind: 'text', value: value ?? '' }
      : { kind: 'kept', value: '' };
  if ((type === 'number' || type === 'integer') && (value === undefined || isNumber(value)))
    return { kind: 'number', value: value === undefined ? '' : jsonText(value) };
  return shown === undefined ? { kind: 'json', value: '' } : jsonInput(shown);
}

/** Returns the values between which the schema leaves a choice, as JSON text; `null` if there are others. */
function choicesOf({ type, enum: values, const: only, anyOf }: Schema): readonly string[] | null {
  if (type === 'boolean') return ['true', 'false'];
  if (values !== undefined) return values.map((value) => JSON.stringify(value));
  if (only !== undefined) return [JSON.stringify(only)];
  const each = anyOf?.map(({ const: value }) => value);
  return each === undefined || each.includes(undefined) ? null : each.map((value) => JSON.stringify(value));
}

function jsonInput(shown: Shown): Input {
  const text = holds(shown, omitted) ? null : jsonText(shown);
  return text === null || text.length > maxText ? { kind: 'kept', value: '' } : { kind: 'json', value: text };
}

/** Returns the arguments that a definition has by default, for the form of a new job. */
export function defaultArguments(schema: object | null): ExactJson {
  const { properties = {} } = (schema ?? {}) as Schema;
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    property.default === undefined ? [] : [[name, property.default] as const],
  );
  return Object.fromEntries(defaults);
}

/**
 * Returns the arguments that a form contains. Fields that show what they showed before keep their value exactly, and so do
 * values that are shown as “redacted”.
 *
 * @param current the arguments of which {@link argumentFields} made the fields
 * @throws {FieldErrors} with what is wrong, by the name of the field
 */
export function argumentsIn(
  form: Form,
  fields: readonly ArgumentField[],
  current: ExactJson,
  pattern: RegExp,
): JsonValue {
  const errors = new Map<string, string>();
  const given: [string, JsonValue][] = [];
  let rest: JsonValue | undefined;
  const members = isMembers(current) ? current : {};
  const own = new Set(fields.flatMap(({ argument }) => argument ?? []));
  const others = Object.fromEntries(Object.entries(members).filter(([name]) => !own.has(name)));
  for (const field of fields) {
    const { name, argument } = field;
    const before = argument !== null ? members[argument] : own.size === 0 ? current : others;
    const text = (form.get(name) ?? '').replaceAll('\r\n', '\n');
    try {
      const value =
        field.kind === 'kept' || text === field.value ? plain(before) : read(field, text, before, pattern);
      if (argument === null) rest = value;
      else if (value !== undefined) given.push([argument, value]);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      errors.set(name, error.message);
    }
  }
  if (rest !== undefined && own.size > 0 && !isObject(rest))
    errors.set('args', 'Write an object, such as {"orderId": 7}');
  if (errors.size > 0) throw new FieldErrors(errors);
  if (own.size === 0) return rest ?? {};
  return { ...Object.fromEntries(given), ...(isObject(rest) ? rest : {}) };
}

/** @throws {SyntaxError} if the text is not what the field expects; the message says what to write */
function read(
  { kind, choices }: ArgumentField,
  text: string,
  before: ExactJson | undefined,
  pattern: RegExp,
): JsonValue | undefined {
  if (text.trim() === '' && kind !== 'text') return undefined;
  if (kind === 'text' || kind === 'secret') return text === '' ? undefined : text;
  if (kind === 'choice' && !choices.includes(text)) throw new SyntaxError('Choose one of the values');
  if (kind === 'number' && !/^\s*-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?\s*$/i.test(text))
    throw new SyntaxError('Write a number, such as 7 or 1.5');
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw new SyntaxError('Write JSON, such as {"orderId": 7}, ["a", "b"], "text" with its quotes, or null');
  }
  requireExact(text, before);
  return restored(value, redact(value, pattern), plain(before));
}

/** @throws {SyntaxError} if a number that was not there before would lose digits */
function requireExact(text: string, before: ExactJson | undefined): void {
  const known = before === undefined ? '' : jsonText(before);
  for (const [literal] of text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(/-?\d[\d.]*(?:e[+-]?\d+)?/gi))
    if (!isExactNumber(literal) && !known.includes(literal))
      throw new SyntaxError(`The number ${literal} would lose digits: write it as a text, in quotes`);
}

/** Returns what a form contains, with the stored values in the places that the form shows as “redacted”. */
function restored(value: JsonValue, shown: Shown, before: JsonValue | undefined): JsonValue {
  if (shown === redacted) {
    if (value !== 'redacted') return value;
    if (before === undefined)
      throw new SyntaxError('“redacted” stands for a value that is not shown: write the value');
    return before;
  }
  if (Array.isArray(value)) {
    const [parts, old] = [shown as readonly Shown[], Array.isArray(before) ? before : []];
    return value.map((element, index) => restored(element, parts[index] ?? null, old[index]));
  }
  if (!isObject(value)) return value;
  const [parts, old] = [shown as { [key: string]: Shown }, isObject(before) ? before : {}];
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, restored(member, parts[key] ?? null, old[key])]),
  );
}

function plain(value: ExactJson | undefined): JsonValue | undefined {
  return value === undefined ? undefined : (JSON.parse(jsonText(value)) as JsonValue);
}

function isNumber(value: ExactJson): boolean {
  return typeof value === 'number' || value instanceof ExactNumber;
}

function isNested(value: ExactJson): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

function isMembers(value: ExactJson): value is { [key: string]: ExactJson } & Members {
  return isNested(value) && !Array.isArray(value);
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function holds(value: Shown, what: symbol): boolean {
  if (value === what) return true;
  if (typeof value !== 'object' || value === null) return false;
  const parts = Object.values(value) as readonly Shown[];
  return parts.some((part) => holds(part, what));
}
