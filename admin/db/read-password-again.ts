import { readSecretFile } from '../../config/secret-files.ts';
import type { Log } from '../../core/contract/values/log/log.ts';

/** The parts of a `pg` client and pool used here; `pg` has no types of its own. */
interface PgClient {
  on(event: 'error', listener: () => void): void;
  connect(): Promise<unknown>;
  end(): Promise<void>;
}
interface Pool {
  readonly Client: new (options: unknown) => PgClient;
  readonly options: { password?: string | (() => Promise<string>) };
}

/**
 * Makes new connections use the password that the file of DATABASE_URL has then. A password that differs from the one in use is tried
 * with a connection of its own first. The file may therefore change before the server does. Only the password is read again. For
 * `onPoolCreated` of MikroORM's driver options.
 */
export function readPasswordAgain(given: unknown, file: string, log: Log): void {
  const pool = given as Pool;
  const { password: atStart } = pool.options;
  // Without a password the driver reads `.pgpass`.
  if (typeof atStart !== 'string' || atStart === '') return;
  let inUse = atStart;
  let refused = '';
  pool.options.password = async () => {
    const password = passwordIn(readSecretFile(file));
    if (password === null || password === inUse) return inUse;
    if (await isAccepted(pool, password)) {
      if (password !== inUse) log.info({}, 'PostgreSQL accepts the new password in DATABASE_URL_FILE');
      inUse = password;
    } else if (password !== refused) {
      refused = password;
      log.warn({}, 'PostgreSQL does not accept the new password in DATABASE_URL_FILE yet. New connections use the previous one');
    }
    return inUse;
  };
}

function passwordIn(url: string | null): string | null {
  try {
    return url === null ? null : decodeURIComponent(new URL(url).password) || null;
  } catch {
    return null;
  }
}

async function isAccepted({ Client, options }: Pool, password: string): Promise<boolean> {
  const client = new Client({ ...options, password });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
