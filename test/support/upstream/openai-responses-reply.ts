import { sampleJson } from '../samples/sample-json.ts';
import type { Exchange } from './fake-upstream.ts';
import { textOf } from './openai-replies.ts';
import { countWords, namedEvent, sendEvents, sendJson, toPieces } from './send-events.ts';

// biome-ignore lint/suspicious/noExplicitAny: a fake provider takes whatever it is sent
type Json = any;

const headers = { 'x-request-id': 'req_fake', 'openai-version': '2020-10-01' };

/** `POST /responses`, plain or streamed: OpenAI API reference, response object and its streaming events. */
export async function replyResponse({ response }: Exchange, body: Json): Promise<void> {
  const items: Json[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : (body.input ?? []);
  const last = items.at(-1);
  const tool = (body.tools ?? []).find((candidate: Json) => candidate.type === 'function');
  const callsTool = tool !== undefined && last?.type !== 'function_call_output' && body.tool_choice !== 'none';
  const text = body.text?.format?.type === 'json_schema' ? JSON.stringify(sampleJson(body.text.format.schema)) : spoken(last);
  const output = callsTool
    ? {
        id: 'fc_fake0001',
        type: 'function_call',
        status: 'completed',
        call_id: 'call_fake0001',
        name: tool.name,
        arguments: JSON.stringify(sampleJson(tool.parameters)),
      }
    : {
        id: 'msg_fake0001',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      };
  const inputTokens = countWords(items.map((item) => textOf(item.content)).join(' '));
  const outputTokens = countWords(callsTool ? output.arguments : text);
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
  const snapshot = (status: string, items: Json[], counted: Json) => ({
    id: 'resp_fake0001',
    object: 'response',
    created_at: 1_760_000_000,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    model: body.model,
    output: items,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: body.text ?? { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    usage: counted,
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  });
  const whole = snapshot('completed', [output], usage);
  if (!body.stream) {
    sendJson(response, 200, whole, headers);
    return;
  }
  const started = snapshot('in_progress', [], null);
  const events: Json[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...(callsTool ? functionCallEvents(output) : messageEvents(output, text)),
    { type: 'response.completed', response: whole },
  ];
  const texts = events.map(({ type, ...rest }, index) => namedEvent({ type, sequence_number: index, ...rest }));
  await sendEvents(response, texts, headers);
}

function messageEvents(output: Json, text: string): Json[] {
  const location = { item_id: output.id, output_index: 0, content_index: 0 };
  const empty = { type: 'output_text', text: '', annotations: [], logprobs: [] };
  return [
    { type: 'response.output_item.added', output_index: 0, item: { ...output, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...location, part: empty },
    ...toPieces(text).map((delta) => ({ type: 'response.output_text.delta', ...location, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...location, text, logprobs: [] },
    { type: 'response.content_part.done', ...location, part: { ...empty, text } },
    { type: 'response.output_item.done', output_index: 0, item: output },
  ];
}

function functionCallEvents(output: Json): Json[] {
  const location = { item_id: output.id, output_index: 0 };
  const half = Math.ceil(output.arguments.length / 2);
  const parts = [output.arguments.slice(0, half), output.arguments.slice(half)];
  return [
    { type: 'response.output_item.added', output_index: 0, item: { ...output, status: 'in_progress', arguments: '' } },
    ...parts.map((delta) => ({ type: 'response.function_call_arguments.delta', ...location, delta })),
    { type: 'response.function_call_arguments.done', ...location, name: output.name, arguments: output.arguments },
    { type: 'response.output_item.done', output_index: 0, item: output },
  ];
}

function spoken(last: Json): string {
  return last?.type === 'function_call_output' ? `The tool said: ${last.output}` : `You said: ${textOf(last?.content)}`;
}
