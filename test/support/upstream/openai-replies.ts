import { createHash } from 'node:crypto';
import { sampleJson } from '../samples/sample-json.ts';
import type { Exchange } from './fake-upstream.ts';
import { countWords, dataEvent, sendEvents, sendJson, toPieces } from './send-events.ts';

// biome-ignore lint/suspicious/noExplicitAny: a fake provider takes whatever it is sent
type Json = any;

const created = 1_760_000_000;
const headers = { 'x-request-id': 'req_fake', 'openai-processing-ms': '12', 'openai-version': '2020-10-01' };

/** `POST /chat/completions`, plain or streamed: OpenAI API reference, chat object and chat chunk object. */
export async function replyChatCompletion({ response }: Exchange, body: Json): Promise<void> {
  const turn = chooseTurn(body);
  const inputTokens = countWords((body.messages ?? []).map((message: Json) => textOf(message.content)).join(' '));
  const outputTokens = countWords(turn.content ?? turn.toolCalls?.map((call) => call.function.arguments).join(' '));
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
  const id = 'chatcmpl-fake0001';
  if (!body.stream) {
    const message = {
      role: 'assistant',
      content: turn.content,
      ...(turn.toolCalls ? { tool_calls: turn.toolCalls } : {}),
      refusal: null,
      annotations: [],
    };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: turn.finishReason }];
    const reply = {
      id,
      object: 'chat.completion',
      created,
      model: body.model,
      choices,
      usage,
      service_tier: 'default',
      system_fingerprint: 'fp_fake',
    };
    sendJson(response, 200, reply, headers);
    return;
  }
  const withUsage = body.stream_options?.include_usage === true;
  const chunk = (choices: Json[], last?: Json) => ({
    id,
    object: 'chat.completion.chunk',
    created,
    model: body.model,
    service_tier: 'default',
    system_fingerprint: 'fp_fake',
    choices,
    ...(withUsage ? { usage: last ?? null } : {}),
  });
  const delta = (value: Json, finish: string | null = null) =>
    dataEvent(chunk([{ index: 0, delta: value, logprobs: null, finish_reason: finish }]));
  const texts: string[] = [];
  if (turn.toolCalls) {
    for (const [index, call] of turn.toolCalls.entries()) {
      const opening = { index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } };
      texts.push(delta(index === 0 ? { role: 'assistant', content: null, tool_calls: [opening] } : { tool_calls: [opening] }));
      const half = Math.ceil(call.function.arguments.length / 2);
      for (const part of [call.function.arguments.slice(0, half), call.function.arguments.slice(half)]) {
        texts.push(delta({ tool_calls: [{ index, function: { arguments: part } }] }));
      }
    }
  } else {
    texts.push(delta({ role: 'assistant', content: '', refusal: null }));
    for (const piece of toPieces(turn.content ?? '')) texts.push(delta({ content: piece }));
  }
  texts.push(delta({}, turn.finishReason));
  if (withUsage) texts.push(dataEvent(chunk([], usage)));
  texts.push(dataEvent('[DONE]'));
  await sendEvents(response, texts, headers);
}

/** `POST /completions`, plain or streamed. */
export async function replyCompletion({ response }: Exchange, body: Json): Promise<void> {
  const prompt = Array.isArray(body.prompt) ? body.prompt.join(' ') : String(body.prompt ?? '');
  const text = ` You said: ${prompt}`;
  const usage = {
    prompt_tokens: countWords(prompt),
    completion_tokens: countWords(text),
    total_tokens: countWords(prompt) + countWords(text),
  };
  const reply = (choice: Json, extra: Json = {}) => ({
    id: 'cmpl-fake0001',
    object: 'text_completion',
    created,
    model: body.model,
    choices: choice === null ? [] : [{ index: 0, logprobs: null, ...choice }],
    ...extra,
  });
  if (!body.stream) {
    sendJson(response, 200, reply({ text, finish_reason: 'stop' }, { usage }), headers);
    return;
  }
  const texts = toPieces(text).map((piece) => dataEvent(reply({ text: piece, finish_reason: null })));
  texts.push(dataEvent(reply({ text: '', finish_reason: 'stop' })));
  if (body.stream_options?.include_usage) texts.push(dataEvent(reply(null, { usage })));
  texts.push(dataEvent('[DONE]'));
  await sendEvents(response, texts, headers);
}

/**
 * `POST /embeddings`: as numbers or, with `encoding_format: base64`, as little-endian float32. The same text has the same vector.
 */
export function replyEmbeddings({ response }: Exchange, body: Json): void {
  const inputs: unknown[] = Array.isArray(body.input) && typeof body.input[0] !== 'number' ? body.input : [body.input];
  const dimensions = typeof body.dimensions === 'number' ? body.dimensions : 8;
  const data = inputs.map((input, index) => {
    const vector = vectorOf(JSON.stringify(input), dimensions);
    const embedding = body.encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const tokens = inputs.reduce<number>((sum, input) => sum + (typeof input === 'string' ? countWords(input) : 1), 0);
  sendJson(
    response,
    200,
    { object: 'list', data, model: body.model, usage: { prompt_tokens: tokens, total_tokens: tokens } },
    headers,
  );
}

interface Turn {
  readonly content: string | null;
  readonly toolCalls?: readonly { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  readonly finishReason: string;
}

function chooseTurn(body: Json): Turn {
  const messages: Json[] = body.messages ?? [];
  const last = messages.at(-1);
  const tools: Json[] = (body.tools ?? []).filter((tool: Json) => tool?.type === 'function');
  if (tools.length > 0 && last?.role !== 'tool' && body.tool_choice !== 'none') {
    const wanted = body.tool_choice?.function?.name;
    const tool = tools.find((candidate) => candidate.function.name === wanted) ?? tools[0];
    const call = { name: tool.function.name, arguments: JSON.stringify(sampleJson(tool.function.parameters)) };
    return { content: null, toolCalls: [{ id: 'call_fake0001', type: 'function', function: call }], finishReason: 'tool_calls' };
  }
  const format = body.response_format;
  if (format?.type === 'json_schema') {
    return { content: JSON.stringify(sampleJson(format.json_schema?.schema)), finishReason: 'stop' };
  }
  if (format?.type === 'json_object') return { content: '{"answer":"sample"}', finishReason: 'stop' };
  if (last?.role === 'tool') return { content: `The tool said: ${textOf(last.content)}`, finishReason: 'stop' };
  return { content: `You said: ${textOf(last?.content)}`, finishReason: 'stop' };
}

/** Returns the text of a message's content, a string or a list of parts. */
export function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part === 'string' ? part : (part?.text ?? ''))).join('');
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (let i = 0; i < dimensions; i++) {
    vector[i] = createHash('sha256').update(`${i}:${text}`).digest().readInt16LE(0) / 32_768;
  }
  return vector;
}
