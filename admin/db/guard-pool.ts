import { EventEmitter } from 'node:events';

/** The parts of a `pg` client and pool used here; `pg` has no types of its own. */
interface Client extends EventEmitter {
  query(...parameters: unknown[]): unknown;
  release(destroy?: boolean): void;
  readonly connection: { readonly stream: { destroy(): void } };
}

/**
 * Keeps a pool of `pg` whole when connections break, for two faults of the libraries in between:
 * - a query that ran into its timeout leaves its client waiting for an answer for ever, back in the pool; here it is closed;
 * - a transaction whose rollback fails, because the connection is gone, never gives its place in the pool back (Kysely issue
 *   1990, open in November 2026); here the place of an ended client is freed.
 * For `onPoolCreated` of MikroORM's driver options.
 */
export function guardPool(pool: unknown): void {
  if (!(pool instanceof EventEmitter)) throw new Error('the pool of the database driver has an unknown structure');
  const out = new Set<Client>();
  pool.on('acquire', (client: Client) => out.add(client));
  pool.on('release', (_error: unknown, client: Client) => out.delete(client));
  pool.on('connect', (client: Client) => {
    closeOnTimeout(client);
    client.once('end', () => {
      // The holder of the client is receiving the failure now, and most holders release it themselves.
      setTimeout(() => {
        if (out.delete(client)) client.release(true);
      }, graceMs).unref();
    });
  });
}

const graceMs = 250;

function closeOnTimeout(client: Client): void {
  const query = client.query.bind(client);
  client.query = (...parameters) => {
    const result = query(...parameters);
    if (result instanceof Promise) {
      result.catch((error: unknown) => {
        if (error instanceof Error && error.message === 'Query read timeout') client.connection.stream.destroy();
      });
    }
    return result;
  };
}
