import { Portkey } from 'portkey-ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../../support/product/gateway-with-upstream.ts';
import { openaiError, reply, stallBeforeHead, stallMidStream } from '../../support/upstream/fake-upstream.ts';
import { dataEvent } from '../../support/upstream/send-events.ts';

/** A client made for another gateway: its headers have another prefix, which the setting HEADER_PREFIX_ALIASES accepts. */
let gateway: SharedGatewayWithUpstream;

beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

type Options = NonNullable<ConstructorParameters<typeof Portkey>[0]>;
const clientFor = (options: Options = { provider: '@oai' }) =>
  new Portkey({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, ...options });
const model = 'gpt-4o-mini';
const messages = [{ role: 'user' as const, content: 'hello there' }];
const path = '/v1/chat/completions';

describe('calls of the other gateway’s client', () => {
  it('get a plain chat with reply headers under the client’s prefix', async () => {
    const completion = await clientFor().chat.completions.create({ model, messages });
    expect(completion.choices?.[0]?.message?.content).toBe('You said: hello there');
    expect(completion.getHeaders()).toMatchObject({
      'trace-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'last-used-option-index': 'config',
      'retry-attempt-count': '0',
      provider: 'openai',
    });
  });

  it('get headers in the prefix of the request only', async () => {
    const headers = {
      'x-portkey-api-key': gateway.workspaceKey,
      'x-portkey-provider': '@oai',
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ model, messages });
    const response = await fetch(`${gateway.baseUrl}/chat/completions`, { method: 'POST', headers, body });
    const names = [...response.headers.keys()];
    expect(names.filter((name) => name.startsWith('x-portkey-')).length).toBeGreaterThanOrEqual(4);
    expect(names.filter((name) => name.startsWith('x-svc-'))).toEqual([]);
    const ours = await gateway.call('/chat/completions', { body: { model: `@oai/${model}`, messages } });
    expect([...ours.headers.keys()].filter((name) => name.startsWith('x-portkey-'))).toEqual([]);
  });

  it('rate the trace of a call, and change the rating', async () => {
    const client = clientFor({ provider: '@oai', traceID: 'rated-trace' });
    await client.chat.completions.create({ model, messages });
    // The declared type of the reply names its list of ids otherwise than the service that the client is made for.
    const idsOf = (saved: object) => (saved as { feedback_ids: string[] }).feedback_ids;
    const [id] = idsOf(
      await client.feedback.create({ traceID: 'rated-trace', value: 5, weight: 0.5, metadata: { _user: 'u1' } }),
    );
    expect(idsOf(await client.feedback.update({ feedbackID: id as string, value: -2 }))).toEqual([id]);
    const { _id } = await gateway.logOf('rated-trace');
    const log = await gateway.admin.get(`/logs/${_id}`);
    expect(log.body.feedbacks).toEqual([expect.objectContaining({ id, value: -2, weight: 1, guardrail_id: null })]);
  });

  it('stream a chat', async () => {
    const texts: string[] = [];
    for await (const chunk of await clientFor().chat.completions.create({ model, messages, stream: true })) {
      texts.push(String(chunk.choices?.[0]?.delta?.content ?? ''));
    }
    expect(texts.length).toBeGreaterThan(4);
    expect(texts.join('')).toBe('You said: hello there');
  });

  it('call tools, plain and streamed', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }];
    const plain = await clientFor().chat.completions.create({ model, messages, tools });
    expect(plain.choices?.[0]?.message?.tool_calls?.[0]).toMatchObject({ function: { name: 'look_up', arguments: '{}' } });
    const names: (string | undefined)[] = [];
    for await (const chunk of await clientFor().chat.completions.create({ model, messages, tools, stream: true })) {
      for (const call of chunk.choices?.[0]?.delta?.tool_calls ?? [])
        names.push((call as { function?: { name?: string } }).function?.name);
    }
    expect(names.filter(Boolean)).toEqual(['look_up']);
  });

  it('embed', async () => {
    const result = await clientFor().embeddings.create({ model: 'text-embedding-3-small', input: 'a text' });
    expect(result.data?.[0]?.embedding).toHaveLength(8);
    expect(gateway.upstream.last.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
  });
});

