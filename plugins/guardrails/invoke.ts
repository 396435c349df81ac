import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { GuardrailRule } from '../../core/contract/plugin/guardrails/guardrail-config.ts';
import type { GuardrailRecord } from '../../core/contract/plugin/guardrails/guardrail-result.ts';
import type { InvocationReply } from '../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import type { TextSide } from './checks/check.ts';
import { compileGuardrails } from './compile.ts';
import { isDenied, toHookResult, toRecord } from './hook-results.ts';
import { runGuardrails } from './run.ts';
import { textParts } from './texts.ts';

/**
 * Runs guardrails on a text as if it were the last message of a chat completion (`input`) or its reply (`output`). `ctx` is the context of
 * such a request. Asynchronous guardrails are waited for. Throws GatewayError `bad_request` for checks that cannot run on this side.
 */
export async function invokeGuardrails(
  ctx: RequestContext,
  rules: readonly GuardrailRule[],
  side: TextSide,
  text: string,
  services: CoreServices,
): Promise<{ reply: InvocationReply; records: GuardrailRecord[] }> {
  const errors: string[] = [];
  const waiting = rules.map((rule) => ({ ...rule, async: false, stream: null }));
  const guardrails = compileGuardrails(waiting, side, services, errors);
  if (errors.length > 0) throw new GatewayError('bad_request', { message: errors.join('; '), errors });
  const body = bodyOf(side, text, ctx.model);
  const { results, body: changed } = await runGuardrails(guardrails, ctx, body, services.clock);
  const after = changed === body ? text : textOf(side, changed);
  return {
    reply: {
      verdict: results.every(({ verdict }) => verdict),
      denied: results.some(isDenied),
      transformed: changed !== body,
      text: after,
      results: results.map((result) => toHookResult(result)),
    },
    records: results.map((result) => toRecord(result, null)),
  };
}

function bodyOf(side: TextSide, content: string, model: string | null): JsonObject {
  if (side === 'input') return { ...(model === null ? {} : { model }), messages: [{ role: 'user', content }] };
  return { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] };
}

function textOf(side: TextSide, body: JsonObject): string {
  return textParts('chatComplete', side, body, 'last_message')
    .map(({ text }) => text)
    .join('\n');
}
