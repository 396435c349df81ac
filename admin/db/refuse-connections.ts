import { setImmediate as nextTurn } from 'node:timers/promises';

/** The parts of a `pg` client and pool used here; `pg` has no types of its own. */
interface Client {
  release(destroy?: boolean): void;
}
interface Pool {
  connect(callback?: unknown): Promise<Client>;
}

/**
 * Works around an error of Kysely. A statement that receives its connection after the driver has begun to close fails before it has noted the
 * connection, and the pool then waits forever for its return. Returns a function to call before the driver is closed: statements without a
 * connection fail from then on, also those that wait for one already.
 */
export function refuseConnections(pool: unknown): () => Promise<void> {
  const { connect } = pool as Pool;
  if (typeof connect !== 'function') throw new Error('the pool of the database driver has an unknown structure');
  let isClosing = false;
  /** Statements that wait for a connection. */
  const waiting = new Set<(error: Error) => void>();
  const connectOrRefuse = (): Promise<Client> =>
    new Promise((resolve, reject) => {
      if (isClosing) return reject(closing());
      waiting.add(reject);
      connect
        .call(pool)
        .then((client) => {
          // The statement has failed already.
          if (isClosing) client.release(true);
          else resolve(client);
        }, reject)
        .finally(() => waiting.delete(reject));
    });
  Object.assign(pool as Pool, {
    connect: (callback?: unknown) => (callback === undefined ? connectOrRefuse() : connect.call(pool, callback)),
  });
  return async () => {
    isClosing = true;
    for (const refuse of waiting) refuse(closing());
    // Statements that have just received a connection note it in this turn.
    await nextTurn();
  };
}

function closing(): Error {
  return new Error('Connection terminated: the database is being closed');
}
