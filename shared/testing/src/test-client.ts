import { JobClient, type JsonValue, type SendSignalOptions, type SignalTarget } from '@longshore/jobs';

/** A signal that a handler has sent. */
export interface SentSignal {
  /** The job or the key, as the handler gave it. */
  readonly target: SignalTarget;
  readonly name: string;
  readonly data: JsonValue;
  /** The id that the handler gave it; `null` for none. */
  readonly id: string | null;
}

/** The client of a handler's run. Records the signals that it sends, those in a transaction when it commits. */
export class TestClient extends JobClient {
  readonly sent: SentSignal[] = [];

  override async sendSignal(
    target: SignalTarget,
    name: string,
    data: JsonValue = null,
    options: SendSignalOptions = {},
  ): Promise<string[]> {
    const reached = await super.sendSignal(target, name, data, options);
    const { id = null, transaction } = options;
    const note = (): void => void this.sent.push({ target, name, data, id });
    if (transaction?.afterCommit === undefined) note();
    else transaction.afterCommit(note);
    return reached;
  }
}
