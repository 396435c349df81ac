import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { chunkFrames } from '../../bedrock/frames.ts';
import type { ModelReply } from '../scenarios.ts';
import { halves, named, type Wire } from './wire.ts';

const ends = { end: 'end_turn', length: 'max_tokens', filter: 'refusal', 'stop-sequence': 'stop_sequence', calls: 'tool_use' };

/** https://platform.claude.com/docs/en/api/messages */
export const anthropic: Wire = {
  plain: (reply) => ({
    ...head,
    content: blocksOf(reply),
    stop_reason: ends[reply.end],
    stop_sequence: reply.end === 'stop-sequence' ? 'END' : null,
    usage: usageOf(reply),
  }),
  stream(reply) {
    const opening = {
      ...head,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usageOf(reply), output_tokens: 1 },
    };
    return [
      { type: 'message_start', message: opening },
      { type: 'ping' },
      ...blocksOf(reply).flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: openingOf(block) },
        ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: ends[reply.end], stop_sequence: reply.end === 'stop-sequence' ? 'END' : null },
        usage: usageOf(reply),
      },
      { type: 'message_stop' },
    ].map(named);
  },
  fault: named({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  limited: { type: 'error', error: { type: 'rate_limit_error', message: 'Rate limit reached' }, request_id: 'req_1' },
};

/** The same inside the frames of InvokeModelWithResponseStream. */
export const anthropicOnBedrock: Wire = {
  ...anthropic,
  frames: chunkFrames,
  streamType: 'application/vnd.amazon.eventstream',
  limited: { message: 'Too many requests' },
};

const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5-20250929' };

function blocksOf({ thoughts, sealed, text, calls }: ModelReply): JsonObject[] {
  return [
    ...(thoughts ?? []).map((thought) => ({ type: 'thinking', thinking: thought.text, signature: thought.signature })),
    ...(sealed === undefined ? [] : [{ type: 'redacted_thinking', data: sealed }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(calls ?? []).map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
  ];
}

function openingOf(block: JsonObject): JsonObject {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return block.type === 'tool_use' ? { ...block, input: {} } : block;
}

function deltasOf(block: JsonObject): JsonObject[] {
  if (block.type === 'text') return halves(String(block.text)).map((text) => ({ type: 'text_delta', text }));
  if (block.type === 'tool_use') {
    const text = JSON.stringify(block.input);
    const pieces = text === '{}' ? [''] : ['', ...halves(text)];
    return pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  }
  if (block.type !== 'thinking') return [];
  const pieces = halves(String(block.thinking)).map((thinking): JsonObject => ({ type: 'thinking_delta', thinking }));
  return [...pieces, { type: 'signature_delta', signature: block.signature }];
}

function usageOf({ tokens }: ModelReply): JsonObject {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: tokens.cached,
    output_tokens: tokens.output,
    ...(tokens.thought > 0 ? { output_tokens_details: { thinking_tokens: tokens.thought } } : {}),
  };
}
