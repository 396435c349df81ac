import { GatewayError } from '../errors/errors.ts';

/** The error of a request for whose body the process has no memory at the moment. */
export function noBodyMemory(): GatewayError {
  return new GatewayError('overloaded', {
    message: 'The gateway has no memory for further bodies (BODY_MEMORY_MAX). Try again shortly',
    retryAfterMs: 1000,
  });
}
