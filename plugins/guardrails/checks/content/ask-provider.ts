import * as v from 'valibot';
import type { OwnOperation } from '../../../../core/contract/plugin/services/provider-call.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { CallError, callFailed } from '../call-service.ts';
import type { CheckServices, Outcome, Subject } from '../check.ts';

/** Parameters of a check that calls a stored provider. */
export const providerCall = (model?: string) => ({
  provider: v.pipe(v.string(), v.regex(/^@[\w.-]{1,255}$/, 'expected a stored provider such as @openai-prod')),
  model: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(255)), model ?? ''),
  timeout: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(60_000)), 5000),
});

interface Asked {
  readonly reply: JsonObject;
  /** The outcome if the reply cannot be read. */
  unreadable(): Outcome;
}

/** Calls a stored provider for a check. The call leaves a record of its own, and its costs count for the caller. */
export async function askProvider(
  { callProvider }: CheckServices,
  subject: Subject,
  { provider, model, timeout }: { provider: string; model: string; timeout: number },
  operation: OwnOperation,
  params: JsonObject,
): Promise<Asked | { failed: Outcome }> {
  const failed = (name: string, message: string): Outcome =>
    callFailed(new CallError(name, message), { explanation: `${provider}: ${message}` });
  if (!callProvider) return { failed: failed('Error', 'calls to providers are not possible here') };
  try {
    const call = { purpose: 'guardrail', operation, provider, params: { model, ...params }, timeoutMs: timeout } as const;
    const reply = await callProvider({ request: subject.ctx, ...call });
    return { reply, unreadable: () => failed('Error', 'the reply has an unexpected form') };
  } catch (thrown) {
    const code = thrown instanceof GatewayError ? thrown.code : 'internal';
    return code === 'request_timeout'
      ? { failed: failed('TimeoutError', `Request timed out after ${timeout}ms`) }
      : { failed: failed('CallError', `the call failed with ${code}`) };
  }
}
