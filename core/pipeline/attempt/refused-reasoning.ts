import type { Target } from '../../contract/plugin/plan.ts';
import { type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import type { AttemptReply } from '../attempt-reply.ts';
import type { OutgoingOptions } from './outgoing-call.ts';

/**
 * "The encrypted content for item rs_1 could not be verified" (https://github.com/openai/codex/issues/3573), "Encrypted content organization_id
 * did not match the target organization", and "Invalid `signature` in `thinking` block".
 */
const cannotRead = /encrypted content.{0,2000}?(could not be|did not match)|invalid `?signature`? in `?thinking/is;

/**
 * Returns the options with which the call is sent once more, if the provider has refused it because it holds reasoning that another
 * provider or account has encrypted or signed. Null if the provider has not, with `strict_params`, and if the call holds no reasoning: an error
 * may quote the request, and pass-through calls would be sent unchanged.
 */
export function withoutRefusedReasoning(
  reply: AttemptReply,
  { strictParams }: Target,
  options: OutgoingOptions,
): OutgoingOptions | null {
  if (reply.kind !== 'plain' || reply.status !== 400 || strictParams) return null;
  if (reply.call === null || !cannotRead.test(reply.error?.message.slice(0, messageCharsMax) ?? '')) return null;
  return holdsReasoning(reply.call.params) ? { ...options, withoutReasoning: true } : null;
}

function holdsReasoning({ input, messages }: JsonObject): boolean {
  const isAny = (blocks: unknown): boolean => objectsIn(blocks).some(({ type }) => reasoningTypes.has(type));
  return isAny(input) || objectsIn(messages).some(({ content, content_blocks }) => isAny(content) || isAny(content_blocks));
}

/** A provider could repeat the beginning of the text in an error of many megabytes. */
const messageCharsMax = 4096;

const reasoningTypes: ReadonlySet<unknown> = new Set(['reasoning', 'thinking', 'redacted_thinking']);
