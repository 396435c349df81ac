import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { type BlockPiece, wholeBlocks } from '../../../../core/formats/gemini/chat/reply-parts.ts';
import { eventsIn, type ProviderFetch } from './provider-fetch.ts';
import type { Format } from './scenarios.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and replies of three clients
type Any = any;

/**
 * The reply as the official client of the format assembles it, in one form for plain and streamed replies. Ids that are generated for
 * each reply are left out, and arguments are parsed.
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
  const beyond = stream ? beyondOfChunks(made.replies.at(-1) ?? '') : beyondOfMessage(message);
  return {
    content: message.content || null,
    refusal: message.refusal ?? null,
    calls,
    finish_reason,
    usage: completion.usage,
    ...beyond,
    // Arguments of a block are complete only in `tool_calls`, which are compared above.
    blocks: (beyond.blocks ?? []).map((block: Any) => (block.type === 'tool_use' ? { type: block.type, id: block.id } : block)),
  };
}

/** Fields of a message that the official client does not assemble from deltas. */
interface Beyond {
  readonly reasoning: string;
  readonly annotations: JsonObject[];
  readonly images: JsonObject[];
  readonly blocks: JsonObject[] | undefined;
}

function beyondOfMessage(message: Any): Beyond {
  const { reasoning_content: reasoning = '', annotations = [], images = [], content_blocks: blocks } = message;
  return { reasoning, annotations, images, blocks };
}

function beyondOfChunks(text: string): Beyond {
  const deltas = eventsIn(text).flatMap(({ choices }: Any) => (choices ?? []).map((choice: Any) => choice.delta ?? {}));
  return {
    reasoning: deltas.map(({ reasoning_content: said = '' }) => said).join(''),
    annotations: deltas.flatMap(({ annotations = [] }) => annotations),
    images: deltas.flatMap(({ images = [] }) => images),
    blocks: blocksOf(deltas.flatMap(({ content_blocks: pieces = [] }) => pieces)),
  };
}

function comparableItem({ id: _id, parsed_arguments: _parsed, ...item }: Any): JsonObject {
  if (item.type === 'function_call') return { ...item, arguments: JSON.parse(item.arguments) };
  if (item.type !== 'message') return item;
  return { ...item, content: item.content.map(({ parsed: _, ...part }: Any) => part) };
}

function countsOf(usage: Any): JsonObject {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens, output_tokens_details } = usage;
  return { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens, output_tokens_details };
}

/** Blocks put together from their pieces: texts append, citations are collected, arguments are parsed at the end. */
function blocksOf(pieces: readonly BlockPiece[]): JsonObject[] | undefined {
  if (pieces.length === 0) return undefined;
  const cited = new Map<number, unknown[]>();
  const inputs = new Map<number, string>();
  const plain = pieces.map(({ index, delta: { partial_json: input, citation, ...delta } }) => {
    if (citation !== undefined) cited.set(index, [...(cited.get(index) ?? []), citation]);
    if (typeof input === 'string') inputs.set(index, (inputs.get(index) ?? '') + input);
    return { index, delta };
  });
  const blocks = wholeBlocks(plain);
  for (const [index, citations] of cited) blocks[index] = { ...blocks[index], citations };
  for (const [index, input] of inputs) blocks[index] = { ...blocks[index], input: JSON.parse(input) };
  return blocks.filter(Boolean);
}
