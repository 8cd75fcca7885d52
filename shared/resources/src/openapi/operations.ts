import { nameInProse, namesInProse } from '../definition/naming.js';
import type { Operation, Resource, SetOperation } from '../definition/resource.js';
import { eventText } from '../pipeline/handlers/event-stream.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { completedSchema } from './bounded-schema.js';
import type { LinkObject, OperationObject, ParameterObject, ResponseObject } from './document-types.js';
import { errorReference } from './error-responses.js';
import { exampleBody, exampleOf } from './example.js';
import { headerReferences, type responseHeaders } from './headers.js';
import { childLinks, itemLinks, type OperationSubject, ownedName, verbs } from './links.js';
import {
  bulkConditionParameters,
  collectionParameters,
  conditionParameters,
  filterParameters,
  idempotencyKey,
  ifNoneMatch,
  itemParameters,
  lastEventId,
  reasonParameters,
  respondAsync,
} from './parameters.js';
import { deprecatedOperation, deprecationAt } from './policies.js';
import {
  arrayOf,
  body,
  camelCase,
  listBody,
  oneOrMany,
  pageSchema,
  schemaReference,
  selectionReference,
} from './schemas.js';
import { type Call, wordingOf } from './wording.js';

interface Parts {
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: Readonly<Record<string, unknown>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly errors: readonly number[];
}

/** Returns an operation, including the errors that every operation can return. */
export function operation(
  subject: OperationSubject,
  operationId: string,
  call: Call | Operation | SetOperation,
  parts: Parts,
): OperationObject {
  const always = [403, 404, 406, 414, 421, 429, 431, 500, 503, ...(subject.secured ? [401] : [])];
  const statuses = [...new Set([...parts.errors, ...always])].toSorted((one, other) => one - other);
  const { summary, description } = wordingOf(subject, call);
  const described: OperationObject = {
    operationId,
    summary,
    description: [description, ...(call === 'list' ? reasonsAgainst(subject) : [])].join('\n\n'),
    tags: [subject.resource.name],
    ...(parts.parameters &&
      parts.parameters.length > 0 && { parameters: parts.parameters.map(omittedFromSamples) }),
    ...(parts.requestBody && { requestBody: parts.requestBody }),
    responses: {
      ...parts.responses,
      ...Object.fromEntries(statuses.map((status) => [String(status), errorReference(status)])),
    },
  };
  const deprecated = deprecationAt(subject, call);
  return deprecated === undefined ? described : deprecatedOperation(described, deprecated);
}

/**
 * Marks the example or default of an optional parameter as disabled. Code samples and trial requests then omit the
 * parameter. `x-disabled` is an extension of Scalar.
 */
function omittedFromSamples({ example, ...parameter }: ParameterObject): ParameterObject {
  if (parameter.required === true) return { ...parameter, ...(example !== undefined && { example }) };
  const value = example ?? parameter.schema.default;
  return value === undefined
    ? parameter
    : { ...parameter, examples: { example: { value, 'x-disabled': true } } };
}

type Headers = readonly (keyof typeof responseHeaders)[];

export function collectionOperations(subject: OperationSubject): Readonly<Record<string, OperationObject>> {
  const { resource, serves, owner } = subject;
  const { name, singular } = resource;
  const plural = ownedName(owner, name);
  const manyItems = arrayOf(resource, schemaReference(singular));
  return {
    ...(serves('list') && { get: listOperation(subject, `list${plural}`, false) }),
    ...(serves('stream') && { get: streamOperation(subject) }),
    ...(serves('create') && {
      post: operation(subject, `create${ownedName(owner, singular)}`, 'create', {
        parameters: [idempotencyKey],
        requestBody: createBody(subject),
        responses: {
          ...(subject.findsExisting && { '200': itemAt(subject, `The existing ${nameInProse(resource)}.`) }),
          '201': created(subject),
        },
        errors: [400, 409, 413, 415, 422],
      }),
    }),
    ...(serves('replaceMany') && {
      put: operation(
        subject,
        `${resource.partialBulk ? verbs.patch : verbs.replace}${plural}`,
        'replaceMany',
        {
          parameters: [idempotencyKey, ...bulkConditionParameters(resource)],
          requestBody: body(listBody(resource, schemaReference(`${singular} bulk`)), [
            exampleBody(
              resource.bodies.bulk,
              omitted(subject, resource.bodies.bulk).filter((field) => field !== resource.key),
            ),
          ]),
          responses: {
            '200': success(resource, manyItems, 'The changed items, in the order of the request.', [
              'IdempotentReplayed',
            ]),
          },
          errors: [400, 409, 412, 413, 415, 422, ...(resource.ifMatch === 'required' ? [428] : [])],
        },
      ),
    }),
    ...(serves('deleteMany') && {
      delete: operation(subject, `delete${plural}`, 'deleteMany', {
        parameters: [idempotencyKey, ...filterParameters(resource), ...reasonParameters(resource)],
        responses: {
          '204': {
            description: 'Deleted. `X-Total-Count` says how many.',
            headers: headerReferences('XTotalCount', 'IdempotentReplayed'),
          },
          ...(subject.deletesAfterCommit && {
            '202': {
              description: 'With `Idempotency-Key`: they are being deleted.',
              headers: headerReferences('IdempotentReplayed'),
            },
          }),
        },
        errors: [400, 409, 422],
      }),
    }),
  };
}

