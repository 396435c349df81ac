import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../../../core/contract/json.ts';
import { type BlockPiece, wholeBlocks } from '../../../../core/providers/shared/gemini/reply-parts.ts';
import { eventsIn, type ProviderFetch } from './provider-fetch.ts';
import type { Format } from './scenarios.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and replies of three clients
type Any = any;

/**
 * The reply as the official client of the format puts it together, plain or streamed, in one form for both: ids that are made
 * anew for each reply are left out, arguments are values.
 */
export async function readByClient(
  format: Format,
  made: ProviderFetch,
  params: JsonObject,
  stream: boolean,
): Promise<JsonObject> {
  const options = { apiKey: 'k', baseURL: 'http://gateway.test', maxRetries: 0, fetch: made.fetch as Any };
  if (format === 'messages') {
    const client = new Anthropic(options);
    const message: Any = stream
      ? await client.messages.stream(params as Any).finalMessage()
      : await client.messages.create(params as Any);
    const { content, stop_reason, stop_sequence, usage, model } = message;
    return { content, stop_reason, stop_sequence, model, usage: countsOf(usage) };
  }
  const client = new OpenAI(options);
  if (format === 'responses') {
    const response: Any = stream
      ? await client.responses.stream(params as Any).finalResponse()
      : await client.responses.create(params as Any);
    const { status, incomplete_details, output, usage, model } = response;
    return { status, incomplete_details, model, usage, output: output.map(comparableItem) };
  }
  const asked: Any = stream ? { ...params, stream: true, stream_options: { include_usage: true } } : params;
  const runner = stream ? client.chat.completions.stream(asked) : null;
  const completion: Any = runner ? await runner.finalChatCompletion() : await client.chat.completions.create(asked);
  const { message, finish_reason } = completion.choices[0];
  const calls = (message.tool_calls ?? []).map((call: Any) => [call.id, call.function.name, JSON.parse(call.function.arguments)]);
  const blocks = stream ? blocksOfChunks(made.replies.at(-1) ?? '') : message.content_blocks;
  return {
    content: message.content || null,
    refusal: message.refusal ?? null,
    calls,
    finish_reason,
    usage: completion.usage,
    // Arguments of a block are whole only in `tool_calls`, which are compared above.
    blocks: blocks?.map((block: Any) => (block.type === 'tool_use' ? { type: block.type, id: block.id } : block)),
  };
}

function comparableItem({ id: _id, parsed_arguments: _parsed, ...item }: Any): JsonObject {
  if (item.type === 'function_call') return { ...item, arguments: JSON.parse(item.arguments) };
  if (item.type !== 'message') return item;
  return { ...item, content: item.content.map(({ parsed: _, ...part }: Any) => part) };
}

function countsOf(usage: Any): JsonObject {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } = usage;
  return { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens };
}

function blocksOfChunks(text: string): JsonObject[] | undefined {
  const pieces = eventsIn(text)
    .flatMap((chunk) => (chunk.choices ?? []) as Any[])
    .flatMap((choice) => (choice.delta?.content_blocks ?? []) as BlockPiece[]);
  if (pieces.length === 0) return undefined;
  return wholeBlocks(pieces.map(({ index, delta }) => ({ index, delta: withoutFragments(delta) }))).filter(Boolean);
}

function withoutFragments({ partial_json: _, ...delta }: JsonObject): JsonObject {
  return delta;
}
