import { GatewayError } from './errors.ts';

/** The error of a request for which the process has no room at the moment. `reason` is a sentence without its full stop. */
export function overloaded(reason: string): GatewayError {
  return new GatewayError('overloaded', { message: `${reason}. Try again shortly`, retryAfterMs: 1000 });
}
