import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { google } from '../../../../core/providers/google/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { responsesOverChat } from '../../../../core/translate/responses-over-chat/responses-over-chat.ts';
import { callOf, translated } from '../../providers/contract-suite.ts';

const operation = responsesOverChat(openai.operations.chatComplete as Operation, ['content_blocks']);
const params = { model: 'm', input: 'x', stream: true, metadata: { run: '7' } };
const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): StreamEvent => ({
  event: null,
  data: { id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish, ...more }] },
});
const done: StreamEvent = { event: null, data: '[DONE]' };

function streamed(...events: StreamEvent[]): JsonObject[] {
  const sent = translated(operation, events, callOf(params, {}, {}));
  for (const { event, data } of sent) expect(isObject(data) && data.type).toBe(event);
  return sent.map(({ data }) => data as JsonObject);
}

function plain(message: JsonObject, more: JsonObject = {}): JsonObject {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...more };
  return operation.fromProvider?.({ id: 'c1', model: 'm', choices: [choice] }, callOf(params, {}, {})) ?? {};
}

const types = (events: readonly JsonObject[]) => events.map((event) => event.type);
const outputOf = (events: readonly JsonObject[]) => (events.at(-1) as { response: JsonObject }).response.output;

it('Responses stream: a text has the whole sequence of typed events, numbered without gaps', () => {
  const events = streamed(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hi' }), chunk({}, 'stop'), done);
  expect(types(events)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.at(-1)).toMatchObject({ response: { metadata: { run: '7' }, status: 'completed', store: false } });
});

it('Responses stream: each event shows the state at its time', () => {
  const events = streamed(chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({}, 'stop'), done);
  expect(events[0]).toMatchObject({ response: { output: [], status: 'in_progress', usage: null } });
  expect(events[2]).toMatchObject({ item: { content: [], status: 'in_progress' } });
});

it('Responses stream: parallel calls with mixed arguments stay separate', () => {
  const call = (index: number, more: JsonObject) => chunk({ tool_calls: [{ index, ...more }] });
  const events = streamed(
    call(0, { id: 'a', function: { name: 'f', arguments: '{"n":' } }),
    call(1, { id: 'b', function: { name: 'g', arguments: '' } }),
    call(0, { function: { arguments: '1}' } }),
    call(1, { function: { arguments: '{}' } }),
    chunk({}, 'tool_calls'),
    done,
  );
  expect(outputOf(events)).toMatchObject([
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"n":1}', status: 'completed' },
    { type: 'function_call', call_id: 'b', name: 'g', arguments: '{}', status: 'completed' },
  ]);
  const places = events
    .filter(({ type }) => type === 'response.function_call_arguments.delta')
    .map((event) => event.output_index);
  expect(places).toEqual([0, 0, 1]);
});

it('Responses stream: a call without arguments has the delta {}, as its last event', () => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'now', arguments: '' } };
  const events = streamed(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'), done);
  const of = (type: string) => events.filter((event) => event.type === `response.function_call_arguments.${type}`);
  expect([of('delta').map(({ delta }) => delta), of('done').map((event) => event.arguments)]).toEqual([['{}'], ['{}']]);
});

it('Responses stream: a native block is sent before the content that follows it', () => {
  const gemini = responsesOverChat(google.operations.chatComplete as Operation, ['content_blocks']);
  const call = callOf(params, {}, {});
  const part = (given: JsonObject, more: JsonObject = {}) => ({
    event: null,
    data: { candidates: [{ index: 0, content: { role: 'model', parts: [given] }, ...more }] },
  });
  const code = part({ executableCode: { code: 'x' } });
  const drawn = part({ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, { finishReason: 'STOP' });
  const events = translated(gemini, [code, drawn], call).map(({ data }) => data as JsonObject);
  expect((outputOf(events) as JsonObject[]).map(({ type }) => type)).toEqual(['reasoning', 'image_generation_call']);
});

it('Responses stream: a call that is cut in its arguments is incomplete', () => {
  const call = { index: 0, id: 'a', function: { name: 'f', arguments: '{"n":' } };
  const events = streamed(chunk({ tool_calls: [call] }), chunk({}, 'length'), done);
  expect(events.at(-1)).toMatchObject({
    type: 'response.incomplete',
    response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
  });
  expect(outputOf(events)).toMatchObject([{ status: 'incomplete', arguments: '{"n":' }]);
});

it('Responses stream: a call of a custom tool has the events of its input', () => {
  const first = { index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: '' } };
  const piece = (input: string) => chunk({ tool_calls: [{ index: 0, custom: { input } }] });
  const events = streamed(chunk({ tool_calls: [first] }), piece('x\n'), piece('}'), chunk({}, 'tool_calls'), done);
  const item = { type: 'custom_tool_call', call_id: 'a', name: 'patch' };
  const id = (events[2] as { item: JsonObject }).item.id;
  expect(id).toMatch(/^ctc_/);
  expect(events.slice(2, -1)).toMatchObject([
    { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '', status: 'in_progress' } },
    { type: 'response.custom_tool_call_input.delta', item_id: id, output_index: 0, delta: 'x\n' },
    { type: 'response.custom_tool_call_input.delta', item_id: id, output_index: 0, delta: '}' },
    { type: 'response.custom_tool_call_input.done', item_id: id, output_index: 0, input: 'x\n}' },
    { type: 'response.output_item.done', output_index: 0, item: { ...item, id, input: 'x\n}', status: 'completed' } },
  ]);
  expect(plain({ content: null, tool_calls: [{ ...first, custom: { name: 'patch', input: 'x\n}' } }] }).output).toMatchObject(
    outputOf(events) as JsonObject[],
  );
});

