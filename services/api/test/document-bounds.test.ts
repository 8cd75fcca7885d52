import {
  AnswerContract,
  candidatesOf,
  type HttpResponse,
  type Operation,
  operationsOf,
  parseJson,
  resolve,
  type Schema,
  valuesFor,
} from '@longshore/test-support';
import { expect } from 'chai';
import { ExampleRequests } from './support/example-requests.js';

/** How many requests are sent at a time. */
const atOnce = 8;

interface Variant {
  readonly place: string;
  readonly value: unknown;
  readonly isAllowed: boolean;
  readonly send: () => Promise<HttpResponse>;
}

/**
 * Refusals of requests that the document allows, because a schema cannot say what the service knows: which items exist,
 * what a job's schema wants, which time zones and dates there are.
 */
const excused: readonly RegExp[] = [
  / refers to no existing item$/,
  / appears more than once$/,
  /, as in the path$/,
  /is not a valid cursor for this collection and order/,
  // The schema of a job's arguments, and what a schedule means.
  /^(\[0\]\.)?args(\.| must )/,
  /^(\[0\]\.|callback\.)?name ".*" is not a job of this application/,
  / is not a cron expression|a cron expression has 5/,
  /A schedule (needs cron|has cron or every, not both)/,
  / is not an interval: write numbers|An interval is from 1 s/,
  /anchor (must be a Date|belongs to every)|timeZone does not apply to every/,
  /unique\.states includes finished states, which requires periodMs/,
  /maxBacklog is at most/,
  / is not a time zone; use an IANA name/,
  /concurrency needs a limit, a rate or both/,
  /^The arguments are of version \d+ of the job/,
  // Any JSON that Postgres can store.
  /^data must be well-formed text without NUL$/,
  // Times that depend on when the request is sent.
  /^until must be a time in the future, at most a year ahead/,
  /^startsAfter must be within the last 31 days/,
  /^bucketMs must be a multiple of 60000 up to an hour/,
  // What is checked once a patch has been merged into the item.
  /^((rateLimit|concurrency)(\.\w+)+|unique\.key|runAt|args) is missing/,
  // A job that was retried by hand may have more, and may be sent back as it is.
  /^maxAttempts must be an integer from 1 to 1000/,
];

