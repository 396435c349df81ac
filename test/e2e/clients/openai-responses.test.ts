import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { cutMidStream, eventStream, reply } from '../../support/upstream/fake-upstream.ts';
import { namedEvent } from '../../support/upstream/send-events.ts';

/** The Responses API by its official client: of a provider that has it, and of one that is reached over chat completions. */
let gateway: SharedGatewayWithUpstream;
let native: OpenAI;
let overAnthropic: OpenAI;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
  const clientFor = async (provider: string) =>
    new OpenAI({ baseURL: gateway.baseUrl, apiKey: await gateway.keyFor({ provider }), maxRetries: 0 });
  native = await clientFor('@oai');
  overAnthropic = await clientFor('@ant');
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const kept = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'gpt-5',
  output: [],
  usage: { input_tokens: 5, output_tokens: 7 },
};

describe('a Responses stream that the provider cuts', () => {
  it.each([
    ['of a provider with the Responses API', () => native, '/v1/responses', { type: 'response.created', response: kept }],
    ['over chat completions', () => overAnthropic, '/v1/messages', { type: 'message_start', message: { id: 'm', usage: {} } }],
  ])('%s raises an error of the client', async (_, client, path, begun) => {
    gateway.upstream.once(path, cutMidStream([namedEvent(begun)], 'reset'));
    const stream = await client().responses.create({ model: 'm', input: 'hello', stream: true });
    const error = await (async () => {
      for await (const event of stream) expect(event.type).not.toBe('error');
    })().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect([error.code, error.type]).toEqual(['upstream_reset', 'upstream_error']);
  });
});

describe('stored responses of a provider', () => {
  it('are fetched with an unchanged query', async () => {
    gateway.upstream.once('/v1/responses/resp_1', reply(200, kept));
    const found = await native.responses.retrieve('resp_1', { include: ['reasoning.encrypted_content'] });
    expect(found.id).toBe('resp_1');
    expect(gateway.upstream.last.method).toBe('GET');
    expect(decodeURIComponent(gateway.upstream.last.query)).toContain('reasoning.encrypted_content');
  });

  it('are fetched as a stream from where it broke off, byte for byte', async () => {
    const done = { type: 'response.completed', sequence_number: 9, response: kept };
    gateway.upstream.once('/v1/responses/resp_1', eventStream([namedEvent(done)]));
    const types: string[] = [];
    for await (const event of await native.responses.retrieve('resp_1', { stream: true, starting_after: 8 }))
      types.push(event.type);
    expect(types).toEqual(['response.completed']);
    expect(gateway.upstream.last.query).toContain('starting_after=8');
  });

  it('are deleted', async () => {
    gateway.upstream.once('/v1/responses/resp_1', reply(200, { id: 'resp_1', object: 'response.deleted', deleted: true }));
    await native.responses.delete('resp_1');
    expect(gateway.upstream.last.method).toBe('DELETE');
  });

  it('are cancelled, and return their input items', async () => {
    gateway.upstream.once('/v1/responses/resp_1/cancel', reply(200, { ...kept, status: 'cancelled' }));
    expect((await native.responses.cancel('resp_1')).status).toBe('cancelled');
    expect(gateway.upstream.last.method).toBe('POST');
    const list = { object: 'list', data: [{ id: 'msg_1', type: 'message', role: 'user', content: [] }], has_more: false };
    gateway.upstream.once('/v1/responses/resp_1/input_items', reply(200, list));
    expect((await native.responses.inputItems.list('resp_1', { limit: 1 })).data).toHaveLength(1);
    expect(gateway.upstream.last.query).toContain('limit=1');
  });

  it('have their input counted, by a model with a slug', async () => {
    gateway.upstream.once('/v1/responses/input_tokens', reply(200, { object: 'response.input_tokens', input_tokens: 11 }));
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0 });
    const counted = await client.responses.inputTokens.count({ model: '@oai/gpt-5', input: 'hello' });
    expect(counted.input_tokens).toBe(11);
    expect(gateway.upstream.last.json()).toEqual({ model: 'gpt-5', input: 'hello' });
  });

  it('are counted when they are created, not when they are fetched', async () => {
    gateway.upstream.once('/v1/responses/resp_1', reply(200, kept));
    const { response } = await native.responses.retrieve('resp_1').withResponse();
    const log = await gateway.logOf(response.headers.get('x-svc-trace-id') as string);
    expect([log.input_tokens ?? 0, log.output_tokens ?? 0]).toEqual([0, 0]);
  });

  it.each([
    ['retrieve', 'GET /v1/responses', (client: OpenAI) => client.responses.retrieve('resp_1')],
    ['delete', 'DELETE /v1/responses', (client: OpenAI) => client.responses.delete('resp_1')],
    ['cancel', 'POST /v1/responses/{id}/cancel', (client: OpenAI) => client.responses.cancel('resp_1')],
    ['input items', 'GET /v1/responses', (client: OpenAI) => client.responses.inputItems.list('resp_1')],
    [
      'input tokens',
      'POST /v1/responses/input_tokens',
      (client: OpenAI) => client.responses.inputTokens.count({ model: 'm', input: 'x' }),
    ],
    ['compact', 'POST /v1/responses/compact', (client: OpenAI) => client.responses.compact({ model: 'm', input: 'x' })],
  ] as const)('do not exist where responses are served over chat completions: %s', async (_, route, ask) => {
    const error = await Promise.resolve(ask(overAnthropic)).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error.message).toContain(`${route} is only supported for native Responses API providers`);
    expect(error.message).toContain('anthropic');
    expect(gateway.upstream.requests).toHaveLength(0);
  });
});

describe('responses over Anthropic', () => {
  it('have the same content plain and streamed', async () => {
    const params = { model: 'claude-test', input: 'hello there', max_output_tokens: 100, store: false } as const;
    const plain = await overAnthropic.responses.create(params);
    expect(plain).toMatchObject({ object: 'response', status: 'completed', store: false, output_text: 'You said: hello there' });
    const streamed = await overAnthropic.responses.stream(params).finalResponse();
    expect([streamed.output_text, streamed.status, streamed.usage]).toEqual([plain.output_text, plain.status, plain.usage]);
    expect(gateway.upstream.last.path).toBe('/v1/messages');
  });

  it('reject unsupported parameters by name', async () => {
    const ask = (more: object) =>
      overAnthropic.responses.create({ model: 'claude-test', input: 'x', ...more }).catch((thrown: unknown) => thrown);
    for (const more of [{ previous_response_id: 'resp_1' }, { store: true }, { background: true }, { conversation: 'conv_1' }]) {
      const error = (await ask(more)) as InstanceType<typeof OpenAI.APIError>;
      expect([error.status, error.param]).toEqual([400, Object.keys(more)[0]]);
      expect(error.message).toContain('needs a provider with its own Responses API');
    }
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it('report tools that only OpenAI runs', async () => {
    const { data, response } = await overAnthropic.responses
      .create({ model: 'claude-test', input: 'x', store: false, tools: [{ type: 'web_search' }] })
      .withResponse();
    expect(data.status).toBe('completed');
    expect(response.headers.get('x-svc-dropped-params')).toBe('tools.web_search');
  });
});
