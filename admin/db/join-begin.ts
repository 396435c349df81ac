/** The part of a `pg` client used here; `pg` has no types of its own. */
interface Client {
  query(...parameters: unknown[]): unknown;
}

/** Statements that the ORM sends first in each transaction: `begin`, and the beginning of the one that sets the session variables. */
const begin = 'begin';
const session = 'select set_config(';

/** Limits of a transaction in milliseconds, which the server applies. */
export interface TransactionLimits {
  /** Longest pause between two statements. */
  readonly idleMs: number;
  /** Longest wait for a lock. */
  readonly lockMs: number;
}

/**
 * Returns a listener for new clients of a pool. It holds `begin` and the variables of the session back, and sends them with the first statement
 * of the transaction in one message. This saves two round trips per transaction. A transaction without statements sends nothing.
 * The server ends a transaction that exceeds the limits (null: none). If the network loses a connection, the server does not notice for two hours,
 * and the locks of a transaction on it would block all later ones. A statement that waits for a lock would get it and hold it in its turn.
 * The result of a message with several statements is that of the last one.
 */
export function joinBegin(limits: TransactionLimits | null): (client: Client) => void {
  const beginning =
    limits === null
      ? `${begin}; `
      : `${begin}; set local idle_in_transaction_session_timeout = ${limits.idleMs}; set local lock_timeout = ${limits.lockMs}; `;
  return (client) => joinBeginOf(client, beginning);
}

function joinBeginOf(client: Client, beginning: string): void {
  const query = client.query.bind(client);
  /** Statements to send first, each with a semicolon at its end. */
  let held = '';
  client.query = (...parameters) => {
    const [text, values] = parameters;
    const isPlain = typeof text === 'string' && (values === undefined || (Array.isArray(values) && values.length === 0));
    if (!isPlain) {
      // A statement with values cannot share a message with others, so the held statements are sent before it. If they fail, it fails too,
      // in an aborted transaction.
      if (held !== '') void (query(held) as Promise<unknown>).catch(() => {});
      held = '';
      return query(...parameters);
    }
    if (text === begin || (held !== '' && text.startsWith(session))) {
      held += text === begin ? beginning : `${text}; `;
      return Promise.resolve(nothing);
    }
    const first = held;
    held = '';
    if (first !== '' && (text === 'commit' || text === 'rollback')) return Promise.resolve(nothing);
    return (query(first + text, values) as Promise<unknown>).then((results) =>
      Array.isArray(results) ? results.at(-1) : results,
    );
  };
}

const nothing = { command: '', rowCount: 0, rows: [] };
