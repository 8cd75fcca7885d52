import { isDeepStrictEqual } from 'node:util';
import { nameInProse, pluralOf, singularOf, withArticle } from '../definition/naming.js';
import type { Operation, Resource, SetOperation, StateChange } from '../definition/resource.js';
import type { StorageFunction } from '../definition/storage.js';
import type { JsonSchema } from '../validation/json-schema.js';

/** The heading of a call, in the imperative, and sentences that explain what the call does. */
interface Wording {
  readonly summary: string;
  readonly description: string;
}

/** The resource of an operation, and its place in the API. */
export interface Subject {
  readonly resource: Resource;
  /** The parent resources in the path, outermost first. */
  readonly parents: readonly Resource[];
  readonly serves: (name: StorageFunction) => boolean;
  /** Whether a POST may return an existing item. */
  readonly findsExisting: boolean;
}

/**
 * A call other than a special operation, named after the storage function that serves it. `search` is GET on
 * `/search/{keyword}`.
 */
export type Call =
  Exclude<StorageFunction, 'wait' | 'createMany' | 'operations' | 'setOperations'> | 'search';

/**
 * Returns the summary and description of a call, such as `Create an order`. The definition of the resource can replace
 * them, and append a note to the description.
 */
export function wordingOf(subject: Subject, call: Call | Operation | SetOperation): Wording {
  if (typeof call === 'object')
    return 'selectedBy' in call ? setWording(subject, call) : specialWording(subject, call);
  const declared = call === 'search' ? undefined : subject.resource.calls.get(call);
  const { summary, sentences } = standard[call](wordsOf(subject), subject);
  const { wording = { summary, description: joined(sentences) } } = declared ?? {};
  return { ...wording, description: joined([wording.description], declared?.note) };
}

function specialWording(subject: Subject, { summary, note, states }: Operation): Wording {
  const { one } = wordsOf(subject);
  return {
    summary,
    description: joined([`Returns the updated ${one}.`, states !== undefined && stateRules(states)], note),
  };
}

function setWording(subject: Subject, { summary, note, answer, selectedBy }: SetOperation): Wording {
  if (answer === undefined) {
    const { many } = wordsOf(subject);
    return {
      summary,
      description: joined([`Returns the ${many} that have the \`${selectedBy}\` in the body.`], note),
    };
  }
  const one = nameInProse(answer());
  return {
    summary,
    description: joined(
      [
        `Returns ${withArticle(one)}, with status 202 while it is under way and 200 once it has ended.`,
        'Items that do not exist, or whose state does not allow it, are not changed.',
      ],
      note,
    ),
  };
}

function stateRules({ field, from, to, unchanged }: Required<StateChange>): string {
  const changes = isDeepStrictEqual(from, to) ? '' : `, which it changes to ${orList(to)}`;
  const [otherwise, effectless] =
    unchanged.length === 0 ? ['In', ''] : ['in', `Has no effect if it is already ${orList(unchanged)}; `];
  return [
    `Allowed while \`${field}\` is ${orList(from)}${changes}.`,
    `${effectless}${otherwise} any other state, the answer is 409 (40902).`,
  ].join(' ');
}

/** Phrases that refer to a resource in sentences. The examples are for orders, at the top level or below a customer. */
interface Words {
  /** `order` */
  readonly one: string;
  /** `an order` */
  readonly an: string;
  /** `orders` */
  readonly many: string;
  /** `orders`, or, below a customer, `the orders of a customer` */
  readonly collection: string;
  /** ` of a customer`, or empty */
  readonly of: string;
  /** ` for a customer`, or empty */
  readonly whose: string;
}

interface Draft {
  readonly summary: string;
  readonly sentences: readonly (string | false)[];
}

const standard: Readonly<Record<Call, (words: Words, subject: Subject) => Draft>> = {
  list: ({ collection, many }, { resource }) => ({
    summary: `List ${collection}`,
    sentences: [`Returns one page of ${many}.`, paging(resource)],
  }),
  search: ({ collection, many }, { resource }) => ({
    summary: `Search ${collection}`,
    sentences: [
      `Returns the ${many} that match the keyword, like \`q\` on the collection.`,
      paging(resource),
    ],
  }),
  stream: ({ collection }, { resource }) => ({
    summary: `Stream ${collection}`,
    sentences: [
      resource.description,
      'Returns a stream of server-sent events (HTML Standard, § 9.2) with JSON in `data`.',
    ],
  }),
  create: ({ one, an, many, whose }, { serves, findsExisting }) => ({
    summary: `Create ${an}${whose}`,
    sentences: [
      `Creates ${an} and returns it.`,
      serves('createMany') &&
        `Send an array to create several ${many} at once: all are created, or none. They are returned in the same order.`,
      findsExisting &&
        `If a key in the body identifies an existing ${one}, returns that ${one} with status 200.`,
    ],
  }),
  replaceMany: ({ one, many, of }, { resource }) => ({
    summary: `${resource.partialBulk ? 'Update' : 'Replace'} several ${many}${of}`,
    sentences: [
      `${resource.partialBulk ? 'Updates the given fields of each listed' : 'Replaces each listed'} ${one}: all are changed, or none. They are returned in the same order.`,
      `Other ${many} are unchanged.`,
    ],
  }),
  deleteMany: ({ collection, many }) => ({
    summary: `Delete ${collection}`,
    sentences: [`Deletes the ${many} that match the filters, or all of them if there is no filter.`],
  }),
  get: ({ one, an, of }, { serves }) => ({
    summary: `Retrieve ${an}${of}`,
    sentences: [
      `Returns the ${one}, or 304 if \`If-None-Match\` names its current version.`,
      serves('wait') && `With \`wait\`, responds once the ${one} has finished.`,
    ],
  }),
  replace: ({ one, an, of }) => ({
    summary: `Replace ${an}${of}`,
    sentences: [
      `Replaces all writable fields of the ${one}. Optional fields missing from the body are removed or reset to their defaults.`,
    ],
  }),
  patch: ({ an, of }) => ({
    summary: `Update ${an}${of}`,
    sentences: [
      'Updates the fields in the body and leaves all others unchanged (JSON merge patch, RFC 7396).',
      '`null` removes an optional field.',
    ],
  }),
  delete: ({ one, an, of }) => ({ summary: `Delete ${an}${of}`, sentences: [`Deletes the ${one}.`] }),
};

