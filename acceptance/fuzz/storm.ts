import { parseJson } from '@longshore/test-support';
import type { Client } from './client.js';
import type { Contract } from './contract.js';
import type { Findings } from './findings.js';
import type { Binding, Known } from './known.js';
import type { Chain, Plan } from './plan.js';
import { fillRequest, type FilledRequest } from './request.js';

/** Objects for sending requests and checking responses. */
export interface FuzzContext {
  readonly client: Client;
  readonly contract: Contract;
  readonly known: Known;
  readonly findings: Findings;
  /** Headers to send with every request. The request's own headers take precedence. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends all chains, `lanes` chains at a time. The requests of a chain are sent in order. */
export async function storm(ground: FuzzContext, chains: readonly Chain[], lanes: number): Promise<void> {
  const waiting = chains.values();
  const lane = async (): Promise<void> => {
    for (const chain of waiting) await sendChain(ground, chain);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function sendChain(ground: FuzzContext, chain: Chain): Promise<void> {
  // Path parameters from this chain's responses. Later requests of the chain use them.
  const own = new Map<string, string>();
  for (const plan of chain) {
    const created = await sendPlan(ground, plan, Object.fromEntries(own));
    for (const [name, value] of Object.entries(created ?? {})) if (!own.has(name)) own.set(name, value);
  }
}

async function sendPlan(ground: FuzzContext, plan: Plan, own: Binding): Promise<Binding | undefined> {
  const { client, contract, known, findings } = ground;
  const filled = fillRequest(plan, known, own);
  const request: FilledRequest = { ...filled, headers: { ...ground.headers, ...filled.headers } };
  const { operation } = plan;
  const place = placeOf(plan);
  try {
    const answer = await client.send(request);
    if (answer === null) return undefined;
    for (const breach of contract.check(operation, request, answer))
      findings.add(place, breach, client.baseUrl, request);
    if (answer.status >= 300 || answer.text === '') return undefined;
    const isJson = answer.headers['content-type']?.includes('json') === true;
    const json = isJson ? parseJson(answer.text) : undefined;
    return known.note(operation, request.place, request.binding, { headers: answer.headers, json });
  } catch (error) {
    findings.add(place, { fault: 'no answer', detail: String(error) }, client.baseUrl, request);
    return undefined;
  }
}

export function placeOf({ operation: { method, template } }: Pick<Plan, 'operation'>): string {
  return `${method} ${template}`;
}
