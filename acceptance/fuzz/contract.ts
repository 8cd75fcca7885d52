import {
  AnswerContract,
  type Breach,
  type OpenApiDocument,
  type Operation,
  parseJson,
} from '@longshore/test-support';
import type { Answer } from './client.js';
import type { Request } from './request.js';

/** Checks that responses match the OpenAPI document and are not server errors. */
export class Contract {
  readonly #answers: AnswerContract;
  /** The paths of searches: a collection, and the word `search` in the place of an id. */
  readonly #searches: readonly RegExp[];

  constructor(document: OpenApiDocument) {
    this.#answers = new AnswerContract(document);
    this.#searches = Object.keys(document.paths)
      .filter((template) => /\/search\/\{\w+\}$/.test(template))
      .map((template) => new RegExp(`${template.replaceAll(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`, 'i'));
  }

  check(operation: Operation, request: Request, answer: Answer): readonly Breach[] {
    const { status, text } = answer;
    // With the word `search` as an id, the path is that of a search, which has other methods and answers.
    const isSearch = this.#searches.some((search) => search.test(request.path));
    const isAnothers = isSearch && !operation.template.includes('/search/');
    return [
      ...(status >= 500
        ? [{ fault: `status ${status}: ${causeOf(text)}`, detail: text.slice(0, 1_500) }]
        : []),
      ...(isAnothers ? [] : this.#answers.check(operation, request, answer)),
    ];
  }
}

/**
 * Returns the first line of an error message and the name of its source file. Replaces ids, quoted text and numbers, so
 * that errors with the same cause are counted together.
 */
function causeOf(text: string): string {
  const message =
    (parseJson(text) as { errors?: readonly { internalMessage?: string }[] } | undefined)?.errors?.[0]
      ?.internalMessage ?? text;
  const [first = '', ...rest] = message.replace(/^Incident \S+\s*/, '').split('\n');
  const frame = rest.find((line) => /\/(?:shared|services)\//.test(line)) ?? '';
  return `${first} ${/([\w-]+\.[jt]s):\d+/.exec(frame)?.[1] ?? ''}`
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '…')
    .replaceAll(/"[^"]*"/g, '"…"')
    .replaceAll(/-?\d+(?:\.\d+)?/g, 'N')
    .slice(0, 200)
    .trim();
}
