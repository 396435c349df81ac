import type { DatabaseProblem } from './database-problem.ts';
import type { Database } from './db/open-database.ts';
import type { AdminServices } from './http/admin-services.ts';

interface Observed {
  readonly database: Pick<Database, 'em'>;
  readonly isStopping: () => boolean;
  /** Returns the problem of the database's disk; null if there is none. */
  readonly diskProblem: () => DatabaseProblem | null;
  /** True if records wait because ClickHouse does not reply. */
  readonly copiesWait: () => boolean;
}

/** Returns a function that checks the database and returns the reasons not to be ready, and warnings. */
export function createReadiness({ database, isStopping, diskProblem, copiesWait }: Observed): AdminServices['readiness'] {
  return async () => {
    const problem = await problemOf(database);
    return {
      reasons: [...(isStopping() ? [shutdown] : []), ...(problem === 'unreachable' ? [databaseAway] : [])],
      warnings: [warningOf(problem ?? diskProblem()), copiesWait() ? waitingCopies : null].filter((text) => text !== null),
    };
  };
}

const shutdown = { dependency: 'shutdown', message: 'This control plane is shutting down' };
const databaseAway = { dependency: 'database', message: 'The database does not respond. Check DATABASE_URL and the database' };
const writesFail = 'Changes and calls with budgets get 503, and records wait on gateways';
const warnings: Readonly<Partial<Record<DatabaseProblem, string>>> = {
  'read-only': `The database is read-only, such as a standby. ${writesFail}. Check that DATABASE_URL names the primary`,
  'disk-full': `The disk of the database is full. ${writesFail}. Free space there`,
  'disk-failed': `The disk of the database is read-only or fails. ${writesFail}. Check it`,
};
const warningOf = (problem: DatabaseProblem | null) => (problem && warnings[problem]) ?? null;
const waitingCopies = 'ClickHouse (ANALYTICS_URL) does not reply; records wait in the database';

/** Returns the problem of the database; null if it works. A read-only database still serves what gateways load. */
export async function problemOf(database: Pick<Database, 'em'>): Promise<DatabaseProblem | null> {
  try {
    const [row] = await database
      .em()
      .execute<{ readOnly: string }[]>(`select current_setting('transaction_read_only') as "readOnly"`);
    return row?.readOnly === 'on' ? 'read-only' : null;
  } catch {
    return 'unreachable';
  }
}
