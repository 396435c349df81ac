import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';

/** A line for Anthropic's billing at the beginning of the system text, as Claude Code writes it. */
const billingLine = /^x-anthropic-billing-header:[^\n]*(?:\n|$)/;

/**
 * Returns the `system` of a Messages call without this line. It differs between conversations, in many versions of Claude Code between requests,
 * and providers that cache prompts by their beginning would never find one: every turn would cost the full price of its input.
 */
export function withoutBillingLine(system: unknown, call: OperationCall): unknown {
  const list = Array.isArray(system);
  const [first, ...others]: unknown[] = list ? system : [system];
  const text = isObject(first) ? first.text : first;
  if (typeof text !== 'string' || !billingLine.test(text)) return system;
  noteOnce(call.adapted, 'system');
  const rest = text.replace(billingLine, '');
  if (!list) return rest;
  return rest === '' ? others : [isObject(first) ? { ...first, text: rest } : rest, ...others];
}
