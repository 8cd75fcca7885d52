import { isString, isTransaction } from '../job/argument-check.js';
import { bounds, checkText } from '../job/bounds.js';
import type { JsonValue } from '../job/job.js';
import { checkOptions, type OptionNames } from '../job/options.js';
import { shown } from '../job/shown.js';
import { checkSignal, maxSignalled, tooManySignals } from '../storage/steps.js';
import type { JobStorage } from '../storage/storage.js';
import type { TransactionClient } from '../storage/transaction.js';

/** A job, its id, or the `correlate` key of one or several jobs. */
export type SignalTarget = string | { readonly id: string } | { readonly correlate: string };

export interface SendSignalOptions {
  /**
   * Identifies the signal, 1 to 200 characters: a job receives a signal of the same name and id only once, so that sending
   * can be repeated. A new id by default.
   */
  id?: string;
  /** Who sends it, shown with the job; nobody by default. */
  sentBy?: string;
  /** An open transaction of the caller, such as a `pg` client: the signal is sent when it commits. */
  transaction?: TransactionClient;
}

/** The options of one signal, without the transaction. */
export type RequestedSignalOptions = Omit<SendSignalOptions, 'transaction'>;

export const requestedSignalOptions: OptionNames<RequestedSignalOptions> = { id: true, sentBy: isString };

const signalOptions: OptionNames<SendSignalOptions> = {
  ...requestedSignalOptions,
  transaction: isTransaction,
};

/**
 * Sends a signal. See `JobClient.sendSignal`.
 *
 * @throws {RangeError} if a job has too many signals; all other jobs have received it
 */
export async function sendSignal(
  steps: JobStorage['steps'],
  target: SignalTarget,
  name: string,
  data: JsonValue,
  options: SendSignalOptions,
): Promise<string[]> {
  checkOptions('sendSignal', options, signalOptions);
  const { id, sentBy, transaction } = options;
  const signal = { name, data, ...(id !== undefined && { id }), ...(sentBy !== undefined && { sentBy }) };
  checkSignal(signal);
  const reached = [];
  let full: string | null = null;
  for (const jobId of await idsOf(target, steps)) {
    const result = await steps.signal(jobId, signal, { transaction });
    if (result.outcome === 'ok') reached.push(result.job.id);
    if (result.outcome === 'full') full ??= result.job.id;
  }
  if (full !== null)
    throw new RangeError(`The signal was not sent, because the job ${full} ${tooManySignals}`);
  return reached;
}

async function idsOf(target: SignalTarget, steps: JobStorage['steps']): Promise<string[]> {
  if (typeof target === 'string') return [target];
  if (typeof target !== 'object' || target === null || !('id' in target || 'correlate' in target))
    throw new TypeError(
      `sendSignal needs a job, its id, or { correlate: '…' } as its first parameter, not ${shown(target)}`,
    );
  if ('id' in target) {
    isString('sendSignal: id', target.id);
    return [target.id];
  }
  const correlate = checkText('correlate', target.correlate, bounds.keyLength);
  return (await steps.listCorrelated(correlate, maxSignalled)).map((job) => job.id);
}
