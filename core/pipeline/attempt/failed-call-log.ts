import type { GatewayError } from '../../contract/values/errors/errors.ts';
import type { Log } from '../../contract/values/log/log.ts';
import { createLogLimit } from '../../contract/values/log/log-limit.ts';
import type { ResolvedTarget } from '../target/build-target.ts';

/** Logs the reason of an attempt that ended without a usable response. `unsigned`: its credential could not be fetched. */
export type LogFailedCall = (
  error: GatewayError,
  resolved: Pick<ResolvedTarget, 'adapter' | 'slug' | 'origin'>,
  traceId: string,
  unsigned: boolean,
) => void;

const logged: ReadonlySet<string> = new Set([
  ...['invalid_custom_host', 'overloaded', 'upstream_connect', 'upstream_invalid', 'upstream_reset'],
]);

/**
 * Returns what writes one line per failed call with the text of the runtime (refused connection, unknown host, bad certificate) or of
 * the token service, which the client does not receive. The lines per second are limited.
 */
export function createFailedCallLog(log: Log): LogFailedCall {
  const admit = createLogLimit(log);
  return (error, { adapter, slug, origin }, traceId, unsigned) => {
    if (error.detail === null || !(unsigned || logged.has(error.code)) || !admit(true)) return;
    const reason = error.detail.slice(0, 300);
    const message = unsigned ? 'the credential of a provider could not be fetched' : 'call to a provider failed';
    log.info({ code: error.code, provider: slug ?? adapter.id, origin, reason, traceId }, message);
  };
}
