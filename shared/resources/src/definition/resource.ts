import type { Static, TObject, TSchema } from 'typebox';
import type { BodySchemas } from './body-schemas.js';
import type { FilterDeclaration, FilterParameter } from './filter-declaration.js';
import type { JsonSchema } from '../validation/json-schema.js';
import type { TableDeclaration } from '../table/table.js';
import type { AnyTable, Platform } from '../table/table-storage.js';
import type { ResourceStorage } from './storage.js';

/** The fields of an item's schema. */
export type FieldOf<Item extends TObject> = keyof Static<Item> & string;

/** The fields that clients may write: all that are not server-set. */
export type WritableOf<Item extends TObject, ServerSet extends string> = Omit<Static<Item>, ServerSet>;

/** The body of a POST: of the create schema if one is given, else all writable fields. */
export type CreateOf<Item extends TObject, ServerSet extends string, Create> = Create extends TSchema
  ? Static<Create>
  : WritableOf<Item, ServerSet>;

/** A special operation, `PUT item/{verb}`. */
export interface OperationDeclaration {
  /** A short sentence for the reference. */
  readonly summary: string;
  /** What the body must be; without it only an empty body or `{}` is allowed. An empty body counts as `{}`. */
  readonly body?: TSchema;
  /** The item's states that matter. A storage of its own keeps to them itself; for a table the toolkit does. */
  readonly states?: StateChange;
  /** The operation enqueues a job, so that `Prefer: respond-async` is answered with 202 and the job's location. */
  readonly enqueues?: boolean;
}

/** From which states an operation is allowed, and where it leads. */
export interface StateChange {
  readonly field: string;
  readonly from: readonly [string, ...string[]];
  /** In any of these nothing is left to do. A table's operation leads to the first unless it says otherwise. */
  readonly to: readonly [string, ...string[]];
}

/** The bodies of operations, by verb. */
export type OperationBodies<Operations extends OperationDeclarations> = {
  readonly [Verb in keyof Operations]: Operations[Verb] extends { readonly body: infer Body extends TSchema }
    ? Static<Body>
    : Readonly<Record<string, never>>;
};

export type OperationDeclarations = Readonly<Record<string, OperationDeclaration>>;

/** How a search finds, see {@link ResourceDescription.searchBy}. */
export type SearchBy = 'similar' | 'words';

/** A sub-collection, `/{name}/{id}/{child}`. */
export interface ChildDeclaration {
  readonly resource: Resource;
  /** The child's field that holds the parent's key. Without it the storage goes by `context.parents`. */
  readonly by?: string;
  /** The storage functions served below this parent; default: all that the child has. */
  readonly serves?: readonly StorageFunction[];
}

export type StorageFunction = Exclude<keyof AnyStorage, 'seeks' | 'findsExisting'>;

/** A resource as its author writes it: described once, and kept by a storage of functions or by a table. */
export type ResourceDefinition<
  Item extends TObject,
  ServerSet extends FieldOf<Item>,
  Create extends TSchema | undefined,
  Operations extends OperationDeclarations,
> = ResourceDescription<Item, ServerSet, Create, Operations> &
  (
    | {
        readonly storage: ResourceStorage<
          Static<Item>,
          CreateOf<Item, ServerSet, Create>,
          WritableOf<Item, ServerSet>,
          OperationBodies<Operations>
        >;
        readonly table?: never;
      }
    | {
        readonly table: TableDeclaration<Static<Item>, OperationBodies<Operations>>;
        readonly storage?: never;
      }
  );

export interface ResourceDescription<
  Item extends TObject,
  ServerSet extends FieldOf<Item>,
  Create extends TSchema | undefined,
  Operations extends OperationDeclarations,
> {
  /** Plural lower-case noun, dashes between words: the first path segment. */
  readonly name: string;
  /** Needed only if it does not follow from the name. */
  readonly singular?: string;
  /** One or two sentences for the reference. */
  readonly description?: string;
  readonly item: Item;
  /** The field that identifies an item in paths; default `id`. */
  readonly key?: FieldOf<Item>;
  /** Fields that only the server writes. */
  readonly serverSet?: readonly ServerSet[];
  /**
   * Server-set fields that only the answer to a POST shows, a secret for example: no part of its ETag, and not kept for
   * `Idempotency-Key`.
   */
  readonly shownOnce?: readonly ServerSet[];
  /** The body of a POST; default: the item without the server-set fields. */
  readonly create?: Create;
  /** Fields that a bulk PUT writes; default: each element is a full replacement. */
  readonly bulk?: readonly Exclude<FieldOf<Item>, ServerSet>[];
  readonly filters?: Readonly<Record<string, FilterDeclaration<FieldOf<Item>>>>;
  readonly sort?: readonly FieldOf<Item>[];
  /** Sort terms used when a request has none, e.g. `['-createdAt']`; the key is always appended. Default: by key. */
  readonly defaultSort?: readonly (FieldOf<Item> | `-${FieldOf<Item>}`)[];
  /** Fields that `q` and `/search/{keyword}` look at; without them there is no search. */
  readonly search?: readonly FieldOf<Item>[];
  /**
   * How a search finds, which the storage keeps to: `similar` (default), contained or similar text, best first; `words`,
   * items in which every word is contained, in the order of `sort`.
   */
  readonly searchBy?: SearchBy;
  /** Page sizes: `default` 20, `max` 1000. */
  readonly limits?: { readonly default?: number; readonly max?: number };
  /** `required`: changes without If-Match are answered with 428. Default `optional`. */
  readonly ifMatch?: 'optional' | 'required';
  readonly operations?: Operations;
  readonly children?: readonly ChildDeclaration[];
}

export type ItemRecord = Readonly<Record<string, unknown>>;

/** A storage whose types the pipeline does not know. */
export type AnyStorage = ResourceStorage<
  ItemRecord,
  ItemRecord,
  ItemRecord,
  Readonly<Record<string, unknown>>
>;

/** A sort term such as `-createdAt`. */
export interface SortTerm {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

export interface Operation {
  readonly verb: string;
  readonly summary: string;
  readonly body: JsonSchema | undefined;
  readonly states: StateChange | undefined;
  readonly enqueues: boolean;
}

export interface Child {
  readonly resource: Resource;
  readonly by: string | undefined;
  readonly serves: ReadonlySet<StorageFunction> | undefined;
}

/** A checked definition, ready to be served. */
export interface Resource {
  readonly name: string;
  readonly singular: string;
  readonly description: string;
  readonly item: JsonSchema;
  /** The names of the item's fields in the order of the schema. */
  readonly fields: readonly string[];
  readonly key: string;
  readonly serverSet: readonly string[];
  readonly shownOnce: readonly string[];
  readonly bodies: BodySchemas;
  /** Elements of a bulk PUT change some fields and leave the others. */
  readonly partialBulk: boolean;
  readonly filters: ReadonlyMap<string, FilterParameter>;
  readonly sort: readonly string[];
  readonly defaultSort: readonly SortTerm[];
  readonly search: readonly string[];
  readonly searchBy: SearchBy;
  readonly limits: { readonly default: number; readonly max: number };
  readonly ifMatch: 'optional' | 'required';
  readonly operations: ReadonlyMap<string, Operation>;
  readonly children: ReadonlyMap<string, Child>;
  /** The table that holds the items; undefined if the resource has a storage of its own. */
  readonly table: AnyTable | undefined;
  /** The storage, given what tables need. Throws a DefinitionError if that is missing. */
  readonly connect: (platform: Platform | undefined) => AnyStorage;
}
