import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { officialTypes } from '../../../support/fakes/fake-collector.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const attribute = (key: string, value: string | number | boolean) => ({
  key,
  value:
    typeof value === 'number'
      ? { intValue: String(value) }
      : typeof value === 'boolean'
        ? { boolValue: value }
        : { stringValue: value },
});
const hex = (bytes: number) => randomBytes(bytes).toString('hex');

describe.each(ruleDatabases)('OTLP of clients, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const nano = (ms: number) => `${Math.round(ms)}000000`;
  /** A span of 1.5 seconds. */
  const spanOf = (changes: object = {}, endMs = Date.now() - 500) => ({
    ...{ traceId: hex(16), spanId: hex(8), parentSpanId: hex(8), name: 'chat gpt-4o-mini', kind: 3 },
    startTimeUnixNano: nano(endMs - 1_500),
    endTimeUnixNano: nano(endMs),
    attributes: [
      attribute('gen_ai.operation.name', 'chat'),
      attribute('gen_ai.provider.name', 'openai'),
      attribute('gen_ai.request.model', 'gpt-4o-mini'),
      attribute('gen_ai.usage.input_tokens', 1_000),
      attribute('gen_ai.usage.cache_read.input_tokens', 400),
      attribute('gen_ai.usage.output_tokens', 100),
    ],
    status: {},
    ...changes,
  });
  const tracesOf = (...spans: object[]) => ({
    resourceSpans: [
      { resource: { attributes: [attribute('service.name', 'shop')] }, scopeSpans: [{ scope: { name: 'openai' }, spans }] },
    ],
  });
  const post = (path: string, body: string | Uint8Array, headers: Record<string, string>) =>
    fetch(`${plane.url}/v1${path}`, {
      method: 'POST',
      body: body as string,
      headers: { 'x-svc-api-key': plane.workspaceKey, ...headers },
    });
  const postJson = (path: string, body: object) => post(path, JSON.stringify(body), { 'content-type': 'application/json' });
  const logOf = async (traceId: string) => {
    const { body } = await plane.ask('GET', `/logs?trace_id=${traceId}`);
    return body.data as { metrics: object }[];
  };
  const toOfficial = (path: string, message: object) => {
    const type = officialTypes[path]?.request as (typeof officialTypes)[string]['request'];
    const withBytes = JSON.parse(JSON.stringify(message), (key, value) =>
      ['traceId', 'spanId', 'parentSpanId'].includes(key) ? Buffer.from(value, 'hex').toString('base64') : value,
    );
    return type.encode(type.fromObject(withBytes)).finish();
  };

  it('spans are stored if a name or an error is cut in the middle of an emoji', async () => {
    const message = `${'e'.repeat(999)}😀`;
    const span = spanOf({ name: `${'n'.repeat(254)}😀`, status: { code: 2, message } });
    expect(await (await postJson('/otel/v1/traces', tracesOf(span))).json()).toEqual({});
    expect(await logOf(span.traceId)).toMatchObject([{ metrics: { span_name: 'n'.repeat(254) } }]);
  });

  it('spans with a model become logs with a cost, each once', async () => {
    const span = spanOf();
    const reply = await postJson('/otel/v1/traces', tracesOf(span, spanOf({ attributes: [attribute('http.route', '/')] })));
    expect([reply.status, await reply.json()]).toEqual([200, {}]);
    expect((await postJson('/otel/v1/traces', tracesOf(span))).status).toBe(200);
    const rows = await plane.control.services.database
      .em()
      .execute(`select record, cost_micro_usd::int as cost from request_records where trace_id = ?`, [span.traceId]);
    expect(rows).toEqual([
      {
        // 600 tokens at 0.15, 400 at 0.075 and 100 at 0.6 US dollars per million.
        cost: 180,
        record: expect.objectContaining({
          ...{ provider: 'openai', model: 'gpt-4o-mini', inputTokens: 600, cacheReadTokens: 400, outputTokens: 100 },
          ...{ endpoint: 'chatComplete', source: 'otlp', status: 200, outcome: 'success', durationMs: 1500 },
          ...{ spanId: span.spanId, parentSpanId: span.parentSpanId, metadata: { service_name: 'shop' } },
          ...{ workspaceId: plane.workspaceId, organisationId: plane.organisationId },
        }),
      },
    ]);
    expect(await logOf(span.traceId)).toHaveLength(1);
  });

  it.each<[string, Record<string, string | number | boolean>, object]>([
    [
      'OpenInference',
      {
        ...{ 'openinference.span.kind': 'LLM', 'llm.system': 'openai', 'llm.provider': 'azure', 'llm.model_name': 'gpt-4o-mini' },
        ...{ 'llm.token_count.prompt': 1_000, 'llm.token_count.prompt_details.cache_read': 400, 'session.id': 's' },
        ...{ 'llm.token_count.completion': 100, 'llm.token_count.completion_details.reasoning': 30 },
        'llm.token_count.prompt_details.audio': 50,
      },
      {
        ...{ provider: 'azure-openai', model: 'gpt-4o-mini', inputTokens: 600, cacheReadTokens: 400, outputTokens: 100 },
        media: expect.objectContaining({ audioInputTokens: 50, audioOutputTokens: 0 }),
        ...{ reasoningTokens: 30, endpoint: 'chatComplete', metadata: { service_name: 'shop', conversation_id: 's' } },
      },
    ],
    [
      'OpenInference, of an embedding that failed',
      { 'openinference.span.kind': 'EMBEDDING', 'llm.system': 'mistralai', 'embedding.invocation_parameters': '{"model":"m"}' },
      { provider: 'mistral-ai', model: 'm', endpoint: 'embed', inputTokens: 0 },
    ],
    [
      'earlier conventions',
      {
        ...{ 'gen_ai.system': 'openai', 'gen_ai.request.model': 'gpt-4o-mini', 'gen_ai.usage.prompt_tokens': 10 },
        ...{ 'gen_ai.usage.cache_read_input_tokens': 4, 'gen_ai.usage.completion_tokens': 5, 'gen_ai.usage.reasoning_tokens': 2 },
      },
      { provider: 'openai', inputTokens: 6, cacheReadTokens: 4, outputTokens: 5, reasoningTokens: 2 },
    ],
    [
      'the draft of the conventions that renames tokens written to the cache',
      {
        ...{ 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.model': 'm', 'gen_ai.operation.name': 'chat' },
        ...{
          'gen_ai.usage.input_tokens': 130,
          'gen_ai.usage.cache_write.input_tokens': 10,
          'gen_ai.usage.cache_read.input_tokens': 20,
        },
      },
      { provider: 'anthropic', inputTokens: 100, cacheReadTokens: 20, cacheWriteTokens: 10 },
    ],
    [
      'the AI SDK, of a stream',
      {
        ...{ 'ai.operationId': 'ai.streamText.doStream', 'ai.model.provider': 'anthropic.messages', 'ai.model.id': 'm' },
        ...{ 'gen_ai.system': 'anthropic.messages', 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 130 },
        ...{ 'gen_ai.usage.output_tokens': 30, 'ai.usage.cachedInputTokens': 20, 'ai.usage.reasoningTokens': 5 },
        'ai.usage.inputTokenDetails.cacheWriteTokens': 10,
      },
      {
        ...{ provider: 'anthropic', model: 'm', endpoint: 'chatComplete', stream: true, inputTokens: 100, cacheReadTokens: 20 },
        ...{ cacheWriteTokens: 10, outputTokens: 30, reasoningTokens: 5 },
      },
    ],
    [
      'the AI SDK, of an embedding',
      {
        ...{ 'ai.operationId': 'ai.embedMany.doEmbed', 'ai.model.provider': 'google.vertex.embedding', 'ai.model.id': 'm' },
        'ai.usage.tokens': 8,
      },
      { provider: 'vertex-ai', model: 'm', endpoint: 'embed', inputTokens: 8, stream: false },
    ],
    [
      'Langfuse, in its own names',
      {
        ...{ 'langfuse.observation.type': 'generation', 'langfuse.observation.model.name': 'gpt-4o-mini', 'session.id': 's' },
        'langfuse.observation.usage_details':
          '{"input":100,"input_cached_tokens":20,"input_audio":7,"output":25,"output_reasoning_tokens":5,"total":157}',
      },
      {
        ...{ provider: null, model: 'gpt-4o-mini', endpoint: 'chatComplete', inputTokens: 107, cacheReadTokens: 20 },
        ...{ outputTokens: 30, reasoningTokens: 5, metadata: { service_name: 'shop', conversation_id: 's' } },
      },
    ],
    [
      'Langfuse, with the usage of OpenAI',
      {
        ...{
          'langfuse.observation.type': 'generation',
          'langfuse.observation.model.name': 'm',
          'gen_ai.provider.name': 'openai',
        },
        'langfuse.observation.usage_details':
          '{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":4}}',
      },
      { provider: 'openai', inputTokens: 60, cacheReadTokens: 40, outputTokens: 9, reasoningTokens: 4 },
    ],
    [
      'Langfuse, with the usage of Anthropic',
      {
        ...{ 'langfuse.observation.type': 'generation', 'langfuse.observation.model.name': 'm' },
        'langfuse.observation.usage_details':
          '{"input_tokens":100,"output_tokens":9,"cache_read_input_tokens":40,"cache_creation_input_tokens":30}',
      },
      { inputTokens: 100, cacheReadTokens: 40, cacheWriteTokens: 30, outputTokens: 9 },
    ],
    [
      'Langfuse, beside those of the conventions, and with a text that is no usage',
      {
        ...{ 'langfuse.observation.type': 'embedding', 'langfuse.observation.model.name': 'm', 'gen_ai.usage.input_tokens': 8 },
        'langfuse.observation.usage_details': '[1',
      },
      { model: 'm', endpoint: 'embed', inputTokens: 8 },
    ],
    [
      'Traceloop, of a stream',
      { 'gen_ai.provider.name': 'in-house.chat', 'gen_ai.request.model': 'm', 'gen_ai.is_streaming': true },
      { provider: 'in-house.chat', stream: true },
    ],
  ])('spans with the attributes of %s are read', async (_vocabulary, attributes, record) => {
    const span = spanOf({ attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)) });
    expect(await (await postJson('/otel/v1/traces', tracesOf(span))).json()).toEqual({});
    const rows = await plane.control.services.database
      .em()
      .execute('select record from request_records where trace_id = ?', [span.traceId]);
    expect(rows).toEqual([{ record: expect.objectContaining(record) }]);
  });

  it.each([
    { 'gen_ai.operation.name': 'invoke_agent' },
    { 'gen_ai.operation.name': 'execute_tool' },
    { 'openinference.span.kind': 'AGENT' },
    { 'openinference.span.kind': 'CHAIN' },
    { 'ai.operationId': 'ai.streamText' },
    { 'langfuse.observation.type': 'agent', 'langfuse.observation.model.name': 'm' },
  ])('spans around calls, such as %j, are not stored, because they repeat the usage of the calls', async (kind) => {
    const usage = { 'gen_ai.request.model': 'gpt-4o-mini', 'gen_ai.usage.input_tokens': 1_000, 'llm.model_name': 'gpt-4o-mini' };
    const attributes = Object.entries({ ...usage, ...kind }).map(([key, value]) => attribute(key, value));
    const span = spanOf({ attributes });
    expect((await postJson('/otel/v1/traces', tracesOf(span))).status).toBe(200);
    expect(await logOf(span.traceId)).toEqual([]);
  });

  it('a call with two spans becomes one log: that of the inner span, unless only the outer one has tokens', async () => {
    const [outer, direct] = [spanOf(), spanOf()];
    const http = spanOf({ traceId: outer.traceId, parentSpanId: outer.spanId, attributes: [attribute('http.route', '/')] });
    const inner = spanOf({ traceId: outer.traceId, parentSpanId: http.spanId });
    const model = [attribute('gen_ai.request.model', 'gpt-4o-mini')];
    const withoutTokens = spanOf({ traceId: direct.traceId, parentSpanId: direct.spanId, attributes: model });
    const failed = spanOf({ attributes: model });
    const failedInner = spanOf({ traceId: failed.traceId, parentSpanId: failed.spanId, attributes: model });
    const reply = await postJson('/otel/v1/traces', tracesOf(inner, http, outer, withoutTokens, direct, failedInner, failed));
    expect(await reply.json()).toEqual({});
    const rows = await plane.control.services.database.em().execute(
      `select record->>'spanId' as span, (record->>'outputTokens')::int as tokens from request_records
        where trace_id in (?, ?, ?)`,
      [outer.traceId, direct.traceId, failed.traceId],
    );
    expect(rows).toHaveLength(4);
    expect(rows).toEqual(
      expect.arrayContaining([
        { span: inner.spanId, tokens: 100 },
        { span: withoutTokens.spanId, tokens: 0 },
        { span: direct.spanId, tokens: 100 },
        { span: failedInner.spanId, tokens: 0 },
      ]),
    );
  });

  it.each(['identity', 'gzip'])('protobuf of the official definitions is read, with content-encoding %s', async (encoding) => {
    const span = spanOf({ status: { code: 2, message: 'overloaded' } });
    const message = toOfficial('/v1/traces', tracesOf(span));
    const body = encoding === 'gzip' ? gzipSync(message) : Buffer.from(message);
    const headers = { 'content-type': 'application/x-protobuf', ...(encoding === 'gzip' ? { 'content-encoding': 'gzip' } : {}) };
    const reply = await post('/otel/v1/traces', body, headers);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/x-protobuf']);
    expect(await reply.arrayBuffer()).toHaveProperty('byteLength', 0);
    const [log] = await logOf(span.traceId);
    expect(log?.metrics).toMatchObject({ ai_model: 'gpt-4o-mini', response_status_code: 500 });
  });

  it('protobuf with a U+0000 is stored without it', async () => {
    const span = spanOf();
    const attributes = [
      ...span.attributes.filter(({ key }) => key !== 'gen_ai.request.model'),
      { key: 'gen_ai.request.model', value: { stringValue: 'gpt\u0000-4o' } },
    ];
    const message = toOfficial('/v1/traces', tracesOf({ ...span, attributes }));
    const reply = await post('/otel/v1/traces', Buffer.from(message), { 'content-type': 'application/x-protobuf' });
    expect(await reply.arrayBuffer()).toHaveProperty('byteLength', 0);
    const [log] = await logOf(span.traceId);
    expect(log?.metrics).toMatchObject({ ai_model: 'gpt\ufffd-4o' });
  });

  it('JSON is stored if exporters cut a text within a character or send more than 50,000 keys', async () => {
    const span = spanOf();
    span.attributes.push(attribute('gen_ai.system', 'half a \ud83d'), attribute('input.value', 'a \u0000'));
    const others = Array.from({ length: 2_500 }, () => spanOf({ attributes: spanOf().attributes.slice(0, 2) }));
    const body = gzipSync(JSON.stringify(tracesOf(span, ...others)));
    const reply = await post('/otel/v1/traces', body, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    expect([reply.status, await reply.json()]).toEqual([200, {}]);
    expect(await logOf(span.traceId)).toHaveLength(1);
  });

  describe('log records with a model', () => {
    const logOfSpan = ({ traceId, spanId, attributes }: ReturnType<typeof spanOf>) => {
      const logRecords = [{ traceId, spanId, timeUnixNano: nano(Date.now()), severityNumber: 9, attributes }];
      return toOfficial('/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
    };
    const postLog = (span: ReturnType<typeof spanOf>) =>
      post('/otel/v1/logs', Buffer.from(logOfSpan(span)), { 'content-type': 'application/x-protobuf' });
    const stored = (traceId: string) =>
      plane.control.services.database.em().execute('select id from request_records where trace_id = ?', [traceId]);

    it('become logs; one for the same span changes nothing', async () => {
      const span = spanOf();
      expect((await postLog(span)).status).toBe(200);
      expect((await postJson('/logs/otel/v1/traces', tracesOf(span))).status).toBe(200);
      expect(await logOf(span.traceId)).toHaveLength(1);
      expect(await stored(span.traceId)).toHaveLength(1);
    });

    it('are one record with their span, if both arrive at the same time', async () => {
      const spans = Array.from({ length: 10 }, () => spanOf());
      const replies = await Promise.all(spans.flatMap((span) => [postLog(span), postJson('/otel/v1/traces', tracesOf(span))]));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      for (const { traceId } of spans) expect(await stored(traceId)).toHaveLength(1);
    });
  });

  it('log records outside of spans are accepted and not stored, and rejected if they name a model', async () => {
    const record = { timeUnixNano: nano(Date.now()), body: { stringValue: 'started' }, attributes: [attribute('model', 'm')] };
    const ofModel = { ...record, attributes: [attribute('gen_ai.request.model', 'm')] };
    const send = async (...logRecords: object[]) =>
      (await postJson('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] })).json();
    expect(await send(record, { ...record, traceId: '', spanId: '' })).toEqual({});
    expect(await send(record, ofModel)).toMatchObject({ partialSuccess: { rejectedLogRecords: '1' } });
    const message = { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] };
    const headers = { 'content-type': 'application/x-protobuf' };
    const reply = await post('/otel/v1/logs', Buffer.from(toOfficial('/v1/logs', message)), headers);
    expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([200, 0]);
  });

  it('rejects spans with wrong ids or times, stores the others, and says so in the encoding of the request', async () => {
    const good = spanOf();
    const bad = [
      spanOf({ traceId: '0'.repeat(32) }),
      spanOf({ startTimeUnixNano: nano(Date.now() - 8 * 86_400_000) }),
      spanOf({ startTimeUnixNano: nano(Date.now() + 2 * 3_600_000) }),
    ];
    const reply = await postJson('/otel/v1/traces', tracesOf(...bad, good));
    expect(await reply.json()).toMatchObject({ partialSuccess: { rejectedSpans: '3' } });
    expect(await logOf(good.traceId)).toHaveLength(1);
    const message = toOfficial('/v1/traces', tracesOf(...bad.slice(1)));
    const again = await post('/otel/v1/traces', Buffer.from(message), { 'content-type': 'application/x-protobuf' });
    const type = officialTypes['/v1/traces']?.response as (typeof officialTypes)[string]['response'];
    const decoded = type.toObject(type.decode(new Uint8Array(await again.arrayBuffer())), { longs: String });
    expect(decoded).toMatchObject({ partialSuccess: { rejectedSpans: '2' } });
  });

  it('does not store what the service itself has exported', async () => {
    const span = spanOf();
    const own = { resourceSpans: [{ scopeSpans: [{ scope: { name: 'svc-gateway' }, spans: [span] }] }] };
    expect((await postJson('/otel/v1/traces', own)).status).toBe(200);
    expect(await logOf(span.traceId)).toEqual([]);
  });

  it.each([
    ['a body that is no JSON', '{', { 'content-type': 'application/json' }, 400],
    ['spans that are no list', '{"resourceSpans":7}', { 'content-type': 'application/json' }, 400],
    ['another content type', 'a', { 'content-type': 'text/plain' }, 400],
    ['protobuf that is cut off', Buffer.from([0x0a, 0x7f]), { 'content-type': 'application/x-protobuf' }, 400],
    ['protobuf that is nested too deeply', nested(20_000), { 'content-type': 'application/x-protobuf' }, 400],
    ['gzip that is none', 'abc', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 400],
    ['a gzip bomb', gzipSync(Buffer.alloc(20_000_000)), { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 413],
  ])('%s is rejected', async (_, body, headers, status) => {
    const reply = await post('/otel/v1/traces', body as string, headers as Record<string, string>);
    const text = await reply.text();
    expect(reply.status).toBe(status);
    if (reply.headers.get('content-type') === 'application/x-protobuf') expect(text).toContain('not a valid protobuf message');
    else expect(JSON.parse(text)).toMatchObject({ success: false });
  });

  it('needs a workspace key', async () => {
    const headers = { 'content-type': 'application/json', 'x-svc-api-key': plane.adminKey };
    expect((await post('/otel/v1/traces', '{}', headers)).status).toBe(403);
    expect((await post('/otel/v1/traces', '{}', { ...headers, 'x-svc-api-key': 'svc_ws_none' })).status).toBe(401);
  });
});

/** An attribute whose value is a list in a list in a list. */
function nested(depth: number): Buffer {
  const wrap = (field: number, inner: Buffer): Buffer => {
    const head = [(field << 3) | 2];
    for (let length = inner.length; ; length >>>= 7) {
      if (length < 128) return Buffer.concat([Buffer.from([...head, length]), inner]);
      head.push((length & 127) | 128);
    }
  };
  let value: Buffer = Buffer.alloc(0);
  for (let i = 0; i < depth; i++) value = wrap(5, wrap(1, value));
  for (const field of [2, 9, 2, 2, 1]) value = wrap(field, value);
  return value;
}
