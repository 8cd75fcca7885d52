/** The values that can be inserted into a link template. */
export interface LinkValues {
  readonly jobId: string;
  readonly jobName: string;
  readonly queue: string;
  /** The attempt number; 0 before the first attempt. */
  readonly attempt: number;
  readonly serverId: string | null;
  readonly traceId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** Maps each placeholder to a function that returns the value; `null` if the value is unknown. */
const placeholders: Readonly<Record<string, (values: LinkValues) => string | null>> = {
  jobId: ({ jobId }) => jobId,
  jobName: ({ jobName }) => jobName,
  queue: ({ queue }) => queue,
  attempt: ({ attempt }) => (attempt === 0 ? null : String(attempt)),
  serverId: ({ serverId }) => serverId,
  traceId: ({ traceId }) => traceId,
  createdAt: ({ createdAt }) => createdAt.toISOString(),
  createdAtMs: ({ createdAt }) => String(createdAt.getTime()),
  startedAt: ({ startedAt }) => startedAt?.toISOString() ?? null,
  startedAtMs: ({ startedAt }) => startedAt?.getTime().toString() ?? null,
  // Empty while the job or attempt is unfinished, so that a log search has no end time.
  finishedAt: ({ finishedAt }) => finishedAt?.toISOString() ?? '',
  finishedAtMs: ({ finishedAt }) => finishedAt?.getTime().toString() ?? '',
};

const placeholder = /\{([^{}]*)\}/g;

/** A URL template with placeholders, such as `https://logs.example.com/search?q={jobId}&from={startedAt}`. */
export class LinkTemplate {
  readonly #template: string;

  /**
   * @param name the name of the template in error messages
   * @throws {TypeError} if the template is not an http or https URL, or if it contains an unknown placeholder, an
   *   unmatched brace, or a placeholder before the path
   */
  constructor(name: string, template: string) {
    const names = Array.from(template.matchAll(placeholder), ([, found = '']) => found);
    const unknown = names.find((found) => !Object.hasOwn(placeholders, found));
    if (unknown !== undefined)
      throw new TypeError(
        `${name} contains {${unknown}}, which is not one of ${Object.keys(placeholders)
          .map((known) => `{${known}}`)
          .join(', ')}`,
      );
    if (/[{}]/.test(template.replaceAll(placeholder, '')))
      throw new TypeError(`${name} contains a single brace; write %7B or %7D for a literal one`);
    if (!/^https?:\/\/[^{}/?#]+[/?#]/.test(`${template}/`) || !URL.canParse(template))
      throw new TypeError(
        `${name} is not a URL: give scheme, host and path, such as https://logs.example.com/search?q={jobId}`,
      );
    this.#template = template;
  }

  /** Returns the URL with the encoded values filled in; `null` if one of the values is unknown. */
  urlFor(values: LinkValues): string | null {
    let isComplete = true;
    const url = this.#template.replaceAll(placeholder, (_whole, name: string) => {
      const value = placeholders[name]?.(values) ?? null;
      if (value === null) isComplete = false;
      return encodeURIComponent((value ?? '').toWellFormed());
    });
    return isComplete ? url : null;
  }
}
