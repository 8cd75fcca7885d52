/** The address of a running installation, and the API key for it. */
export interface Address {
  /** The base URL of the API, such as `https://example.com`, with or without `/api/v1`. */
  readonly url: string;
  readonly key?: string | undefined;
}

/** An object in a response, as parsed from JSON. */
export type Item = Readonly<Record<string, unknown>>;

interface Refusal {
  readonly errors?: readonly { readonly internalMessage: string }[];
}

/** A client for the HTTP API of a running installation. */
export class Installation {
  readonly #address: Address;

  /** @throws {Error} if `address.url` is not an HTTP or HTTPS URL */
  constructor(address: Address) {
    if (!/^https?:\/\/./.test(address.url) || !URL.canParse(address.url))
      throw new Error(`"${address.url}" is not a URL such as https://example.com`);
    this.#address = address;
  }

  /**
   * Sends a request to the API and returns the parsed response.
   *
   * @throws {Error} if the API rejects the request or does not respond
   */
  async call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const { url, key } = this.#address;
    const base = url.replace(/\/+$/, '').replace(/\/api(?:\/v1)?$/i, '');
    const target = new URL(`${base}/api/v1/${path}`);
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const response = await fetch(target, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new Error(`${url} does not respond; set the address of the API with --url or LONGSHORE_URL`, {
        cause: error,
      });
    });
    const answer: unknown = await response.json().catch(() => ({}));
    if (response.ok) return answer as Answer;
    const messages = (answer as Refusal).errors?.map(({ internalMessage }) => internalMessage) ?? [];
    if (response.status === 401) messages.push('set a key with --key or LONGSHORE_KEY');
    throw new Error(messages.length > 0 ? messages.join('; ') : `${target.href} answered ${response.status}`);
  }
}
