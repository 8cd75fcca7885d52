/** The storage could not be reached or gave up under load; trying again later may succeed. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/** This server has been declared dead; its claims are gone. It must register again before it takes more jobs. */
export class ServerLostError extends Error {
  override readonly name = 'ServerLostError';
  readonly serverId: string;

  constructor(serverId: string) {
    super(`Server ${serverId} has been declared dead; register again before claiming`);
    this.serverId = serverId;
  }
}

export interface ArgumentProblem {
  /** Where: `args.customer.id`, `args[2]`. */
  readonly path: string;
  /** Follows the path in a sentence: `is undefined: …`. */
  readonly message: string;
}

/** Arguments, or a result, that cannot be stored or do not fit the schema of the job definition. */
export class InvalidArgumentsError extends TypeError {
  override readonly name = 'InvalidArgumentsError';
  readonly problems: readonly ArgumentProblem[];

  constructor(problems: readonly ArgumentProblem[]) {
    super(problems.map(({ path, message }) => `${path} ${message}`).join('; '));
    this.problems = problems;
  }
}

/** A server took a job whose name it has no handler for. */
export class UnknownJobError extends Error {
  override readonly name = 'UnknownJobError';

  constructor(jobName: string, known: readonly string[]) {
    super(`No handler for the job "${jobName}" on this server; it has ${known.join(', ') || 'none'}`);
  }
}
