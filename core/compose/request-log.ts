import type { Settings } from '../../config/settings.ts';
import type { RequestRecord } from '../contract/plugin/record/record.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import type { Log } from '../contract/values/log/log.ts';
import { createLogLimit } from '../contract/values/log/log-limit.ts';

export interface RequestLogOptions {
  readonly log: Log;
  readonly level: Settings['logLevel'];
  /** Calls back once after a time in milliseconds; the system's timers if not given. */
  readonly after?: (ms: number, callback: () => void) => void;
}

/**
 * Returns what writes one log line per request: rejected and failed requests at `info`, the others at `debug`. A line holds no
 * content, no header and no address. Lines above the limit per second are counted, and the count is logged. Returns null if
 * LOG_LEVEL hides all of these lines.
 */
export function createRequestLog({ log, level, after }: RequestLogOptions): ((record: RequestRecord) => void) | null {
  const debug = level === 'debug' || level === 'trace';
  if (!debug && level !== 'info') return null;
  const admit = createLogLimit(log, after);
  return (record) => {
    if (record.outcome === 'success' && record.status < 400) {
      if (debug) log.debug(fieldsOf(record), 'request served');
    } else if (admit(record.apiKeyId !== null)) {
      log.info(fieldsOf(record), messages[record.outcome]);
    }
  };
}

const messages: Readonly<Record<RequestRecord['outcome'], string>> = {
  success: 'request failed',
  refused: 'request rejected',
  failed: 'request failed',
  aborted: 'client disconnected before the end of the reply',
  cut: 'reply cut off',
  open: 'session open',
  interrupted: 'gateway process killed during the call',
};

function fieldsOf(record: RequestRecord): JsonObject {
  return {
    status: record.status,
    code: record.errorCode,
    method: record.method,
    route: record.endpoint,
    path: record.path.slice(0, 200),
    provider: record.providerSlug ?? record.provider,
    attempts: record.attempts.length,
    durationMs: record.durationMs,
    requestId: record.id,
    traceId: record.traceId,
    keyId: record.apiKeyId,
    workspaceId: record.workspaceId,
  };
}
