import type { GatewayError } from '../errors/errors.ts';
import { overloaded } from '../errors/overloaded.ts';

/** The error of a request for whose body the process has no memory at the moment. */
export function noBodyMemory(): GatewayError {
  return overloaded('The gateway has no memory for further bodies (BODY_MEMORY_MAX)');
}

/** The error of a request whose workspace holds its share of the memory for bodies. */
export function noMoreOfShare(): GatewayError {
  return overloaded('The bodies of this workspace hold its share of the memory for bodies (BODY_MEMORY_MAX)');
}
