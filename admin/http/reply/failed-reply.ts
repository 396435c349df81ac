import { randomUUID } from 'node:crypto';
import type { AdminServices } from '../admin-services.ts';
import { logFailedRequest } from '../log-rejection.ts';
import { errorReply, toAdminError } from './write-error.ts';

/**
 * Logs the error of a request to a route outside the tables of routes, and returns its reply. `x-request-id` of the reply is in the
 * log line.
 */
export function failedReply(services: Pick<AdminServices, 'log' | 'logRejection'>, thrown: unknown, route: string): Response {
  const error = toAdminError(thrown);
  const requestId = randomUUID();
  logFailedRequest(services, thrown, error, { route, requestId, keyId: null, workspaceId: null, durationMs: 0 });
  return errorReply(error, { 'x-request-id': requestId });
}
