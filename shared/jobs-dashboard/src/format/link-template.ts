/** Maps each placeholder to a function that returns the value; `null` if the value is unknown. */
export type Placeholders<Values> = Readonly<Record<string, (values: Values) => string | null>>;

const placeholder = /\{([^{}]*)\}/g;

/** A URL template with placeholders, such as `https://logs.example.com/search?q={jobId}&from={startedAt}`. */
export class LinkTemplate<Values> {
  readonly #template: string;
  readonly #placeholders: Placeholders<Values>;

  /**
   * @param name the name of the template in error messages
   * @throws {TypeError} if the template is not an http or https URL, or if it contains an unknown placeholder, an
   *   unmatched brace, or a placeholder before the path
   */
  constructor(name: string, template: string, placeholders: Placeholders<Values>) {
    const names = Array.from(template.matchAll(placeholder), ([, placeholderName = '']) => placeholderName);
    const unknown = names.find((placeholderName) => !Object.hasOwn(placeholders, placeholderName));
    if (unknown !== undefined)
      throw new TypeError(
        `${name} contains {${unknown}}, which is not one of ${Object.keys(placeholders)
          .map((placeholderName) => `{${placeholderName}}`)
          .join(', ')}`,
      );
    if (/[{}]/.test(template.replaceAll(placeholder, '')))
      throw new TypeError(`${name} contains a single brace; write %7B or %7D for a literal one`);
    if (!/^https?:\/\/[^{}/?#]+[/?#]/.test(`${template}/`) || !URL.canParse(template))
      throw new TypeError(
        `${name} is not a URL: give scheme, host and path, such as https://example.com/search?q={${Object.keys(placeholders)[0]}}`,
      );
    this.#template = template;
    this.#placeholders = placeholders;
  }

  /** Returns the URL with the encoded values filled in; `null` if one of the values is unknown. */
  urlFor(values: Values): string | null {
    let isComplete = true;
    const url = this.#template.replaceAll(placeholder, (_whole, name: string) => {
      const value = this.#placeholders[name]?.(values) ?? null;
      if (value === null) isComplete = false;
      return encodeURIComponent((value ?? '').toWellFormed());
    });
    return isComplete ? url : null;
  }
}