/** Returns the fields that the example of a change leaves out: those that the server sets, or the path if the body need not. */
function omitted(
  { resource, setByPath }: OperationSubject,
  { required = [] }: JsonSchema,
): readonly string[] {
  return [...resource.serverSet, resource.key, ...setByPath.filter((field) => !required.includes(field))];
}

/** Returns the operation for GET on a collection or, with `bySearch`, on `/search/{keyword}`. */
export function listOperation(subject: OperationSubject, id: string, bySearch: boolean): OperationObject {
  const { resource } = subject;
  const headers: Headers = ['XTotalCount', 'Link', 'PreferenceApplied', 'ETag'];
  return operation(subject, id, bySearch ? 'search' : 'list', {
    parameters: [...collectionParameters(resource, bySearch, subject.seeks), ifNoneMatch],
    responses: {
      '200': success(resource, pageSchema(resource), `One page of ${namesInProse(resource)}.`, headers),
      '304': { description: 'The caller already has this page.', headers: headerReferences(...headers) },
    },
    errors: [400],
  });
}

/** Returns a sentence for each reason in `notAllowed`, naming the methods that are not possible for that reason. */
function reasonsAgainst(subject: OperationSubject): readonly string[] {
  const callsByReason = new Map<string, string[]>();
  for (const { name, call } of refusable) {
    const reason = subject.serves(name) ? undefined : subject.reasonAgainst(name);
    if (reason !== undefined) callsByReason.set(reason, [...(callsByReason.get(reason) ?? []), call]);
  }
  return [...callsByReason].map(
    ([reason, calls]) =>
      `${conjunction.format(calls)} ${calls.length === 1 ? 'is' : 'are'} not possible: ${reason}`,
  );
}

const conjunction = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** The calls that `notAllowed` can give a reason for, with their names in the reference. */
const refusable = [
  { name: 'create', call: 'POST' },
  { name: 'replaceMany', call: 'PUT' },
  { name: 'deleteMany', call: 'DELETE' },
  { name: 'replace', call: 'PUT of an item' },
  { name: 'patch', call: 'PATCH of an item' },
  { name: 'delete', call: 'DELETE of an item' },
] as const;

export function itemOperations(subject: OperationSubject): Readonly<Record<string, OperationObject>> {
  const { resource, serves, owner } = subject;
  const { singular } = resource;
  const id = ownedName(owner, singular);
  const item = schemaReference(singular);
  const conditions = conditionParameters(resource);
  const changeErrors = [400, 409, 412, 413, 415, 422, ...(resource.ifMatch === 'required' ? [428] : [])];
  return {
    ...(serves('get') && {
      get: operation(subject, verbs.get + id, 'get', {
        parameters: itemParameters(resource, serves('wait')),
        responses: {
          '200': {
            ...success(resource, selectionReference(singular), `The ${nameInProse(resource)}.`, [
              'ETag',
              ...(serves('patch') ? (['AcceptPatch'] as const) : []),
            ]),
            ...linked(childLinks(subject, subject.isListed)),
          },
          '304': {
            description: 'The caller already has the current version.',
            headers: headerReferences('ETag'),
          },
        },
        errors: [400, 412],
      }),
    }),
    ...(serves('replace') && {
      put: operation(subject, verbs.replace + id, 'replace', {
        parameters: [idempotencyKey, ...conditions],
        requestBody: body(
          schemaReference(`${singular} replace`),
          exampleBody(resource.bodies.replace, omitted(subject, resource.bodies.replace)),
        ),
        responses: { '200': success(resource, item, 'Replaced.', ['ETag', 'IdempotentReplayed']) },
        errors: changeErrors,
      }),
    }),
    ...(serves('patch') && {
      patch: operation(subject, verbs.patch + id, 'patch', {
        parameters: [idempotencyKey, ...conditions],
        requestBody: body(
          schemaReference(`${singular} patch`),
          exampleBody(resource.bodies.patch, omitted(subject, resource.bodies.patch)),
          ['application/merge-patch+json', 'application/json'],
        ),
        responses: { '200': success(resource, item, 'Changed.', ['ETag', 'IdempotentReplayed']) },
        errors: changeErrors,
      }),
    }),
    ...(serves('delete') && {
      delete: operation(subject, verbs.delete + id, 'delete', {
        parameters: [idempotencyKey, ...reasonParameters(resource), ...conditions],
        responses: { '204': deleted },
        errors: changeErrors.filter((status) => status !== 413 && status !== 415),
      }),
    }),
  };
}

