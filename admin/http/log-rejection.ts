import type { JsonObject } from '../../core/contract/values/json.ts';
import type { Log } from '../../core/contract/values/log.ts';
import { createLogLimit } from '../../core/contract/values/log-limit.ts';
import type { AdminError } from './errors.ts';

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

/** Returns a function that writes one line at `info` per rejected request, within the limit of lines per second. */
export function createRejectionLog(log: Log): LogRejection {
  const admit = createLogLimit(log);
  return (error, request) => {
    if (admit(request.keyId !== null)) log.info({ status: error.status, code: error.code, ...request }, 'request rejected');
  };
}
