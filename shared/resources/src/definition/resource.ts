import type { Static, TObject, TSchema } from 'typebox';
import type { DeletionReason, QueryRules } from '../query/collection-query.js';
import type { JsonSchema } from '../validation/json-schema.js';
import type { BodySchemas } from './body-schemas.js';
import type { Platform } from './context.js';
import type { Deprecation, DeprecationDeclaration } from './deprecation.js';
import type { FieldPath, FilterDeclaration } from './filter-declaration.js';
import type { AnyStorage, ResourceStorage, StorageFunction } from './storage.js';

/** The field names of an item's schema. */
export type FieldOf<Item extends TObject> = keyof Static<Item> & string;

/** The fields that clients may write: all except the server-set fields. */
export type WritableOf<Item extends TObject, ServerSet extends string> = Omit<Static<Item>, ServerSet>;

/** The type of a POST body: the type of the create schema or, without one, an item with all writable fields. */
export type CreateOf<Item extends TObject, ServerSet extends string, Create> = Create extends TSchema
  ? Static<Create>
  : WritableOf<Item, ServerSet>;

/** Options for a standard call: wording for the reference, and a deprecation. */
export interface CallDeclaration {
  /**
   * Replaces the standard heading and description of a call. Needed if the call does something other than its name
   * suggests, such as `Add a customer to a group`.
   */
  readonly wording?: { readonly summary: string; readonly description: string };
  /** Sentences that the reference appends to the call's description. */
  readonly note?: string | undefined;
  readonly deprecated?: DeprecationDeclaration;
}

/** A special operation. Clients call it with `PUT {item}/{verb}`. */
export interface OperationDeclaration {
  /** A short sentence for the reference, in the imperative and without a full stop: `Refund an order`. */
  readonly summary: string;
  /** Sentences that the reference appends to the description of the operation. */
  readonly note?: string;
  /**
   * The schema of the body; an empty body counts as `{}`. By default, the operation accepts only an empty body or `{}`.
   */
  readonly body?: TSchema;
  /**
   * The state change that the operation makes. Table storage enforces it; a storage function must enforce it itself.
   */
  readonly states?: StateChange;
  /**
   * Whether the operation enqueues a job. A request with `Prefer: respond-async` then gets a 202 with the job's
   * location.
   */
  readonly enqueues?: boolean;
  /**
   * What is still to come if the operation has only been requested, as a sentence without a full stop: the description of
   * the 202 with which the function's `Outcome` is then answered.
   */
  readonly pending?: string;
  readonly deprecated?: DeprecationDeclaration;
}

/**
 * An operation on the items of a collection that a request selects: by the filters of the list or by `ids` in the body,
 * unless `selectedBy` is declared. Clients call it with `PUT {collection}/{verb}`. Only collections whose keys are UUIDs
 * can have one, so that no verb can be the key of an item.
 */
export type SetOperationDeclaration = {
  readonly summary: string;
  readonly note?: string | undefined;
  /** The schema of the body, apart from `ids`. */
  readonly body?: TObject;
} & (
  | {
      /** The top-level resource whose items describe the operation's progress, and are the answer. */
      readonly answer: () => Resource;
      readonly selectedBy?: undefined;
    }
  | {
      /**
       * A filter of the list, and the only one: a field of the body, of the same name, has its value. The operation ends
       * with the call, and its answer is the list of the changed items.
       */
      readonly selectedBy: string;
      readonly answer?: undefined;
    }
);

/**
 * The states from which an operation is allowed, and the states that it leads to. In the states in `unchanged`, the
 * operation has no effect. In any other state, it is rejected (40902).
 */
export interface StateChange {
  readonly field: string;
  readonly from: readonly [string, ...string[]];
  /** The possible new states. Table storage sets the first, unless the operation's code returns another. */
  readonly to: readonly [string, ...string[]];
  /** The states in which the operation returns the item unchanged; default: the states in `to`. */
  readonly unchanged?: readonly string[];
}

export type OperationDeclarations = Readonly<Record<string, OperationDeclaration>>;

export type OperationBodies<Operations extends OperationDeclarations> = {
  readonly [Verb in keyof Operations]: Operations[Verb] extends { readonly body: infer Body extends TSchema }
    ? Static<Body>
    : Readonly<Record<string, never>>;
};

