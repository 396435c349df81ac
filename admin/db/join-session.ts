import type { AbstractSqlConnection } from '@mikro-orm/postgresql';

/**
 * Sends a statement of a tenant together with the variables of its session in one message. The ORM by itself opens a transaction for
 * them, which takes four round trips instead of one. PostgreSQL runs the statements of a message in one implicit transaction, and the
 * variables end with it.
 * Transactions of the unit of work and of `em.transactional` are unchanged. A call of the entity manager that sends several statements
 * outside of them, such as `upsert`, is not one transaction.
 */
export function joinSession(connection: AbstractSqlConnection): void {
  const transactional = connection.transactional.bind(connection);
  connection.transactional = async (work, options = {}) => {
    const { ctx, eventBroadcaster, sessionContext, isolationLevel, readOnly } = options;
    const needsTransaction = [ctx, eventBroadcaster, isolationLevel, readOnly].some((option) => option !== undefined);
    if (needsTransaction || !sessionContext?.variables || sessionContext.role) return transactional(work, options);
    const prefix = `${sessionStatement(sessionContext.variables)}; `;
    const executeQuery: Execute = (query, abort) =>
      connection.getClient().executeQuery({ ...query, sql: prefix + query.sql }, abort);
    // The ORM uses no other member of a transaction that it opens for one statement.
    return work({ executeQuery } as never);
  };
}

/** The form in which the ORM sends a statement: values are part of its text. */
type Execute = (query: CompiledQuery, options?: object) => Promise<unknown>;
type CompiledQuery = Extract<Parameters<Executor['executeQuery']>[0], { sql: string }>;
type Executor = ReturnType<AbstractSqlConnection['getClient']>;

function sessionStatement(variables: Readonly<Record<string, unknown>>): string {
  const calls = Object.entries(variables).map(([name, value]) => `set_config(${quoted(name)}, ${quoted(String(value))}, true)`);
  return `select ${calls.join(', ')}`;
}

function quoted(text: string): string {
  if (/['\\\0]/.test(text)) throw new Error('a variable of a session contains a quote, a backslash or a zero byte');
  return `'${text}'`;
}
