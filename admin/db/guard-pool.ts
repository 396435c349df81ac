import { EventEmitter } from 'node:events';
import { cancelQuery, type QueryingClient } from './cancel-query.ts';

/** The parts of a `pg` client and pool used here; `pg` has no types of its own. */
interface Client extends EventEmitter, QueryingClient {
  query(...parameters: unknown[]): unknown;
  release(destroy?: boolean): void;
}

interface Pool extends EventEmitter {
  readonly idleCount: number;
  connect(): Promise<Client>;
}

/**
 * Works around errors of the libraries when connections break or the server changes its role.
 * A query that times out leaves its client waiting for a response forever, back in the pool, and continues at the server. The guard cancels the
 * query and closes the client.
 * A transaction whose rollback fails because the connection is gone never releases its slot in the pool (reported to Kysely as
 * number 1990, open in November 2026). The guard frees the slot of an ended client.
 * If the network has lost the connection of a query that times out, it has mostly lost the idle ones too. The guard then queries each of them, with
 * the time limit `probeMs`.
 * For `onPoolCreated` of MikroORM's driver options.
 */
export function guardPool(pool: unknown, probeMs = 1_000): void {
  if (!(pool instanceof EventEmitter)) throw new Error('the pool of the database driver has an unknown structure');
  const probe = proberOf(pool as Pool, probeMs);
  const out = new Set<Client>();
  pool.on('acquire', (client: Client) => out.add(client));
  pool.on('release', (_error: unknown, client: Client) => out.delete(client));
  pool.on('connect', (client: Client) => {
    closeOnFailure(client, probe);
    client.once('end', () => {
      // The holder of the client is about to receive the failure, and most holders release it themselves.
      setTimeout(() => {
        if (out.delete(client)) client.release(true);
      }, graceMs).unref();
    });
  });
}

const graceMs = 250;

/** Returns a function that queries every idle client once, unless it is doing so. A client that does not reply is closed like any other. */
function proberOf(pool: Pool, probeMs: number): () => void {
  let probing = 0;
  const probeOne = async () => {
    probing++;
    try {
      const client = await pool.connect();
      try {
        await client.query({ text: 'select 1', query_timeout: probeMs });
      } finally {
        client.release();
      }
    } catch {
      // The client is closed, or the pool is.
    } finally {
      probing--;
    }
  };
  return () => {
    if (probing > 0) return;
    for (let idle = pool.idleCount; idle > 0; idle--) void probeOne();
  };
}

/**
 * Closes the connection if a query timed out or the server is read-only. After a failover the address may belong to another server, which
 * only a new connection reaches.
 */
function closeOnFailure(client: Client, probe: () => void): void {
  const query = client.query.bind(client);
  client.query = (...parameters) => {
    const result = query(...parameters);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        if (!(error instanceof Error)) return;
        if (error.message === 'Query read timeout') {
          cancelAndClose(client);
          probe();
        } else if ((error as { code?: unknown }).code === '25006') client.connection.stream.destroy();
      });
    }
    return result;
  };
}

/**
 * Without the cancellation, each request that waits for a lock would leave a server process, until the server accepts no further connection.
 * The client is closed afterwards, because PgBouncer cancels nothing for a client that has left.
 */
function cancelAndClose(client: Client): void {
  const cancelled = cancelQuery(client);
  const release = client.release;
  let isReleased = false;
  client.release = () => {
    if (isReleased) return;
    isReleased = true;
    void cancelled.then(() => release(true));
  };
  void cancelled.then(() => client.connection.stream.destroy());
}