it('Responses stream: only the last call of a custom tool is incomplete in a cut reply', () => {
  const call = (index: number, input: string) => ({ index, id: `c${index}`, type: 'custom', custom: { name: 'patch', input } });
  const events = streamed(
    chunk({ tool_calls: [call(0, 'x')] }),
    chunk({ tool_calls: [call(1, 'y')] }),
    chunk({}, 'length'),
    done,
  );
  expect(outputOf(events)).toMatchObject([
    { type: 'custom_tool_call', status: 'completed', input: 'x' },
    { type: 'custom_tool_call', status: 'incomplete', input: 'y' },
  ]);
});

it('Responses stream: a complete stream is closed without [DONE], a cut one is not', () => {
  expect(types(streamed(chunk({ content: 'a' }), chunk({}, 'stop'))).at(-1)).toBe('response.completed');
  expect(types(streamed(chunk({ content: 'a' }))).at(-1)).toBe('response.output_text.delta');
});

it.each<StreamEvent>([
  { event: null, data: { message: 'm', type: 'server_error', code: 'c' } },
  { event: null, data: { detail: 'm' } },
  { event: 'error', data: 'm' },
])('Responses stream: is failed after the error %j', (error) => {
  expect(streamed(chunk({ content: 'a' }), error, done).at(-1)).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'server_error', message: 'm' } },
  });
});

it('Responses stream: an error has the format of the API, after the content so far', () => {
  const error = { event: null, data: { error: { message: 'too many', type: 'rate_limit_error' } } };
  const events = streamed(chunk({ content: 'a' }), error, chunk({ content: 'late' }), done);
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'too many' } },
  });
  expect(types(events).filter((type) => type === 'response.output_text.delta')).toHaveLength(1);
});

