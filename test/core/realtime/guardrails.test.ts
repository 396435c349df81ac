import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type RealtimeGateway, realtimePath, shareRealtimeGateway } from '../../support/product/realtime-gateway.ts';
import { until, within } from '../../support/until.ts';

let realtime: RealtimeGateway;
beforeAll(async () => {
  realtime = await shareRealtimeGateway();
});
afterAll(() => realtime?.close());

const secret = (more: JsonObject = {}) => ({
  'default.contains': { words: ['secret'], operator: 'none' },
  id: 'g',
  deny: true,
  ...more,
});

async function open(config: JsonObject) {
  const slug = await realtime.gateway.admin.createConfig(config);
  return realtime.open(realtimePath, { 'x-svc-config': slug });
}

const item = (text: string, event_id = 'e1') => ({
  ...{ type: 'conversation.item.create', event_id },
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const done = (text: string, id = 'r1') => ({
  type: 'response.done',
  response: {
    id,
    status: 'completed',
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
  },
});
const delta = (text: string, response_id = 'r1') => ({ type: 'response.output_text.delta', response_id, delta: text });
const parsed = (messages: readonly (string | Buffer)[]) => messages.map((message) => JSON.parse(String(message)) as JsonObject);

describe('guardrails of a realtime session', () => {
  it('keep a denied text message from the provider, report it to the client, and let the session continue', async () => {
    const { client, session } = await open({ input_guardrails: [secret()] });
    const sent = [
      item('hello', 'a'),
      item('a secret', 'b'),
      { type: 'response.create', response: { instructions: 'tell the secret' } },
      { type: 'response.create', response: { input: [item('one more secret').item] } },
      { type: 'an.unknown.event', anything: { deep: ['secret'] } },
      item('bye', 'c'),
      { type: 'response.cancel' },
    ];
    for (const event of sent) client.socket.send(JSON.stringify(event));
    await until(() => session.messages.length === 3 && client.messages.length === 4);
    expect(parsed(session.messages)).toEqual([sent[0], sent[5], sent[6]]);
    expect(parsed(client.messages)[0]).toMatchObject({
      type: 'error',
      error: { type: 'hooks_failed', event_id: 'b' },
      hook_results: { before_request_hooks: [{ id: 'g', verdict: false, deny: true }] },
    });
    client.socket.close(1000);
    const log = await realtime.logOf(client);
    const verdicts = (log.guardrails as { verdict: boolean }[]).map(({ verdict }) => verdict);
    expect([log.outcome, verdicts]).toEqual(['success', [true, false, false, false, false, true]]);
  });

  it('check the models that events name', async () => {
    const rule = { id: 'm', 'default.modelWhitelist': { models: ['gpt-realtime', 'whisper-1'] }, deny: true };
    const { client, session } = await open({ input_guardrails: [rule] });
    const update = (model: string) => ({
      ...{ type: 'session.update', event_id: model },
      session: { type: 'realtime', audio: { input: { transcription: { model } } } },
    });
    for (const model of ['gpt-4o-transcribe', 'whisper-1']) client.socket.send(JSON.stringify(update(model)));
    await until(() => session.messages.length === 1 && client.messages.length === 1);
    expect(parsed(session.messages)).toEqual([update('whisper-1')]);
    expect(parsed(client.messages)).toMatchObject([
      { type: 'error', error: { type: 'hooks_failed', event_id: 'gpt-4o-transcribe' } },
    ]);
    client.socket.terminate();
  });

  it.each([
    ['audio of the client', { type: 'input_audio_buffer.append', audio: 'AAAA' }],
    [
      'an item with audio',
      { type: 'conversation.item.create', item: { type: 'message', content: [{ type: 'input_audio', audio: 'AA' }] } },
    ],
    ['text that is not JSON', 'secret'],
    ['deep nesting', `{"type":"x.y","a":${'['.repeat(3000)}${']'.repeat(3000)}}`],
  ])('deny what their checks cannot read: %s', async (_name, event) => {
    const { client, session } = await open({ input_guardrails: [secret()] });
    client.socket.send(typeof event === 'string' ? event : JSON.stringify(event));
    await client.received(1);
    expect(parsed(client.messages)).toMatchObject([{ type: 'error', error: { type: 'hooks_failed' } }]);
    expect(session.messages).toEqual([]);
    client.socket.terminate();
  });

  it.each<[string, JsonObject]>([
    ['without deny', { input_guardrails: [secret({ deny: false })] }],
    ['that are asynchronous', { input_guardrails: [secret({ async: true })] }],
  ])('%s only record verdicts', async (_name, config) => {
    const { client, session } = await open(config);
    const audio = { type: 'input_audio_buffer.append', audio: 'AAAA' };
    for (const event of [item('a secret'), audio]) client.socket.send(JSON.stringify(event));
    await until(() => session.messages.length === 2);
    client.socket.close(1000);
    expect((await realtime.logOf(client)).guardrails).toMatchObject([{ id: 'g', verdict: false, deny: false }]);
  });

  it('hold the events of a response until it has passed, and others not', async () => {
    const { client, session } = await open({ output_guardrails: [secret()] });
    const limits = { type: 'rate_limits.updated', rate_limits: [] };
    const echo = { type: 'conversation.item.created', item: { role: 'user', content: [] } };
    for (const event of [delta('fine'), limits, echo]) session.socket.send(JSON.stringify(event));
    await client.received(2);
    expect(parsed(client.messages)).toEqual([limits, echo]);
    session.socket.send(JSON.stringify(done('fine')));
    await client.received(4);
    expect(parsed(client.messages).slice(2)).toEqual([delta('fine'), done('fine')]);
    client.socket.close(1000);
  });

  it('do not hold items that the client created or retrieved until a response ends', async () => {
    const { client, session } = await open({ output_guardrails: [secret()] });
    const output = { type: 'function_call_output', id: 'o', call_id: 'c', output: '{"temperature":20}' };
    const said = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'earlier' }] };
    const [added, restored, retrieved] = [
      { type: 'conversation.item.added', previous_item_id: null, item: output },
      { type: 'conversation.item.added', previous_item_id: 'o', item: said },
      { type: 'conversation.item.retrieved', item: said },
    ];
    for (const event of [added, restored, retrieved]) session.socket.send(JSON.stringify(event));
    await client.received(3);
    for (const event of [delta('fine'), restored, added]) session.socket.send(JSON.stringify(event));
    await client.received(4);
    session.socket.send(JSON.stringify(done('fine')));
    await client.received(7);
    expect(parsed(client.messages)).toEqual([added, restored, retrieved, added, delta('fine'), restored, done('fine')]);
    client.socket.close(1000);
  });

  it.each<[string, JsonObject[]]>([
    [
      'in an item that the client retrieves',
      [
        {
          type: 'conversation.item.retrieved',
          item: { type: 'message', role: 'assistant', content: [{ type: 'output_audio', transcript: 'a secret' }] },
        },
      ],
    ],
    ['in its text', [delta('a sec'), delta('ret'), done('a secret')]],
    [
      'in its transcript',
      [
        { type: 'response.output_audio.delta', response_id: 'r1', delta: 'AAAA' },
        {
          type: 'response.done',
          response: { id: 'r1', output: [{ content: [{ type: 'output_audio', transcript: 'a secret' }] }] },
        },
      ],
    ],
    ['beside another response that passed', [delta('a secret', 'r2'), delta('fine'), done('fine'), done('a secret', 'r2')]],
    [
      'in arguments of a tool',
      [{ type: 'response.done', response: { id: 'r1', output: [{ type: 'function_call', arguments: '{"a":"secret"}' }] } }],
    ],
    ['in deltas that its end does not repeat', [delta('a sec'), delta('ret'), { type: 'response.done', response: { id: 'r1' } }]],
    [
      'in a whole text that its end does not repeat',
      [
        { type: 'response.output_audio_transcript.done', response_id: 'r1', transcript: 'a secret' },
        { type: 'response.done', response: { id: 'r1', status: 'cancelled', output: [] } },
      ],
    ],
    [
      'in an item that its end does not repeat',
      [
        { type: 'response.output_item.done', response_id: 'r1', item: { type: 'function_call', arguments: '{"a":"secret"}' } },
        { type: 'response.done', response: { id: 'r1', output: [] } },
      ],
    ],
    [
      'in audio whose end has no transcript',
      [
        { type: 'response.output_audio.delta', response_id: 'r1', delta: 'AAAA' },
        { type: 'response.done', response: { id: 'r1', output: [] } },
      ],
    ],
    [
      'in audio without a transcript, beside settings of the response',
      [
        {
          type: 'response.created',
          response: { id: 'r1', output: [], max_output_tokens: 'inf', audio: { output: { voice: 'marin' } } },
        },
        { type: 'response.output_item.added', response_id: 'r1', item: { id: 'i', type: 'message', phase: 'final_answer' } },
        { type: 'response.output_audio.delta', response_id: 'r1', delta: 'AAAA' },
        { type: 'response.done', response: { id: 'r1', output: [], max_output_tokens: 'inf' } },
      ],
    ],
    [
      'nested too deeply to be read',
      [JSON.parse(`{"type":"response.done","response":{"id":"r1","output":${'['.repeat(3000)}${']'.repeat(3000)}}}`)],
    ],
    [
      'in audio without a transcript',
      [{ type: 'response.done', response: { id: 'r1', output: [{ content: [{ type: 'output_audio' }] }] } }],
    ],
    [
      'held with more than 8 MiB in the ends of others',
      [delta('fine'), ...Array.from({ length: 10 }, (_, i) => done('fine '.repeat(180_000), `other${i}`))],
    ],
  ])('end the session with an error event if a response is denied: %s', async (_name, events) => {
    const { client, session } = await open({ output_guardrails: [secret()] });
    for (const event of events) session.socket.send(JSON.stringify(event));
    const closed = await within(client.closed, 'the close frame');
    expect(closed.code).toBe(1008);
    expect(parsed(client.messages)).toMatchObject([
      { type: 'error', error: { type: 'hooks_failed' }, hook_results: { after_request_hooks: [{ verdict: false }] } },
    ]);
    expect(await realtime.logOf(client)).toMatchObject({ outcome: 'cut', error: { code: 'request_denied' } });
  });

  it('send a response at once and record its verdict with stream observe', async () => {
    const { client, session } = await open({ output_guardrails: [secret({ stream: 'observe' })] });
    for (const event of [delta('a secret'), done('a secret')]) session.socket.send(JSON.stringify(event));
    await client.received(2);
    client.socket.close(1000);
    expect((await realtime.logOf(client)).guardrails).toMatchObject([{ side: 'output', verdict: false }]);
  });

  it('end the session if the transcript of what the user said is denied', async () => {
    const config = {
      input_guardrails: [secret({ 'default.contains': { words: ['secret'], operator: 'none', failOnError: false } })],
    };
    const { client, session } = await open(config);
    client.socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio: 'AAAA' }));
    await until(() => session.messages.length === 1);
    const type = 'conversation.item.input_audio_transcription.completed';
    session.socket.send(JSON.stringify({ type, transcript: 'the secret' }));
    expect((await within(client.closed, 'the close frame')).code).toBe(1008);
  });

  it('are waited for in the order of the messages, also of the last ones before a close', async () => {
    // A text of this length is searched in a worker thread.
    const long = `${'x '.repeat(400_000)}end`;
    const { client, session } = await open({ input_guardrails: [secret()] });
    for (const text of [long, 'short']) client.socket.send(JSON.stringify(item(text)));
    client.socket.close(1000, 'bye');
    expect(await within(session.closed, 'the close frame')).toEqual({ code: 1000, reason: 'bye' });
    expect(parsed(session.messages)).toEqual([item(long), item('short')]);
  });
});