/**
 * The reasons why a resource does not support certain calls, by storage function. Each reason is a sentence, shown in
 * the reference and in the 405 response, e.g. `{ deleteMany: 'Servers disappear when they stop.' }`.
 */
export type NotAllowed = {
  readonly [Name in 'create' | 'replaceMany' | 'deleteMany' | 'replace' | 'patch' | 'delete']?: string;
};

/** Returns the `notAllowed` of a read-only resource: the same reason for every call that changes items. */
export function readOnly(reason: string): NotAllowed {
  return {
    create: reason,
    replaceMany: reason,
    deleteMany: reason,
    replace: reason,
    patch: reason,
    delete: reason,
  };
}

/** A child collection, `/{name}/{id}/{child}`. */
export interface ChildDeclaration {
  readonly resource: Resource;
  /**
   * The field of the child that holds the key of the parent. If omitted, the storage must use `context.parents` to find
   * the children.
   */
  readonly by?: string;
  /** The storage functions that are served below this parent; default: all functions of the child's storage. */
  readonly serves?: readonly StorageFunction[];
  /** The reasons why calls are not served below this parent. They replace the reasons of the child resource. */
  readonly notAllowed?: NotAllowed;
}

/** The public interface of a resource: its fields, queries and operations, regardless of where its items are stored. */
export interface ResourceDescription<
  Item extends TObject,
  ServerSet extends FieldOf<Item>,
  Create extends TSchema | undefined,
  Operations extends OperationDeclarations,
> {
  /** A plural noun in lower case, with dashes between words: the path segment of the collection. */
  readonly name: string;
  /** The singular of `name`; by default, derived from `name` by the rules of English. */
  readonly singular?: string;
  /** The singular as it is written in sentences; by default, derived from `singular`: `line-item` → `line item`. */
  readonly noun?: string;
  /** One or two sentences about the resource, for the API reference. */
  readonly description?: string;
  /** Wording, notes and deprecations of calls, by the storage function that serves the call. */
  readonly calls?: Readonly<Partial<Record<StorageFunction, CallDeclaration>>>;
  /** The deprecation of all calls of this resource and of the resources below it. */
  readonly deprecated?: DeprecationDeclaration;
  readonly item: Item;
  /** The field that identifies an item in paths; default `id`. */
  readonly key?: NoInfer<FieldOf<Item>>;
  /** Fields that only the server writes. */
  readonly serverSet?: readonly ServerSet[];
  /**
   * Server-set fields that appear only in the response to a POST, such as a secret. They are not part of the ETag, and
   * not stored in the idempotency record.
   */
  readonly shownOnce?: readonly ServerSet[];
  /** The body of a POST; default: the item without the server-set fields. */
  readonly create?: Create;
  /** The fields that each element of a bulk PUT may change. By default, each element replaces a whole item. */
  readonly bulk?: readonly NoInfer<Exclude<FieldOf<Item>, ServerSet>>[];
  readonly filters?: Readonly<Record<string, FilterDeclaration<NoInfer<FieldOf<Item>>>>>;
  /**
   * Fields that `sort` accepts; default: every field with a single value. A path such as `price.amount` is a member of a
   * field that is an object; tables cannot sort by these.
   */
  readonly sort?: readonly NoInfer<FieldPath<FieldOf<Item>>>[];
  /**
   * Sort terms for requests without `sort`, e.g. `['-createdAt']`. The key is appended if it is not among them.
   * Default: by key.
   */
  readonly defaultSort?: readonly NoInfer<FieldOf<Item> | `-${FieldOf<Item>}`>[];
  /**
   * Fields that `q` and `/search/{keyword}` search for items that contain every word, in any case and despite typos. The
   * best match comes first, unless the request has `sort`. Default: every field that holds text or an array of text. `[]`
   * disables search.
   */
  readonly search?: readonly NoInfer<FieldOf<Item>>[];
  /** The largest allowed `limit`, `max`; 1000 by default. Requests without `limit` get 20 items, of every resource. */
  readonly limits?: { readonly max?: number };
  /**
   * Whether a DELETE takes the query parameter `reason`. The storage receives it as `context.reason`. With `required`,
   * a DELETE without a reason is rejected with 400. Default: `reason` is not accepted.
   */
  readonly deletionReason?: DeletionReason;
  /** The regular expression of the ids of events, for a resource that is a stream; by default, any text. */
  readonly eventIds?: string;
  /**
   * Whether changes need an `If-Match` header; default `optional`. With `required`, a PUT, PATCH or DELETE of an item,
   * or a bulk PUT, is rejected with 428 if the header is missing. Special operations do not need the header.
   */
  readonly ifMatch?: 'optional' | 'required';
  readonly operations?: Operations;
  readonly setOperations?: Readonly<Record<string, SetOperationDeclaration>>;
  readonly children?: readonly ChildDeclaration[];
  readonly notAllowed?: NotAllowed;
}