describe('The limits in the document', () => {
  let requests: ExampleRequests;
  let contract: AnswerContract;

  before(async () => {
    requests = await ExampleRequests.start();
    contract = new AnswerContract(requests.document);
  });
  after(() => requests.end());

  /** Sends all variants. Returns a line for each that the document allows and the service refuses, or the reverse. */
  const disagreements = async (variants: readonly Variant[]): Promise<string[]> => {
    const found: string[] = [];
    const rest = [...variants];
    const worker = async (): Promise<void> => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        const problem = await problemOf(next);
        const shown = JSON.stringify(next.value)?.slice(0, 60);
        if (problem !== null) found.push(`${next.place} = ${shown}: ${problem}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return found;
  };

  const problemOf = async ({ isAllowed, send }: Variant): Promise<string | null> => {
    try {
      const answer = await send();
      if (answer.status !== 400 && answer.status !== 422)
        return isAllowed || answer.status >= 400 ? null : `forbidden, but answered ${answer.status}`;
      const { errors = [] } = parseJson(answer.text) as { errors?: { internalMessage: string }[] };
      const messages = errors.map(({ internalMessage }) => internalMessage);
      const isExcused = messages.every((message) => excused.some((reason) => reason.test(message)));
      return !isAllowed || isExcused ? null : `allowed, but refused: ${messages.join('; ')}`;
    } catch (error) {
      return String(error).replaceAll('\n', ' ');
    }
  };

  const isSent = ({ template }: Operation): boolean =>
    !template.startsWith('/set-aside-items/') && !template.endsWith('/events') && template !== '/events';

  it('are those of the service for every field of every body', async () => {
    const variants = operationsOf(requests.document)
      .filter(isSent)
      .flatMap((operation) => {
        const schema = operation.bodies['application/json']?.schema;
        return schema === undefined || isKnown([schema]) ? [] : bodyVariants(operation, schema);
      });
    expect(variants.length).to.be.above(5_000);
    expect(await disagreements(variants)).to.deep.equal([]);
  });

  it('are those of the service for every parameter', async () => {
    const variants = operationsOf(requests.document)
      .filter(({ method, template }) => method === 'GET' && /^\/[\w-]+(\/\{\w+\})?$/.test(template))
      .filter(isSent)
      .flatMap(parameterVariants);
    expect(variants.length).to.be.above(2_000);
    expect(await disagreements(variants)).to.deep.equal([]);
  });

  const known = new Set<string>();

  /** Returns whether it has been asked about this before. */
  function isKnown(what: readonly unknown[]): boolean {
    const key = JSON.stringify(what);
    return known.has(key) || !known.add(key);
  }

  function bodyVariants(operation: Operation, schema: Schema): Variant[] {
    const { method, template } = operation;
    const [example] = requests.bodiesOf(method, template);
    const base = requests.existing(example) as object;
    const headers = requests.headersOf(method, template);
    // An operation on many items needs a selection; this one selects none.
    const query = template.includes('{') || Array.isArray(base) ? '' : selection(operation);
    const variant = (place: string, value: unknown, body: unknown): Variant => ({
      place: `${method} ${template} ${place}`,
      value,
      isAllowed: contract.allows(schema, body),
      send: () => requests.send(method, requests.pathOf(template) + query, body, headers),
    });
    const isList = Array.isArray(base);
    const [one = {}] = [base].flat();
    const whole = resolve(requests.document, schema);
    const item = resolve(requests.document, whole.oneOf?.[0] ?? (isList ? (whole.items ?? {}) : whole));
    const noun = template.split('/').findLast((part) => !part.startsWith('{'));
    const fields = candidatesOf(requests.document, item).flatMap(({ path, values }) =>
      values
        .map((value) => {
          const body = withMember(one, path, value);
          return variant(path.join('.'), value, isList ? [body] : body);
        })
        // A resource reads a field in the same way for all its methods.
        .filter(({ value, isAllowed }) => !isKnown([noun, path, value, isAllowed])),
    );
    const dueTwice = { ...one, delayMs: 1, runAt: '2040-01-01T00:00:00Z' };
    const bodies: unknown[] = [[], {}, null, [one], [one, one], 'a', 1, { ...one, unknown: 1 }];
    if (method === 'POST') bodies.push(dueTwice);
    return [...fields, ...bodies.map((body) => variant('', body, body))];
  }

  function parameterVariants(operation: Operation): Variant[] {
    const { method, template } = operation;
    return operation.parameters
      .filter((parameter) => parameter.in !== 'path' && parameter.schema.type !== 'object')
      .filter(({ name, schema, in: place }) => {
        // The toolkit reads a parameter of one name and schema in the same way for all resources.
        return !isKnown([name, place, schema, template.split('/').length]);
      })
      .flatMap((parameter) =>
        valuesFor(requests.document, parameter.schema.items ?? parameter.schema)
          .filter((value) => typeof value === 'string' || typeof value === 'number')
          .filter(
            (value) =>
              parameter.in === 'query' || /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(String(value)),
          )
          .map((value) => ({
            place: `${method} ${template} ${parameter.name}`,
            value,
            isAllowed: contract.allows(parameter.schema, read(parameter.schema, String(value))),
            send: () =>
              parameter.in === 'query'
                ? requests.send(
                    method,
                    `${requests.pathOf(template)}?${parameter.name}=${encodeURIComponent(String(value))}`,
                  )
                : requests.send(method, requests.pathOf(template), undefined, {
                    [parameter.name]: String(value),
                  }),
          })),
      );
  }
});

/** Returns a query that selects no item, for an operation on many items; empty for others. */
function selection({ method, parameters }: Operation): string {
  const filter = parameters.find(({ in: place, name }) => place === 'query' && name === 'tag');
  return method === 'PUT' && filter !== undefined ? '?tag=of-no-job' : '';
}

/** Returns the value that a text in a query or a header stands for. */
function read({ type, items }: Schema, text: string): unknown {
  if (type === 'array') return [read(items ?? {}, text)];
  const types = new Set([type].flat());
  if (types.has('integer') || types.has('number')) return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Returns a copy of an object in which a member, possibly of a nested object, has this value. */
function withMember(object: object, [name = '', ...rest]: readonly string[], value: unknown): object {
  const inner = (object as Readonly<Record<string, unknown>>)[name];
  const member = rest.length === 0 ? value : withMember(inner ?? {}, rest, value);
  return { ...object, [name]: member };
}
