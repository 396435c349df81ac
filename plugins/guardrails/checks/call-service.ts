import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { HeaderList } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { within } from '../../../core/contract/values/time/within.ts';
import type { CheckServices, Outcome } from './check.ts';

/** A call of a check to another service failed. The message holds nothing that the service sent. */
export class CallError extends Error {
  /** For the log: with host and error code, which callers do not see. */
  readonly reason: string;

  constructor(name: string, message: string, reason = `${name}: ${message}`) {
    super(message);
    this.name = name;
    this.reason = reason;
  }
}

/** The address may not be called, so the check can never run. The message is shown in results. */
export class BlockedAddress extends Error {}

/** Sends JSON to a service and returns status and body. Rejects with CallError, or BlockedAddress. */
export async function callService(
  { fetch }: CheckServices,
  call: { url: string; headers: HeaderList; body?: JsonObject | string; timeoutMs: number },
): Promise<{ status: number; body: Uint8Array }> {
  const { url, headers, body, timeoutMs } = call;
  const lateText = `Request timed out after ${timeoutMs}ms`;
  const late = () => new CallError('TimeoutError', lateText, `${new URL(url).host}: ${lateText}`);
  try {
    return await within(fetch({ url, headers, ...(body === undefined ? {} : { body }) }), timeoutMs, late);
  } catch (thrown) {
    if (thrown instanceof CallError) throw thrown;
    if (isBlocked(thrown)) throw new BlockedAddress('The service of the check was not called: this address may not be called');
    throw new CallError(
      'TypeError',
      'fetch failed',
      `${new URL(url).host}: ${thrown instanceof GatewayError ? thrown.code : 'fetch failed'}`,
    );
  }
}

/** Returns true if `services.fetch` rejected because the address may not be called. */
export function isBlocked(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.source === 'client';
}

/** Returns the outcome of a check whose service has failed. Throws BlockedAddress: such a check counts as one that cannot run. */
export function callFailed(thrown: unknown, data: JsonObject | null): Outcome {
  if (thrown instanceof BlockedAddress) throw thrown;
  const error = thrown instanceof CallError ? thrown : new CallError('Error', 'the check failed');
  return { verdict: false, data, error: { name: error.name, message: error.message }, reason: error.reason };
}
