import { copyEmptyDatabase } from './pgdata-template.ts';
import { type DatabaseName, newReadyDatabase } from './test-database.ts';

/** A database with all tables and no rows for control planes that a test starts itself. */
export interface EmptyDatabase {
  /** Settings that select it. */
  readonly env: Readonly<Record<string, string>>;
  /** Removes a database of the server. The embedded one is removed with its data directory. */
  drop(): Promise<void>;
}

/** Creates it on the server, or as the embedded database of `dataDir`. */
export async function newEmptyDatabase(name: DatabaseName, dataDir: string): Promise<EmptyDatabase> {
  if (name === 'PostgreSQL') {
    const { url, drop } = await newReadyDatabase();
    return { env: { DATABASE_URL: url }, drop };
  }
  await copyEmptyDatabase(dataDir);
  return { env: {}, drop: async () => {} };
}
