import { GatewayError } from '../contract/values/errors/errors.ts';

/** Returns a `bad_request` error for one parameter of the caller, named by its path: `messages[2].content[0]`. */
export function badParam(param: string, problem: string): GatewayError {
  return new GatewayError('bad_request', { message: `${param}: ${problem}`, param });
}
