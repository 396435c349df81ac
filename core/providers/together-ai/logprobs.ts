import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { withChoices } from '../../formats/openai/with-choices.ts';

/**
 * Log probabilities (https://docs.together.ai/reference/chat-completions-1). `logprobs` is a number of alternatives instead of a
 * switch. A reply lists tokens and probabilities apart, and a chunk has the probability of its token.
 */

/** Returns a chat request with the number of alternatives in `logprobs`. Returns the same object if nothing changes. */
export function withLogprobsCount(params: JsonObject, call: OperationCall): JsonObject {
  const { logprobs, top_logprobs: top, ...others } = params;
  if (typeof logprobs !== 'boolean') return params;
  if (!logprobs) return others;
  noteOnce(call.adapted, 'logprobs');
  return { ...others, logprobs: typeof top === 'number' ? Math.max(1, top) : 1 };
}

/** Returns a reply or chunk with log probabilities in OpenAI's form. Returns the same object if it has none. */
export function withLogprobs(reply: JsonObject): JsonObject {
  return withChoices(reply, shapedChoice);
}

function shapedChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const content = contentOf(choice);
  if (content !== null) return { ...choice, logprobs: { content, refusal: null } };
  // The token of a chunk without text, such as one of a tool call. Clients expect an object or null.
  return typeof choice.logprobs === 'number' ? { ...choice, logprobs: null } : choice;
}

function contentOf({ logprobs, delta, top_logprobs: top }: JsonObject): JsonObject[] | null {
  if (typeof logprobs === 'number') {
    return isObject(delta) && typeof delta.content === 'string' ? [entry(delta.content, logprobs, top)] : null;
  }
  if (!isObject(logprobs) || !Array.isArray(logprobs.tokens) || !Array.isArray(logprobs.token_logprobs)) return null;
  const { tokens, token_logprobs: values, top_logprobs: tops } = logprobs;
  return tokens.map((token, index) => entry(String(token), values[index], Array.isArray(tops) ? tops[index] : null));
}

function entry(token: string, logprob: unknown, top: unknown): JsonObject {
  const others = isObject(top) ? Object.entries(top).map(([text, value]) => tokenOf(text, value)) : [];
  return { ...tokenOf(token, logprob), top_logprobs: others };
}

function tokenOf(token: string, logprob: unknown): JsonObject {
  return { token, logprob: logprob ?? null, bytes: [...Buffer.from(token)] };
}
