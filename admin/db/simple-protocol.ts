/** The parts of PGlite used here. */
interface Embedded extends Sender {
  transaction<T>(work: (transaction: Sender) => Promise<T>): Promise<T | undefined>;
}

interface Sender {
  query(sql: string, values?: unknown[], options?: object): Promise<unknown>;
  exec(sql: string, options?: object): Promise<unknown[]>;
}

/**
 * Sends statements without parameters as one message instead of five. The ORM writes values into its statements, so this concerns all of
 * them. The result of several statements is that of the last one.
 */
export function useSimpleProtocol(database: Embedded): void {
  const transaction = database.transaction.bind(database);
  database.query = senderOf(database);
  database.transaction = (work) => transaction((tx) => work({ ...tx, query: senderOf(tx) }));
}

function senderOf(sender: Sender): Sender['query'] {
  const query = sender.query.bind(sender);
  return async (sql, values, options) =>
    values && values.length > 0 ? query(sql, values, options) : (await sender.exec(sql, options)).at(-1);
}