describe('options of the other gateway’s client', () => {
  it('can be a config object and the slug of a saved one', async () => {
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@oai' }, { provider: '@ant' }] };
    const slug = await gateway.admin.createConfig(config);
    for (const given of [config, slug]) {
      gateway.upstream.once(path, openaiError(500, 'broken'));
      const completion = await clientFor({ config: given }).chat.completions.create({ model, messages, max_tokens: 9 });
      expect(completion.choices?.[0]?.message?.content).toBe('You said: hello there');
      expect(completion.getHeaders()).toMatchObject({ 'last-used-option-index': 'config.targets[1]', provider: 'anthropic' });
    }
  });

  it('can name a provider by its slug as virtual key', async () => {
    await clientFor({ virtualKey: 'ant' }).chat.completions.create({ model, messages, max_tokens: 9 });
    expect(gateway.upstream.last.path).toBe('/v1/messages');
  });

  it('add the trace id and the metadata of the client to the log', async () => {
    const traceID = 'my-own-trace-1';
    const client = clientFor({ provider: '@oai', traceID, metadata: { _user: 'ann', team: 'red' } });
    const completion = await client.chat.completions.create({ model, messages });
    expect(completion.getHeaders()?.['trace-id']).toBe(traceID);
    const { metrics } = await gateway.logOf(traceID);
    const metadata = Object.fromEntries(
      metrics['metadata.key'].map((key: string, i: number) => [key, metrics['metadata.value'][i]]),
    );
    expect(metadata).toEqual({ _user: 'ann', team: 'red' });
  });

  it('are not forwarded to the provider, except requested headers', async () => {
    const options = {
      provider: '@oai',
      metadata: { team: 'red' },
      forwardHeaders: ['x-custom'],
      'x-custom': 'passed',
    } as Options;
    await clientFor(options).chat.completions.create({ model, messages });
    const sent = gateway.upstream.last;
    expect(sent.headerNames().filter((name) => /^x-(portkey|svc)-/.test(name))).toEqual([]);
    expect(sent.header('x-custom')).toBe('passed');
    expect(sent.rawHeaders.join('\n')).not.toContain(gateway.workspaceKey);
  });

  it('allow any other path through the generic calls', async () => {
    gateway.upstream.on('/v1/some/new/route', reply(200, { made: true }));
    const client = clientFor();
    expect(await client.post('/some/new/route', { anyField: 1 })).toMatchObject({ made: true });
    expect([gateway.upstream.last.method, gateway.upstream.last.path]).toEqual(['POST', '/v1/some/new/route']);
    expect(await client.get('/some/new/route')).toMatchObject({ made: true });
    expect(gateway.upstream.last.method).toBe('GET');
  });
});

describe('errors and aborts of the other gateway’s client', () => {
  it('include 401 for an unknown key and 400 for an unknown provider, with the reason', async () => {
    const unknown = clientFor({ apiKey: 'nobody', provider: '@oai' });
    const refused = await unknown.chat.completions.create({ model, messages }).catch((thrown) => thrown);
    expect([refused.status, refused.message]).toEqual([401, expect.stringContaining('Invalid API Key')]);
    const nowhere = await clientFor({ provider: '@none' })
      .chat.completions.create({ model, messages })
      .catch((thrown) => thrown);
    expect([nowhere.status, nowhere.message]).toEqual([400, expect.stringContaining('none')]);
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it('include the provider’s error, without a retry of a 5xx that the gateway has returned', async () => {
    for (const status of [400, 404, 429, 500]) {
      gateway.upstream.reset();
      gateway.upstream.on(path, openaiError(status, 'its own words', 'some_code'));
      const error = await clientFor()
        .chat.completions.create({ model, messages })
        .catch((thrown) => thrown);
      expect([error.status, error.message]).toEqual([status, expect.stringContaining('its own words')]);
      expect(gateway.upstream.requests).toHaveLength(1);
    }
  });

  it('end the call to the provider, before the reply and in a stream', async () => {
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta: { content: 'x' } }],
    };
    const before = stallBeforeHead();
    gateway.upstream.once(path, before);
    const controller = new AbortController();
    // The plain calls of this client know no signal; those it makes through the OpenAI client within do.
    const call = clientFor().chat.completions.parse({ model, messages }, undefined, { signal: controller.signal });
    const failed = call.catch((thrown: unknown) => thrown);
    const waiting = await before.reached;
    controller.abort();
    expect(await failed).toBeInstanceOf(Error);
    expect(await waiting.request.closed).toBe('client-left');

    const during = stallMidStream([dataEvent(chunk)], []);
    gateway.upstream.once(path, during);
    const stream = await clientFor().chat.completions.create({ model, messages, stream: true });
    for await (const item of stream) {
      expect(item.choices?.[0]?.delta?.content).toBe('x');
      break;
    }
    expect(await (await during.reached).request.closed).toBe('client-left');
  });
});