function wordsOf({ resource, parents }: Subject): Words {
  const one = nounOf(resource, parents);
  const many = pluralOf(one);
  const names = parents.map((parent, index) => nounOf(parent, parents.slice(0, index)));
  const parent = names.length === 0 ? undefined : withArticle(names.join('’s '));
  return {
    one,
    an: withArticle(one),
    many,
    collection: parent === undefined ? many : `the ${many} of ${parent}`,
    of: parent === undefined ? '' : ` of ${parent}`,
    whose: parent === undefined ? '' : ` for ${parent}`,
  };
}

/** Returns the singular without the name of the parent: below a `group`, a `group-customer` is called a `customer`. */
function nounOf(resource: Resource, parents: readonly Resource[]): string {
  const noun = nameInProse(resource);
  const parent = parents.at(-1);
  const prefix = parent === undefined ? '' : `${nameInProse(parent)} `;
  return noun.startsWith(prefix) ? noun.slice(prefix.length) : noun;
}

function paging({ defaultSort, key, filters }: Resource): string {
  const terms = defaultSort.map(({ field, direction }) => (direction === 'desc' ? `-${field}` : field));
  const order = terms.join(',') || key;
  const narrowing = filters.size > 0 ? 'Use filters to narrow the list and' : 'Use';
  return `${narrowing} \`sort\` to order it (default: \`${order}\`). The \`Link\` header has the URLs of the other pages.`;
}

function joined(sentences: readonly (string | false)[], note?: string): string {
  return [...sentences, note].filter(Boolean).join(' ');
}

const disjunction = new Intl.ListFormat('en-GB', { type: 'disjunction' });

function orList(values: readonly string[]): string {
  return disjunction.format(values.map((value) => `\`${value}\``));
}

/**
 * Derives a description from the field's name for each field that has none. Adds a missing full stop to existing
 * descriptions.
 */
export function withDescriptions(
  resource: Pick<Resource, 'singular'> & Partial<Resource>,
  schema: JsonSchema,
): JsonSchema {
  return describedMembers(schema, nameInProse(resource));
}

/** Like {@link withDescriptions}, for an object that the descriptions call `owner`. */
export function describedMembers(schema: JsonSchema, owner: string): JsonSchema {
  return {
    ...schema,
    ...(schema.properties && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, property]) => [name, described(property, name, owner)]),
      ),
    }),
  };
}

function described(schema: JsonSchema, name: string, owner: string): JsonSchema {
  const words = fieldWords(name);
  return {
    ...describedMembers(schema, words),
    description: schema.description === undefined ? sentence(name, words, owner) : ended(schema.description),
    ...(schema.anyOf && { anyOf: schema.anyOf.map((one) => describedMembers(one, words)) }),
    ...(schema.items && { items: describedMembers(schema.items, singularOf(words)) }),
  };
}

/** Adds a full stop, unless the text already ends with `.`, `!` or `?`. */
export function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Verbs that a description uses without “was”: “When the attempt started”, but “When the queue was paused”. */
const activeVerbs = new Set(['ended', 'failed', 'finished', 'started']);

function sentence(name: string, words: string, owner: string): string {
  if (name === 'updatedAt') return `When the ${owner} was last updated.`;
  const event = /^([a-z]+ed)At$/.exec(name)?.[1];
  if (event !== undefined) return `When the ${owner} ${activeVerbs.has(event) ? '' : 'was '}${event}.`;
  const parent = /^(.+) ID$/.exec(words)?.[1];
  if (parent !== undefined) return `The ID of the ${parent}.`;
  return `The ${words} of the ${owner}.`;
}

/** Converts a field's name to words: `customerId` → `customer ID`. */
export function fieldWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\bid(s?)$/, 'ID$1');
}