/** Returns the operation for `PUT {item}/{verb}`. */
export function specialOperation(subject: OperationSubject, special: Operation): OperationObject {
  const { resource, owner } = subject;
  const { singular } = resource;
  const { verb, body: schema, enqueues, pending } = special;
  const item = schemaReference(singular);
  const id = `${camelCase(verb)}${ownedName(owner, singular)}`;
  return operation(subject, id, special, {
    parameters: [
      ...(enqueues ? [respondAsync] : []),
      idempotencyKey,
      ...conditionParameters({ ifMatch: 'optional' }),
    ],
    ...(schema === undefined
      ? {}
      : {
          requestBody: {
            ...body(schemaReference(`${singular} ${verb}`), exampleBody(schema)),
            required: (schema.required ?? []).length > 0,
          },
        }),
    responses: {
      '200': success(resource, item, `The updated ${nameInProse(resource)}.`, ['ETag', 'IdempotentReplayed']),
      ...(pending !== undefined && {
        '202': success(resource, item, `Accepted. ${pending}.`, ['ETag', 'IdempotentReplayed']),
      }),
      ...(enqueues && {
        '202': success(resource, item, 'Accepted: a job does the rest of the work.', [
          'ETag',
          'Location',
          'PreferenceApplied',
          'IdempotentReplayed',
        ]),
      }),
    },
    errors: [400, 409, 412, 413, 415, 422],
  });
}

/** Returns the operation for `PUT {collection}/{verb}`. */
export function setOperation(subject: OperationSubject, special: SetOperation): OperationObject {
  const { resource, owner } = subject;
  const { selectedBy, answer = () => resource } = special;
  const [changed, schema] = [answer(), schemaReference(answer().singular)];
  const headers: Headers = ['Location', 'ETag', 'IdempotentReplayed'];
  const selects = selectedBy === undefined;
  return operation(subject, `${camelCase(special.verb)}Selected${ownedName(owner, resource.name)}`, special, {
    parameters: [...(selects ? [...filterParameters(resource), respondAsync] : []), idempotencyKey],
    requestBody: {
      ...body(schemaReference(`${resource.singular} set ${special.verb}`), exampleBody(special.body)),
      required: !selects,
    },
    responses: selects
      ? {
          '200': success(changed, schema, 'It has ended.', headers),
          '202': success(changed, schema, 'Accepted: it goes on in the background.', [
            ...headers,
            'PreferenceApplied',
          ]),
        }
      : { '200': success(resource, arrayOf(resource, schema), 'The changed items.', ['IdempotentReplayed']) },
    errors: [400, 409, 413, 415, 422, ...(selects ? [] : [404])],
  });
}

function success(
  resource: Resource,
  schema: JsonSchema,
  description: string,
  headers: Headers,
): ResponseObject {
  const example = exampleOf(completedSchema(resource.item));
  return {
    description,
    headers: headerReferences(...headers),
    content: { 'application/json': { schema, example: schema.type === 'array' ? [example] : example } },
  };
}

const deleted: ResponseObject = { description: 'Deleted.', headers: headerReferences('IdempotentReplayed') };

const ofCreated: Headers = ['Location', 'ETag', 'IdempotentReplayed'];

function itemAt(subject: OperationSubject, description: string): ResponseObject {
  const { resource, created } = subject;
  return {
    ...success(resource, schemaReference(resource.singular), description, ofCreated),
    ...linked(created === undefined ? {} : itemLinks(created)),
  };
}

/**
 * Describes the response to a POST: one item or, for an array of new items, an array. The examples of the response have
 * the same names as the examples of the body.
 */
function created(subject: OperationSubject): ResponseObject {
  const { resource, serves } = subject;
  const one = itemAt(subject, 'Created.');
  if (!serves('createMany')) return one;
  const example = exampleOf(completedSchema(resource.item));
  return {
    ...one,
    description: 'Created: one item for an object, or an array in the order of the request for an array.',
    content: oneOrMany(resource, schemaReference(`${resource.singular} one or many`), example),
  };
}

function createBody(subject: OperationSubject): Readonly<Record<string, unknown>> {
  const { resource, serves, createSchema, setByPath } = subject;
  const schema = schemaReference(createSchema);
  const example = exampleBody(resource.bodies.create, setByPath);
  if (!serves('createMany')) return body(schema, example);
  const oneOrManyNew = schemaReference(`${createSchema} one or many`);
  return { ...body(schema, example), content: oneOrMany(resource, oneOrManyNew, example) };
}

function linked(links: Readonly<Record<string, LinkObject>>): Pick<ResponseObject, 'links'> {
  return Object.keys(links).length === 0 ? {} : { links };
}

/** Returns the operation for GET on a collection that streams events. */
export function streamOperation(subject: OperationSubject): OperationObject {
  const { resource, owner } = subject;
  const example = eventText({ id: '1', data: exampleOf(completedSchema(resource.item)) });
  return operation(subject, `stream${ownedName(owner, resource.name)}`, 'stream', {
    parameters: [...filterParameters(resource), lastEventId(resource)],
    responses: {
      '200': {
        description: 'A stream of events.',
        headers: headerReferences(),
        content: {
          'text/event-stream': {
            schema: {
              description: 'Events, as in the HTML Standard.',
              type: 'string',
              minLength: 0,
              pattern: String.raw`^[\s\S]*$`,
            },
            example,
          },
        },
      },
      '204': { description: 'The stream has ended; do not reconnect.', headers: headerReferences() },
    },
    errors: [400],
  });
}
