import { OptimisticLockError, UniqueConstraintViolationException } from '@mikro-orm/core';
import { ClickHouseError } from '../../clickhouse/clickhouse.ts';
import { type DatabaseProblem, isStatementLate, problemOfError } from '../../database-problem.ts';
import { ConnectionsBusy } from '../../db/tenant-turns.ts';
import { isDatabaseAway } from '../../is-database-away.ts';
import { ObjectStoreError } from '../../object-store/object-store.ts';
import { DataKeyError } from '../../secrets/data-key.ts';
import { EncryptionKeyError } from '../../secrets/key-checks.ts';
import { TooManyRequests } from '../caller/rate-limit.ts';
import { AdminError } from '../errors.ts';

const busyText = 'Requests of this organisation hold its share of the database connections (DB_POOL_SIZE). Try again shortly';

const keyText = 'This control plane does not have the ENCRYPTION_KEY of the database. Its operator must set it';

/** A search of many records fails the same way when it is sent again. */
export const lateText =
  'The database did not reply in time. If the request reads many records, shorten its time range. Otherwise try again shortly';

/** Messages of the database quote rows and paths, so replies name only the kind of the problem. */
const databaseTexts: Readonly<Record<DatabaseProblem, string>> = {
  unreachable: 'The database cannot be reached',
  'read-only': 'The database is read-only, such as a standby',
  'disk-full': 'The disk of the database is full',
  'disk-failed': 'The disk of the database is read-only or fails',
};

/** Converts any thrown value to the error for the caller. Unknown errors become 500 without their text. */
export function toAdminError(thrown: unknown): AdminError {
  if (thrown instanceof AdminError) return thrown;
  if (thrown instanceof UniqueConstraintViolationException) {
    return new AdminError('AB07', takenText(thrown));
  }
  if (thrown instanceof OptimisticLockError)
    return new AdminError('AB07', 'Another request changed the item at the same time. Try again');
  if (thrown instanceof ObjectStoreError)
    return new AdminError('AB10', 'The object store (OBJECT_STORE) cannot be reached. Try again shortly');
  if (thrown instanceof ClickHouseError && thrown.isTemporary)
    return new AdminError('AB10', 'ClickHouse (ANALYTICS_URL) does not reply in time. Try again shortly');
  // Another control plane has replaced the key since this one has started.
  if (thrown instanceof DataKeyError || thrown instanceof EncryptionKeyError) return new AdminError('AB10', keyText);
  if (thrown instanceof ConnectionsBusy) return new AdminError('AB10', busyText);
  if (isStatementLate(thrown)) return new AdminError('AB10', lateText);
  if (isDatabaseAway(thrown)) return new AdminError('AB10', `${databaseTexts[problemOfError(thrown)]}. Try again shortly`);
  return new AdminError('AB04', 'Something went wrong');
}

/** Converts every error to a reply: `{success: false, data: {message, errorCode, errors?}}`. */
export function errorReply(error: AdminError, extraHeaders: Record<string, string>): Response {
  const data = { message: error.message, errorCode: error.code, ...(error.errors ? { errors: error.errors } : {}) };
  return reply({ success: false, data }, error, extraHeaders);
}

/** Converts every error to a reply in the form of RFC 6749, which OAuth clients read. */
export function oauthErrorReply(error: AdminError, extraHeaders: Record<string, string>): Response {
  const isTemporary = error.status === 429 || error.status === 503;
  const code = isTemporary ? 'temporarily_unavailable' : error.status >= 500 ? 'server_error' : 'invalid_request';
  return reply({ error: code, error_description: error.message }, error, extraHeaders);
}

function reply(body: object, error: AdminError, extraHeaders: Record<string, string>): Response {
  const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8', ...extraHeaders };
  if (error.status === 503) headers['retry-after'] = '1';
  if (error instanceof TooManyRequests) headers['retry-after'] = String(error.retryAfterSeconds);
  return new Response(JSON.stringify(body), { status: error.status, headers });
}

/** Names the field, by the end of the constraint's name. With row-level security the database states no columns. */
function takenText(thrown: UniqueConstraintViolationException): string {
  const { constraint } = thrown as { constraint?: unknown };
  const [, field] = /_(slug|name|email|domain)(?:_key)?$/.exec(String(constraint)) ?? [];
  return field === undefined
    ? 'Something with this name or slug already exists'
    : `${field}: something with this ${field} already exists`;
}