describe('guardrails of a realtime session read', () => {
  const created = (item: JsonObject) => JSON.stringify({ type: 'conversation.item.create', item });
  const part = (more: JsonObject) => created({ type: 'message', role: 'user', content: [more] });
  const updated = (session: JsonObject) => JSON.stringify({ type: 'session.update', session });

  it('every text of an event of the client, and no audio beside a text', async () => {
    const { client, session } = await open({ input_guardrails: [secret()] });
    const sent = [
      part({ type: 'input_audio', audio: 'AAAA', transcript: 'hello' }),
      part({ type: 'input_image', image_url: 'data:image/png;base64,AAAA', text: 'hello' }),
      part({ type: 'input_text', text: 'hello', transcript: 'secret' }),
      created({ type: 'message', role: 'user', content: 'a secret' }),
      created({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'a secret' }] }),
      created({ type: 'function_call', name: 'secret', arguments: '{}' }),
      created({ type: 'function_call', name: 'f', arguments: '{"a":"\\u0073ecret"}' }),
      created({ type: 'mcp_approval_response', approval_request_id: 'r', approve: false, reason: 'secret' }),
      updated({ tools: [{ type: 'function', name: 'f', parameters: { properties: { secret: {} } } }] }),
      updated({ audio: { input: { transcription: { model: 'm', prompt: 'secret' } } } }),
      JSON.stringify({ type: 'response.create', response: { input: [{ type: 'message', role: 'user', content: 'secret' }] } }),
      JSON.stringify({ type: 'response.create', response: { metadata: { a: 'secret' } } }),
    ];
    for (const event of sent) client.socket.send(event);
    const last = updated({ voice: 'secret', audio: { output: { voice: 'secret' } }, tool_choice: 'secret' });
    client.socket.send(last);
    await until(() => session.messages.length === 1 && client.messages.length === sent.length);
    expect(session.messages.map(String)).toEqual([last]);
    client.socket.close(1000);
  });

  it('the value of a name that is sent: of two values the provider gets the one that was checked', async () => {
    const { client, session } = await open({ input_guardrails: [secret()] });
    const twice = item('hello');
    client.socket.send(JSON.stringify(twice).replace('"text":"hello"', '"text":"secret","text":"hello"'));
    await until(() => session.messages.length === 1);
    expect(session.messages.map(String)).toEqual([JSON.stringify(twice)]);
    client.socket.close(1000);
  });

  it.each<[string, JsonObject[]]>([
    ['an error', [{ type: 'error', error: { message: 'a secret' } }]],
    ['an event of an unknown type', [{ type: 'note.added', note: 'a secret' }]],
    [
      'the error of a response',
      [{ type: 'response.done', response: { id: 'r', status_details: { error: { message: 'secret' } } } }],
    ],
    [
      'the name of a function',
      [{ type: 'response.done', response: { id: 'r', output: [{ type: 'function_call', name: 'secret' }] } }],
    ],
    ['content as a text', [{ type: 'response.done', response: { id: 'r', output: [{ type: 'message', content: 'secret' }] } }]],
    [
      'an error of a tool',
      [
        { type: 'response.output_item.done', response_id: 'r', item: { type: 'mcp_call', error: { message: 'secret' } } },
        done('x', 'r'),
      ],
    ],
  ])('%s of the provider', async (_name, events) => {
    const { client, session } = await open({ output_guardrails: [secret()] });
    for (const event of events) session.socket.send(JSON.stringify(event));
    await within(client.closed, 'the close frame');
    expect(client.messages.length).toBe(1);
    expect(String(client.messages[0])).toContain('hooks_failed');
    expect(String(client.messages[0])).not.toContain('secret"');
  });

  it('no form in an error, so that a check for one does not end the session', async () => {
    const check = { id: 'g', 'default.contains': { words: ['please'], operator: 'any' }, deny: true };
    const { client, session } = await open({ output_guardrails: [check] });
    const events = [{ type: 'error', error: { message: 'no' } }, done('yes, please')];
    for (const event of events) session.socket.send(JSON.stringify(event));
    await until(() => client.messages.length === 2);
    expect(parsed(client.messages)).toEqual(events);
    client.socket.close(1000);
  });
});
