import type { EventEmitter } from 'node:events';
import { StartError } from '../start-error.ts';

/** The parts of a `pg` client and pool used here; `pg` has no types of its own. */
interface PgClient {
  readonly connection: EventEmitter & { readonly stream: { destroy(): void } };
}
interface Pool {
  Client: new (options: unknown) => PgClient;
}

/**
 * Refuses connections without channel binding, as psql does for `channel_binding=require`. The driver uses it only if the server offers it, and
 * would send the password to a server that claims to know no other way. For `onPoolCreated` of MikroORM's driver options.
 */
export function requireChannelBinding(pool: unknown): void {
  const { Client } = pool as Pool;
  (pool as Pool).Client = class extends Client {
    constructor(options: unknown) {
      super(options);
      const { connection } = this;
      let isProven = false;
      const refuse = (): void => {
        connection.stream.destroy();
        connection.emit('error', new StartError(notOffered));
      };
      // The driver adds its listeners when it connects, so these run first.
      connection.on('authenticationCleartextPassword', refuse);
      connection.on('authenticationMD5Password', refuse);
      connection.on('authenticationSASL', ({ mechanisms }: { mechanisms: readonly string[] }) => {
        if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse();
      });
      connection.on('authenticationSASLFinal', () => {
        isProven = true;
      });
      connection.on('authenticationOk', () => {
        if (!isProven) refuse();
      });
    }
  };
}

const notOffered =
  'DATABASE_URL: channel_binding=require: the server offers no channel binding. Remove it, and use sslmode=verify-full to check the server';