describe('plain and streamed Responses replies', () => {
  it('a refusal is a part of its own', () => {
    const events = streamed(chunk({ content: 'Well.' }), chunk({ refusal: 'No.' }), chunk({}, 'stop'), done);
    const content = [
      { type: 'output_text', text: 'Well.', annotations: [], logprobs: [] },
      { type: 'refusal', refusal: 'No.' },
    ];
    expect(outputOf(events)).toMatchObject([{ type: 'message', content }]);
    expect(plain({ content: 'Well.', refusal: 'No.' }).output).toMatchObject([{ type: 'message', content }]);
  });

  it('log probabilities belong to their text', () => {
    const logprobs = { content: [{ token: 'Hi', logprob: -0.1, top_logprobs: [] }] };
    const events = streamed(chunk({ content: 'Hi' }, null, { logprobs }), chunk({}, 'stop'), done);
    const expected = [{ content: [{ text: 'Hi', logprobs: logprobs.content }] }];
    expect(outputOf(events)).toMatchObject(expected);
    expect(plain({ content: 'Hi' }, { logprobs }).output).toMatchObject(expected);
  });

  it('citations are annotations of the text', () => {
    const annotations = [
      { type: 'url_citation', url_citation: { start_index: 0, end_index: 2, url: 'https://e.com', title: 'E' } },
    ];
    const expected = [{ type: 'url_citation', start_index: 0, end_index: 2, url: 'https://e.com', title: 'E' }];
    const events = streamed(chunk({ content: 'Hi' }), chunk({ annotations }), chunk({}, 'stop'), done);
    expect(outputOf(events)).toMatchObject([{ content: [{ annotations: expected }] }]);
    expect(plain({ content: 'Hi', annotations }).output).toMatchObject([{ content: [{ annotations: expected }] }]);
  });

  it('generated images are items', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }];
    const expected = [{ type: 'message' }, { type: 'image_generation_call', status: 'completed', result: 'iVBORw0KGgo=' }];
    expect(outputOf(streamed(chunk({ content: 'Here' }), chunk({ images }), chunk({}, 'stop'), done))).toMatchObject(expected);
    expect(plain({ content: 'Here', images }).output).toMatchObject(expected);
  });

  it('text that is cut after an image is incomplete', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }];
    const events = streamed(chunk({ content: 'Be' }), chunk({ images }), chunk({ content: 'r' }), chunk({}, 'length'), done);
    expect(outputOf(events)).toMatchObject([{ type: 'message', status: 'incomplete' }, { type: 'image_generation_call' }]);
  });

  it('an image within a word of a stream does not divide the text, as in a plain reply', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }];
    const events = streamed(chunk({ content: 'Be' }), chunk({ images }), chunk({ content: 'rn' }), chunk({}, 'stop'), done);
    const expected = [{ type: 'message', content: [{ text: 'Bern' }] }, { type: 'image_generation_call' }];
    expect(outputOf(events)).toMatchObject(expected);
    expect(plain({ content: 'Bern', images }).output).toMatchObject(expected);
    const items = events.filter(({ type }) => String(type).startsWith('response.output_item.'));
    expect(items.map(({ type, output_index: index }) => [type, index])).toEqual([
      ['response.output_item.added', 0],
      ['response.output_item.added', 1],
      ['response.output_item.done', 1],
      ['response.output_item.done', 0],
    ]);
  });

  it('reasoning, texts and calls keep the order of the model', () => {
    const blocks = [
      { type: 'thinking', thinking: 'one', signature: 's1' },
      { type: 'text', text: 'first' },
      { type: 'thinking', thinking: 'two', signature: 's2' },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
    ];
    const toolCall = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const kinds = ['reasoning', 'message', 'reasoning', 'function_call'];
    const whole = plain({ content: 'first', tool_calls: [toolCall], content_blocks: blocks });
    expect((whole.output as JsonObject[]).map((item) => item.type)).toEqual(kinds);
    const piece = (index: number, delta: JsonObject, more: JsonObject = {}) =>
      chunk({ ...more, content_blocks: [{ index, delta }] });
    const events = streamed(
      piece(0, { type: 'thinking', thinking: 'one', signature: '' }),
      piece(0, { signature: 's1' }),
      piece(1, { type: 'text', text: 'first' }, { content: 'first' }),
      piece(2, { type: 'thinking', thinking: 'two', signature: '' }),
      piece(2, { signature: 's2' }),
      piece(3, { type: 'tool_use', id: 'a' }, { tool_calls: [{ index: 0, ...toolCall }] }),
      chunk({}, 'tool_calls'),
      done,
    );
    expect((outputOf(events) as JsonObject[]).map(({ id: _, ...item }) => item)).toEqual(
      (whole.output as JsonObject[]).map(({ id: _, ...item }) => item),
    );
  });

  it('reasoning has a status, which clients of xAI require', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: '' };
    const statuses = (finish: string) =>
      streamed(chunk({ content_blocks: [{ index: 0, delta: thinking }] }), chunk({}, finish), done)
        .filter(({ type }) => String(type).startsWith('response.output_item.'))
        .map(({ item }) => (item as JsonObject).status);
    expect(statuses('stop')).toEqual(['in_progress', 'completed']);
    expect(statuses('length')).toEqual(['in_progress', 'incomplete']);
    expect(plain({ content_blocks: [thinking] }).output).toMatchObject([{ type: 'reasoning', status: 'completed' }]);
  });
});

it.each([
  [{ code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' }, 'rate_limit_exceeded'],
  [{ code: 500, message: 'm', status: 'INTERNAL' }, 'server_error'],
])('Responses stream: the error %j of a provider has the code that clients retry by', (error, code) => {
  const over = responsesOverChat(google.operations.chatComplete as Operation);
  const text = { event: null, data: { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hi' }] } }] } };
  const last = translated(over, [text, { event: null, data: { error } }], callOf(params, {}, {})).at(-1);
  expect(last).toMatchObject({ event: 'response.failed', data: { response: { status: 'failed', error: { code } } } });
});
