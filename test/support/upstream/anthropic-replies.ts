import { sampleJson } from '../samples/sample-json.ts';
import type { Exchange } from './fake-upstream.ts';
import { textOf } from './openai-replies.ts';
import { countWords, namedEvent, sendEvents, sendJson, toPieces } from './send-events.ts';

// biome-ignore lint/suspicious/noExplicitAny: a fake provider takes whatever it is sent
type Json = any;

const headers = { 'request-id': 'req_fake' };

/** `POST /messages`, plain or streamed: Anthropic API reference, message object and streaming events. */
export async function replyMessages({ response }: Exchange, body: Json): Promise<void> {
  if (body.max_tokens === undefined) {
    const error = { type: 'invalid_request_error', message: 'max_tokens: Field required' };
    sendJson(response, 400, { type: 'error', error, request_id: 'req_fake' }, headers);
    return;
  }
  const last = (body.messages ?? []).at(-1);
  const result = Array.isArray(last?.content) ? last.content.find((part: Json) => part.type === 'tool_result') : undefined;
  const tools: Json[] = body.tools ?? [];
  const callsTool = tools.length > 0 && !result && body.tool_choice?.type !== 'none';
  const tool = tools.find((candidate) => candidate.name === body.tool_choice?.name) ?? tools[0];
  const text = result ? `The tool said: ${textOf(result.content)}` : `You said: ${textOf(last?.content)}`;
  const block = callsTool
    ? { type: 'tool_use', id: 'toolu_fake0001', name: tool.name, input: sampleJson(tool.input_schema) }
    : { type: 'text', text };
  const usage = {
    input_tokens: countWords((body.messages ?? []).map((message: Json) => textOf(message.content)).join(' ')),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: countWords(callsTool ? JSON.stringify(block.input) : text),
    service_tier: 'standard',
  };
  const stop = { stop_reason: callsTool ? 'tool_use' : 'end_turn', stop_sequence: null };
  const message = { id: 'msg_fake0001', type: 'message', role: 'assistant', model: body.model };
  if (!body.stream) {
    sendJson(response, 200, { ...message, content: [block], ...stop, usage }, headers);
    return;
  }
  const opening = { ...message, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } };
  const events: Json[] = [
    { type: 'message_start', message: opening },
    {
      type: 'content_block_start',
      index: 0,
      content_block: callsTool ? { ...block, input: {} } : { type: 'text', text: '' },
    },
    { type: 'ping' },
    ...deltas(block).map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage: { output_tokens: usage.output_tokens } },
    { type: 'message_stop' },
  ];
  await sendEvents(response, events.map(namedEvent), headers);
}

function deltas(block: Json): Json[] {
  if (block.type === 'text') return toPieces(block.text).map((text) => ({ type: 'text_delta', text }));
  const json = JSON.stringify(block.input);
  const half = Math.ceil(json.length / 2);
  return ['', json.slice(0, half), json.slice(half)].map((part) => ({ type: 'input_json_delta', partial_json: part }));
}
