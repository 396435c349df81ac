import type { TokenFetch } from '../contract/provider/sign-services.ts';
import { reasonOf } from '../contract/values/errors/errors.ts';
import type { Log } from '../contract/values/log/log.ts';
import { createLogLimit } from '../contract/values/log/log-limit.ts';

/** Returns the same calls, with a log line for each that fails. The line has the full reason, which organisations cannot read. */
export function logFailedCalls(calls: Pick<TokenFetch, 'fetch'>, log: Log): Pick<TokenFetch, 'fetch'> {
  const admit = createLogLimit(log);
  return {
    async fetch(request) {
      try {
        return await calls.fetch(request);
      } catch (error) {
        const origin = URL.parse(request.url)?.origin ?? null;
        if (admit(true)) log.info({ origin, reason: reasonOf(error).slice(0, 300) }, 'call for the control plane failed');
        throw error;
      }
    },
  };
}