/** A resource description together with its storage functions. */
export interface ResourceDefinition<
  Item extends TObject,
  ServerSet extends FieldOf<Item>,
  Create extends TSchema | undefined,
  Operations extends OperationDeclarations,
> extends ResourceDescription<Item, ServerSet, Create, Operations> {
  readonly storage: ResourceStorage<
    Static<Item>,
    CreateOf<Item, ServerSet, Create>,
    WritableOf<Item, ServerSet>,
    OperationBodies<Operations>
  >;
}

/**
 * Builds the storage of a resource from its definition when the API starts. `tableStorage` returns such a factory.
 * @typeParam Item the resource's item
 * @typeParam Bodies the bodies of the resource's operations, by verb
 */
export interface StorageFactory<Item, Bodies> {
  /** The verbs of the operations that the storage has code for. */
  readonly operations: readonly string[];
  /**
   * Whether the storage makes declared state changes itself. If so, an operation that only changes the state needs no
   * code.
   */
  readonly changesStates: boolean;
  /** @throws {DefinitionError} if the platform lacks something that the storage needs */
  create(resource: Resource, platform: Platform | undefined): AnyStorage;
  /** Never called. Carries the type parameters. */
  readonly types?: (item: Item, bodies: Bodies) => void;
}

export interface Operation {
  readonly verb: string;
  readonly summary: string;
  readonly note: string | undefined;
  readonly body: JsonSchema | undefined;
  readonly states: Required<StateChange> | undefined;
  readonly enqueues: boolean;
  readonly pending: string | undefined;
  readonly deprecated: Deprecation | undefined;
}

export interface SetOperation {
  readonly verb: string;
  readonly summary: string;
  readonly note: string | undefined;
  readonly body: JsonSchema;
  /** Undefined if the answer is the list of the changed items. */
  readonly answer: (() => Resource) | undefined;
  readonly selectedBy: string | undefined;
}

export interface Call {
  readonly wording: { readonly summary: string; readonly description: string } | undefined;
  readonly note: string | undefined;
  readonly deprecated: Deprecation | undefined;
}

export interface Child {
  readonly resource: Resource;
  readonly by: string | undefined;
  readonly serves: ReadonlySet<StorageFunction> | undefined;
  readonly notAllowed: ReadonlyMap<StorageFunction, string>;
}

/** A validated resource definition, ready to be served. */
export interface Resource extends QueryRules {
  readonly name: string;
  readonly singular: string;
  readonly noun: string | undefined;
  readonly description: string;
  readonly calls: ReadonlyMap<StorageFunction, Call>;
  readonly deprecated: Deprecation | undefined;
  readonly serverSet: readonly string[];
  readonly shownOnce: readonly string[];
  readonly bodies: BodySchemas;
  /** Whether elements of a bulk PUT change only some fields. */
  readonly partialBulk: boolean;
  /** The regular expression of the ids of a stream's events; undefined if any text may be one. */
  readonly eventIds: string | undefined;
  readonly ifMatch: 'optional' | 'required';
  readonly operations: ReadonlyMap<string, Operation>;
  readonly setOperations: ReadonlyMap<string, SetOperation>;
  readonly children: ReadonlyMap<string, Child>;
  /** The reasons why calls are not served, by storage function. */
  readonly notAllowed: ReadonlyMap<StorageFunction, string>;
  readonly storage: StorageFactory<never, never>;
}
