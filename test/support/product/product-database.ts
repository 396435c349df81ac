import { copyEmptyDataDir } from '../../admin/support/pgdata-template.ts';
import { newReadyDatabase, postgresMissing } from '../../admin/support/test-database.ts';
import { isTestRun } from '../runner/test-run.ts';

/** A database with all tables and no rows for a product, which may start on it several times. */
export interface ProductDatabase {
  /** Settings that select it. */
  readonly env: Readonly<Record<string, string>>;
  /** Removes a database of the server. The embedded one is removed with its data directory. */
  drop(): Promise<void>;
}

/**
 * Creates it on the database server, or as the embedded database of `dataDir`, which must be empty. Default: in a test run the server
 * if there is one, because the product then starts with half the CPU time; otherwise, and with LONG_TESTS, the embedded one.
 */
export async function newProductDatabase(dataDir: string, kind = preferredKind()): Promise<ProductDatabase> {
  if (kind === 'server') {
    const { url, drop } = await newReadyDatabase();
    return { env: { DATABASE_URL: url }, drop };
  }
  await copyEmptyDataDir(dataDir);
  return { env: {}, drop: async () => {} };
}

function preferredKind(): 'embedded' | 'server' {
  const hasServer = isTestRun() && postgresMissing === null && !process.env.LONG_TESTS;
  return hasServer ? 'server' : 'embedded';
}
