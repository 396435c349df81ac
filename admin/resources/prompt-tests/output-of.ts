import { textCharsMax } from '../../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import { isObject, textOrNull } from '../../../core/contract/values/json/json.ts';
import type { ModelReply } from '../../http/gateways/send-to-gateway.ts';

/** Returns the text of a completion: its content, else its tool calls as JSON. For other replies, the message of the error. */
export function outputOf({ status, body }: ModelReply): { readonly output: string | null; readonly error: string | null } {
  if (status < 200 || status >= 300) return { output: null, error: (errorOf(body) ?? `status ${status}`).slice(0, 2_000) };
  return { output: textOf(body).slice(0, textCharsMax), error: null };
}

function textOf(body: unknown): string {
  const choice = isObject(body) && Array.isArray(body.choices) ? body.choices[0] : undefined;
  if (!isObject(choice)) return JSON.stringify(body);
  if (typeof choice.text === 'string') return choice.text;
  const { content = null, tool_calls: toolCalls = null } = isObject(choice.message) ? choice.message : {};
  if (typeof content === 'string' && (content !== '' || toolCalls === null)) return content;
  return JSON.stringify(content ?? toolCalls ?? '');
}

function errorOf(body: unknown): string | null {
  if (!isObject(body)) return textOrNull(body);
  const { error, message } = body;
  if (isObject(error) && typeof error.message === 'string') return error.message;
  return typeof message === 'string' ? message : JSON.stringify(body);
}
