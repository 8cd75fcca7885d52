import { randomUUID } from 'node:crypto';
import type { Operation } from '@longshore/test-support';

/** Maximum length of each list of ids, bindings or cursors. When a list is longer, its oldest value is dropped. */
const maxRemembered = 300;

/** Values of the path parameters that identify an item. */
export type Binding = Readonly<Record<string, string>>;

interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly json: unknown;
}

/** Values from responses that later requests can use: ids, API keys, cursors, entity tags. */
export class Known {
  readonly #ids = new Map<string, string[]>();
  readonly #apiKeys: string[] = [];
  readonly #bindings = new Map<string, Binding[]>();
  readonly #cursors = new Map<string, string[]>();
  readonly #tags = new Map<string, string>();
  /**
   * Names of the path parameters that identify items. Each name is stored under the collection's path, and also under
   * the last segment of that path.
   */
  readonly #parameterOf = new Map<string, string>();

  readonly #untouchable: ReadonlySet<string>;

  /** @param untouchable ids that no request may use */
  constructor(operations: readonly Operation[], untouchable: readonly string[]) {
    this.#untouchable = new Set(untouchable);
    for (const { template } of operations.toReversed()) {
      const [, collection = '', name = '', parameter = ''] =
        /^(.*\/([\w-]+))\/\{(\w+)\}$/.exec(template) ?? [];
      if (parameter === '') continue;
      this.#parameterOf.set(collection, parameter);
      this.#parameterOf.set(name, parameter);
    }
  }

  /**
   * Remembers the values in a successful response. Returns the path parameters of the first item in the response;
   * `undefined` if there is no usable item.
   */
  note(operation: Operation, path: string, binding: Binding, { headers, json }: Answer): Binding | undefined {
    const tag = headers['etag'];
    if (typeof tag === 'string') this.#tags.set(path, tag);
    this.#noteCursors(path, String(headers['link'] ?? ''));
    const collection = operation.template.replace(/\/search\/\{\w+\}$/, '');
    const { key: secret } = (json ?? {}) as { key?: unknown };
    if (typeof secret === 'string') this.#apiKeys.push(secret);
    const parameter =
      this.#parameterOf.get(collection) ?? this.#parameterOf.get(collection.split('/').at(-1) ?? '');
    if (parameter === undefined) return undefined;
    const key = (/[A-Z][a-z0-9]*$/.exec(parameter)?.[0] ?? 'Id').toLowerCase();
    const found = (Array.isArray(json) ? json : [json]).flatMap((item: unknown) => {
      const id =
        typeof item === 'object' && item !== null ? (item as Record<string, unknown>)[key] : undefined;
      return typeof id === 'string' && id !== '' && !this.#untouchable.has(id)
        ? [{ ...binding, [parameter]: id }]
        : [];
    });
    for (const one of found) {
      remember(this.#ids, parameter, one[parameter] ?? '');
      remember(this.#bindings, `${collection}/{${parameter}}`, one);
    }
    return found[0];
  }

  /**
   * Adds the path parameters of an item from an earlier response to `own`. The item must have no other value for a
   * parameter in `own`. Prefers items that provide the most parameters. Returns `own` unchanged if no item matches.
   *
   * @param number selects one of the matching items
   */
  binding({ template }: Operation, number: number, own: Binding): Binding {
    const prefixes = [...template.matchAll(/\{\w+\}/g)].map(({ index, 0: text }) =>
      template.slice(0, index + text.length),
    );
    for (const prefix of prefixes.toReversed()) {
      const known = (this.#bindings.get(prefix) ?? []).filter((binding) =>
        Object.entries(own).every(([name, value]) => (binding[name] ?? value) === value),
      );
      if (known.length > 0) return { ...known[number % known.length], ...own };
    }
    return own;
  }

  /**
   * Returns a known id for the parameter, or a random UUID if no id is known. `number` selects one of the known ids.
   */
  id(parameter: string, number: number): string {
    const ids = this.#ids.get(parameter) ?? [];
    return ids[number % ids.length] ?? randomUUID();
  }

  /**
   * Returns the token of an API key that an earlier request created, or a malformed token if there is none. `number`
   * selects one of the tokens.
   */
  apiKey(number: number): string {
    return this.#apiKeys[number % this.#apiKeys.length] ?? 'lsk_x';
  }

  tag(path: string): string {
    return this.#tags.get(path) ?? '"none"';
  }

  /**
   * Returns a cursor from an earlier response for this collection and sort order, or a fixed cursor if none is known.
   * `number` selects one of the known cursors.
   */
  cursor(path: string, sort: string | undefined, number: number): string {
    const cursors = this.#cursors.get(`${path}?${sort ?? ''}`) ?? [];
    return cursors[number % cursors.length] ?? 'WyItaWQiXQ';
  }

  #noteCursors(path: string, link: string): void {
    for (const [, query = ''] of link.matchAll(/<[^>?]*\?([^>]*)>/g)) {
      const parameters = new URLSearchParams(query);
      const cursor = parameters.get('after') ?? parameters.get('before');
      if (cursor !== null) remember(this.#cursors, `${path}?${parameters.get('sort') ?? ''}`, cursor);
    }
  }
}

function remember<Value>(values: Map<string, Value[]>, key: string, value: Value): void {
  const list = values.get(key) ?? [];
  values.set(key, list);
  list.push(value);
  if (list.length > maxRemembered) list.shift();
}
