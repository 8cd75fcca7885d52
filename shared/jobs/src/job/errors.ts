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
