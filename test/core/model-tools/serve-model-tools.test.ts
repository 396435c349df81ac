import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { BodyMemory } from '../../../core/contract/values/bodies/body-memory.ts';
import { type ErrorCode, errorTable, GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { InboundRequest, ReplySink } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { matchEndpoint } from '../../../core/endpoints/match-endpoint.ts';
import { errorReply } from '../../../core/http/write-error.ts';
import { withModelTools } from '../../../core/model-tools/serve-model-tools.ts';
import { modelName } from '../../../core/model-tools/tool-names.ts';
import { FakeSink, fakeRequest } from '../../../core/test-kit/fake-exchange.ts';
import { createGatewayTasks } from '../../../workers/gateway-tasks.ts';

const poolOf = (taskMs: number) =>
  createGatewayTasks({ threads: 1, queueMax: 10, taskMs, memoryMegabytes: 256, log: { warn: () => {} } });
const [pool, hurried] = [poolOf(30_000), poolOf(300)];
afterAll(() => Promise.all([pool.close(), hurried.close()]));

/** The loop of model and tools over a path that the test serves. */
interface Served {
  readonly sink: FakeSink;
  readonly memory: BodyMemory;
  readonly requests: InboundRequest[];
  /** Results of `countFor` of each request, and the workspaces to which the request of the client was counted. */
  readonly counted: unknown[];
  readonly owners: string[];
  /** Ends the time of the request. */
  expire(): void;
}

type Reply = (body: JsonObject, sink: ReplySink, count: number) => void;

const json = ['content-type', 'application/json'];
const call = (id: string) => ({ type: 'function_call', id, call_id: id, name: 'city__weather', arguments: '{}' });
const response = (output: object[], tokens = 10) => ({
  status: 'completed',
  output,
  usage: { input_tokens: tokens, output_tokens: 0 },
});
const callingModel: Reply = (_body, sink, count) => sink.send(200, json, JSON.stringify(response([call(`c${count}`)])));

interface Options {
  readonly tokensMax?: number;
  readonly stream?: boolean;
  readonly path?: string;
  readonly inputSchema?: JsonObject;
  readonly tasks?: typeof pool;
  readonly tool?: (sink: ReplySink) => void;
  /** Replies to `tools/list`. */
  readonly list?: (sink: ReplySink) => void;
  /** Further members of the request. */
  readonly more?: JsonObject;
}

function serve(model: Reply, options: Options = {}): Served {
  const memory = new BodyMemory(1024 * 1024);
  const requests: InboundRequest[] = [];
  const counted: unknown[] = [];
  const owners: string[] = [];
  const sink = Object.assign(new FakeSink(), { countFor: (owner: string) => owners.push(owner) > 0 });
  let models = 0;
  let expire = (): void => {};
  const handle = withModelTools({
    match: matchEndpoint,
    async handle(request, inner) {
      requests.push(request);
      counted.push(inner.countFor?.('ws-1'));
      const body = JSON.parse(Buffer.from(await request.body.bytes(1_000_000)).toString()) as JsonObject;
      if (request.path.endsWith('/responses')) return model(body, inner, ++models);
      const result =
        body.method === 'tools/list'
          ? { tools: [{ name: 'weather', inputSchema: options.inputSchema }] }
          : { content: [{ type: 'text', text: 'x'.repeat(300_000) }] };
      if (body.method === 'tools/call' && options.tool) return options.tool(inner);
      if (body.method === 'tools/list' && options.list) return options.list(inner);
      inner.send(200, json, JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
    },
    limits: { roundsMax: 5, tokensMax: options.tokensMax ?? 0, timeoutMs: 1000 },
    prefixes: ['x-svc-'],
    bodies: { jsonBytesMax: 100_000, jsonValuesMax: 10_000 },
    memory,
    timers: {
      after(_ms, callback) {
        expire = callback;
        return () => {};
      },
    },
    newId: () => 'id-1',
    errorReply,
    tasks: options.tasks ?? pool,
  });
  const tools = [{ type: 'mcp', server_label: '@svc-mcp/city' }];
  const request = {
    path: options.path ?? '/v1/responses',
    headers: { 'x-svc-beta': 'server-side-mcp-2026-06-01, other', 'content-length': '5', 'x-svc-config': 'pc-1' },
    body: { model: 'm', input: 'hi', stream: options.stream ?? false, tools, ...options.more },
  };
  handle(fakeRequest(request, 'key-1'), sink);
  return { sink, memory, requests, counted, owners, expire: () => expire() };
}

describe('the loop of model and tools', () => {
  it('ends with a last round when its tokens are used up', async () => {
    const { sink, requests, memory } = serve(callingModel, { tokensMax: 20 });
    await sink.done;
    expect(requests.map(({ path }) => path)).toEqual([
      '/city/mcp',
      ...['/v1/responses', '/city/mcp', '/v1/responses', '/city/mcp', '/v1/responses'],
    ]);
    expect((sink.json.output as JsonObject[]).map(({ status }) => status)).toEqual(['completed', 'completed', 'failed']);
    await nextTurn();
    expect(memory.usedBytes).toBe(0);
  });

  const ofGateway = (code: ErrorCode) => errorReply(new GatewayError(code)).body;
  const ofMessage = (code: string) => JSON.stringify({ id: 1, error: { code: -32603, message: 'no', data: { code } } });
  it.each([
    [404, JSON.stringify({ error: 'not_found', error_description: 'no' }), 404, 'not_found'],
    [403, JSON.stringify({ error: 'forbidden', error_description: 'no' }), 403, 'forbidden'],
    [401, JSON.stringify({ error: 'unauthorized', error_description: 'no' }), 401, 'invalid_api_key'],
    [401, ofGateway('api_key_expired'), 401, 'api_key_expired'],
    [412, ofGateway('workspace_usage_limit'), 412, 'workspace_usage_limit'],
    [429, ofMessage('rate_policy_limit'), 429, 'rate_policy_limit'],
    [429, ofMessage('forbidden'), 429, 'upstream_status'],
    [429, 'slow down', 429, 'upstream_status'],
    [200, ofMessage('key_rate_limit'), 400, 'bad_request'],
    [503, ofMessage('unavailable'), 502, 'upstream_invalid'],
  ])('has a code that belongs to its status if the list of tools is %i %s', async (status, body, sent, code) => {
    const { sink } = serve(callingModel, { list: (inner) => inner.send(status, json, body) });
    await sink.done;
    const { error } = sink.json as { error: { name: string; message: string } };
    expect([sink.status, error.name]).toEqual([sent, code]);
    expect(error.message.match(/Error Code/g) ?? []).toHaveLength(errorTable[code as ErrorCode].authCode === null ? 0 : 1);
  });

  it.each(['/openai/responses', '/openai/v1/responses'])('runs at %s, a path of Azure’s SDKs', async (path) => {
    const { sink, requests } = serve(
      (_body, inner, count) => inner.send(200, json, JSON.stringify(response(count === 1 ? [call('a')] : []))),
      { path },
    );
    await sink.done;
    expect(requests.map((request) => request.path)).toEqual(['/city/mcp', path, '/city/mcp', path]);
  });

  it('sends credentials, settings and one trace id with every request, and nothing of the body', async () => {
    const { sink, requests } = serve((_body, inner) => inner.send(200, json, JSON.stringify(response([]))));
    await sink.done;
    const names = ['x-svc-api-key', 'x-svc-config', 'x-svc-trace-id', 'x-svc-beta', 'content-length', 'content-type'];
    const values = ['key-1', 'pc-1', 'id-1', 'other', undefined, 'application/json'];
    expect(requests.map(({ header }) => names.map(header))).toEqual([values, values]);
  });

  it('names the tools and the choice of the request in its reply, without credentials', async () => {
    const own = { type: 'function', name: 'now', parameters: {} };
    const mcp = { type: 'mcp', server_label: '@svc-mcp/city' };
    const sent = { tools: [{ ...mcp, headers: { 'x-key': 'a' }, authorization: 'b' }, own], tool_choice: mcp };
    const echo: Reply = ({ tools, tool_choice }, inner) => {
      inner.send(200, json, JSON.stringify({ ...response([]), tools, tool_choice }));
    };
    const { sink } = serve(echo, { more: sent });
    await sink.done;
    expect(sink.json).toMatchObject({ tools: [mcp, own], tool_choice: mcp });
    expect((sink.json.tools as JsonObject[])[0]).toEqual(mcp);
  });

  it('restricts every round to the allowed tools, and forces a call in the first round only', async () => {
    const choices: unknown[] = [];
    const own = { type: 'function', name: 'now' };
    const ofServer = { type: 'mcp', server_label: '@svc-mcp/city' };
    const { sink } = serve(
      ({ tool_choice: choice }, inner, count) => {
        choices.push(choice);
        inner.send(200, json, JSON.stringify(response(count === 1 ? [call('a')] : [])));
      },
      { more: { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [ofServer, { ...ofServer, name: 'no' }, own] } } },
    );
    await sink.done;
    const tools = [{ type: 'function', name: 'city__weather' }, own];
    expect(choices).toEqual(['required', 'auto'].map((mode) => ({ type: 'allowed_tools', mode, tools })));
  });

  it('counts once to the open requests of its workspace', async () => {
    const { sink, counted, owners } = serve(callingModel, { tokensMax: 10 });
    await sink.done;
    expect([counted, owners]).toEqual([[true, true, true, true], ['ws-1']]);
  });

  it('shortens long results', async () => {
    let input: JsonObject[] = [];
    const { sink } = serve((body, inner, count) => {
      input = body.input as JsonObject[];
      inner.send(200, json, JSON.stringify(response(count === 1 ? [call('a')] : [])));
    });
    await sink.done;
    expect(String(input.at(-1)?.output)).toMatch(/^x{262144}\n\[left out: 37856 characters\]$/);
  });

  it.each(['model', 'tool'])('ends with 408 when its time is over while a %s works, and ends that request', async (which) => {
    let left: string | undefined;
    const hang = (inner: ReplySink): void => {
      inner.onAbort((error) => {
        left = error?.message;
      });
      served.expire();
    };
    const served = serve(which === 'model' ? (_body, inner) => hang(inner) : callingModel, { tool: hang });
    await served.sink.done;
    await nextTurn();
    // The record of the request has the same error.
    expect([served.sink.status, served.memory.usedBytes]).toEqual([408, 0]);
    expect([served.sink.text, left]).toEqual(Array(2).fill(expect.stringContaining('MODEL_TOOLS_TIMEOUT')));
  });

  it('ends its requests when the client disconnects', async () => {
    let left = false;
    const served = serve((_body, inner) => {
      inner.onAbort(() => {
        left = true;
      });
      served.sink.leave();
    });
    await served.sink.done;
    expect([left, served.sink.started]).toEqual([true, false]);
  });

  it('ends a stream with an error event, and its requests with the error, when the process stops', async () => {
    let left: unknown = null;
    const { sink } = serve(
      (_body, inner) => {
        inner.onAbort((error) => {
          left = error?.code;
        });
        inner.start(200, ['content-type', 'text/event-stream']);
        inner.write(Buffer.from('event: response.created\ndata: {"type":"response.created","response":{}}\n\n'));
        sink.shutDown();
      },
      { stream: true },
    );
    await sink.done;
    expect(sink.text).toMatch(/^event: response\.created\n.*\n\nevent: error\ndata: .*"code":"draining".*\n\n$/);
    expect(left).toBe('draining');
  });

  it.each([
    ['cut', (inner: ReplySink) => inner.destroy()],
    ['incomplete', (inner: ReplySink) => inner.end()],
  ])('ends a stream with an error event if that of the model is %s', async (_, end) => {
    const { sink } = serve(
      (_body, inner) => {
        inner.start(200, ['content-type', 'text/event-stream']);
        inner.write(Buffer.from('event: response.created\ndata: {"type":"response.created","response":{}}\n\n'));
        end(inner);
      },
      { stream: true },
    );
    await sink.done;
    expect(sink.text).toMatch(/^event: response\.created\n.*\n\nevent: error\ndata: .*\n\n$/);
  });
});

describe('the schema of a tool', () => {
  /** The output of a call with the arguments `{"to": "a!"}`, and the paths of the requests. */
  async function outputOf(inputSchema: JsonObject, tasks = pool): Promise<{ output: string; paths: string[] }> {
    let input: JsonObject[] = [];
    const calls = [{ ...call('a'), arguments: '{"to":"a!"}' }];
    const model: Reply = (body, inner, count) => {
      input = body.input as JsonObject[];
      inner.send(200, json, JSON.stringify(response(count === 1 ? calls : [])));
    };
    const done = (inner: ReplySink) => {
      inner.send(200, json, JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'done' }] } }));
    };
    const { sink, requests } = serve(model, { inputSchema, tool: done, tasks });
    await sink.done;
    return { output: String(input.at(-1)?.output), paths: requests.map(({ path }) => path) };
  }
  const to = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { to: schema } });
  const levels = Array.from({ length: 40 }, (_, i) => [`d${i}`, { allOf: Array(2).fill({ $ref: `#/$defs/d${i + 1}` }) }]);
  const exponential = { ...to({ $ref: '#/$defs/d0' }), $defs: { ...Object.fromEntries(levels), d40: { type: 'string' } } };

  it.each<[string, JsonObject, string]>([
    ['is invalid', to({ type: 'text' }), 'schema is invalid: data/properties/to/type'],
    ['has a reference to nothing', to({ $ref: '#/$defs/a' }), "can't resolve reference #/$defs/a"],
    ['has an unknown dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }, 'draft-04/schema# is not supported'],
    ['is too long', to({ description: 'a'.repeat(300_000) }), 'it has more than 262144 characters'],
    ['takes exponential time', exponential, 'the check needs too much time or memory'],
  ])('prevents every call of the tool if it %s', async (_, schema, reason) => {
    const { output, paths } = await outputOf(schema, schema === exponential ? hurried : pool);
    expect(output).toMatch(/^The tool was not called\. The inputSchema of the tool cannot be used: /);
    expect(output).toContain(reason);
    expect(paths).toEqual(['/city/mcp', '/v1/responses', '/v1/responses']);
  });

  const long = { ...to({ type: 'number' }), description: 'a'.repeat(5_000) };
  const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#', ...to({ type: 'number' }) };
  it.each<[string, JsonObject, string]>([
    ['is long', long, '/to must be number'],
    ['is of draft-07', draft07, '/to must be number'],
    ['has a pattern', to({ pattern: '^[a-z]+$' }), '/to must match pattern "^[a-z]+$"'],
    ['lists values', to({ enum: ['b', 'c'] }), '/to must be equal to one of the allowed values: ["b","c"]'],
  ])('is met by each call, also if it %s', async (_, schema, error) => {
    const { output } = await outputOf(schema);
    expect(output).toBe(`The tool was not called. The inputSchema of the tool is not met: ${error}`);
  });

  it('leaves patterns with look-ahead to the server', async () => {
    expect((await outputOf(to({ type: 'string', pattern: '^(?!b)[a-z]+$' }))).output).toBe('done');
    expect((await outputOf(to({ type: 'number', pattern: '^(?!b)[a-z]+$' }))).output).toContain('/to must be number');
  });
});

describe('the name of a tool for the model', () => {
  it('is short, has plain characters, and differs for different tools', () => {
    const long = 'a'.repeat(80);
    expect(modelName('city', 'weather')).toBe('city__weather');
    const names = [
      modelName('s', 'a.b'),
      modelName('s', 'a_b'),
      modelName('s', 'a/b'),
      modelName('s', long),
      modelName('s', `${long}b`),
    ];
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });
});
