import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Log } from '../../core/contract/values/log/log.ts';

/**
 * A statement that runs so often that planning it each time would cost more than running it. Values replace its `?`, in order.
 */
export interface PreparedStatement {
  /** Unique among all statements. */
  readonly name: string;
  readonly text: string;
}

export type AskPrepared = <Row>(statement: PreparedStatement, values: readonly string[]) => Promise<Row[]>;

/** The parts of a `pg` pool used here; `pg` has no types of its own. */
interface Pool {
  connect(): Promise<Client>;
}

interface Client {
  query(query: { name?: string; text: string; values: readonly string[] }): Promise<{ rows: unknown[] }>;
  release(destroy?: boolean): void;
}

/** A pooler sent the statement to a connection that has not prepared it, or has prepared it already. */
const poolerErrors: readonly unknown[] = ['26000', '42P05'];
/** A migration has changed the result of the statement, and the connection still has the old plan. */
const staleError = '0A000';

/**
 * Runs PostgreSQL prepared statements; each connection keeps its plans. Behind a pooler that swaps connections between
 * transactions and does not track statements, it continues without preparing them. Rejects with the driver's error. `open` makes
 * the driver open its pool, which otherwise happens at its first query.
 */
export function createAskPrepared(
  log: Log,
  open: () => Promise<unknown>,
): { readonly ask: AskPrepared; useOf(pool: unknown): void } {
  let pool: Pool | null = null;
  let prepares = true;
  const known = new Map<string, PreparedStatement>();

  return {
    ask: async <Row>(statement: PreparedStatement, values: readonly string[]) => {
      const { name, text } = known.get(statement.text) ?? toDriver(statement);
      known.set(statement.text, { name, text });
      if (!prepares) return (await run({ text, values })) as Row[];
      try {
        return (await run({ name, text, values })) as Row[];
      } catch (error) {
        const code = codeOf(error);
        if (code !== staleError && !poolerErrors.includes(code)) throw error;
        if (code !== staleError) {
          if (prepares) log.warn({}, 'the pooler in front of PostgreSQL loses prepared statements; they are disabled');
          prepares = false;
        }
        return (await run({ text, values })) as Row[];
      }
    },
    useOf(made) {
      if (!(made instanceof EventEmitter) || typeof (made as unknown as Pool).connect !== 'function')
        throw new Error('the pool of the database driver has an unknown structure');
      pool = made as unknown as Pool;
    },
  };

  async function run(query: Parameters<Client['query']>[0]): Promise<unknown[]> {
    if (!pool) await open();
    const client = await (pool as unknown as Pool).connect();
    let isStale = false;
    try {
      return (await client.query(query)).rows;
    } catch (error) {
      isStale = codeOf(error) === staleError;
      throw error;
    } finally {
      client.release(isStale);
    }
  }
}

/**
 * Replaces `?` as the driver does. The name contains a digest of the text, because behind a pooler another version of this
 * service may have prepared a different statement on the same connection.
 */
function toDriver({ name, text }: PreparedStatement): PreparedStatement {
  let count = 0;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return { name: `${name}-${hash}`, text: text.replace(/\?/g, () => `$${++count}`) };
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}
