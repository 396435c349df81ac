import { Counter, type Registry } from 'prom-client';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import { createLogLimit } from '../../core/contract/values/log/log-limit.ts';
import { failureFields } from '../failure-fields.ts';
import { AccessRefusal, type AdminError } from './errors.ts';

/** The fields of a log line for a rejected request: ids and the route's pattern, no content. */
interface RejectedRequest extends JsonObject {
  readonly route: string;
  readonly requestId: string | null;
  /** Null if the request had no known key. */
  readonly keyId: string | null;
  readonly workspaceId: string | null;
  readonly durationMs: number;
}

export type LogRejection = (error: AdminError, request: RejectedRequest) => void;

/**
 * Returns a function that writes one line per rejected request, within the limit of lines per second, and counts refusals of
 * access: those that belong to no known organisation have no audit entry. The line is at `info`. It is a warning with the text of the error
 * if something that the request needs did not reply, such as an agent or an identity provider: the stack would add nothing.
 */
export function createRejectionLog(log: Log, registry: Registry): LogRejection {
  const admit = createLogLimit(log);
  const refusals = new Counter({
    name: 'svc_access_refusals_total',
    help: 'Refused sign-ins and credentials at the control plane by reason',
    labelNames: ['reason'],
    registers: [registry],
  });
  return (error, request) => {
    const reason = error instanceof AccessRefusal ? { reason: error.reason } : {};
    if (error instanceof AccessRefusal) refusals.inc({ reason: error.reason });
    if (!admit(request.keyId !== null)) return;
    const fields = { status: error.status, code: error.code, ...reason, ...request };
    if (error.code === 'AB10') log.warn({ ...fields, reason: error.message }, 'request failed');
    else log.info(fields, 'request rejected');
  };
}

interface Logs {
  readonly log: Pick<Log, 'error'>;
  readonly logRejection: LogRejection;
}

/** Logs why a request failed: a rejection, or an exception with its stack. `thrown` is the value from which `error` was made. */
export function logFailedRequest(
  { log, logRejection }: Logs,
  thrown: unknown,
  error: AdminError,
  request: RejectedRequest,
): void {
  if (error.status < 500 || error === thrown) return logRejection(error, request);
  const { requestId, route } = request;
  log.error({ requestId, code: error.code, route, ...failureFields(thrown) }, 'admin request failed');
}
