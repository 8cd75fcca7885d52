import { AnswerContract } from './answer-contract.js';
import type { ReceivedAnswer, SentRequest } from './exchange.js';
import type { OpenApiDocument } from './operations.js';

/** Caches contracts by the text of the document, because most tests in a run share a few documents. */
const contracts = new Map<string, AnswerContract>();

/**
 * Checks the responses of a running API against the API's OpenAPI document. Reads the document on the first response.
 */
export class DocumentedApi {
  readonly #baseUrl: () => Promise<string>;
  #contract: Promise<AnswerContract> | undefined;

  /** @param baseUrl returns the base URL of the server that serves the document, without `/api` */
  constructor(baseUrl: () => Promise<string>) {
    this.#baseUrl = baseUrl;
  }

  /**
   * Checks a response.
   *
   * @throws {Error} listing all differences if the response does not match the document
   */
  async check(request: SentRequest, answer: ReceivedAnswer): Promise<void> {
    const breaches = (await this.#documented()).checkAny(request, answer);
    if (breaches.length === 0) return;
    const lines = breaches.map(({ fault, detail }) => `${fault}: ${detail}`);
    throw new Error(`${request.method} ${request.path} is not answered as documented\n${lines.join('\n')}`);
  }

  /** Returns the contract. If reading the document fails, the next call tries again. */
  async #documented(): Promise<AnswerContract> {
    this.#contract ??= this.#baseUrl().then(contractAt);
    try {
      return await this.#contract;
    } catch (error) {
      this.#contract = undefined;
      throw error;
    }
  }
}

async function contractAt(baseUrl: string): Promise<AnswerContract> {
  const url = `${baseUrl}/api/v1/openapi.json`;
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(`No document at ${url}: ${response.status} ${text.slice(0, 300)}`);
  const contract = contracts.get(text) ?? new AnswerContract(JSON.parse(text) as OpenApiDocument);
  contracts.set(text, contract);
  return contract;
}
