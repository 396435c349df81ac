import type { ServerResponse } from 'node:http';
import { AgentCard, type Message, Role, type SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type A2aClient, a2aClient, rpc, said, v1 } from '../../support/clients/a2a-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type A2aAgent, startA2aAgent } from '../../support/tool-servers/a2a-agent.ts';
import { until } from '../../support/until.ts';

/** A2A agents behind the gateway, between the client and the agent of the official SDK. */
let gateway: SharedGateway;
let agent: A2aAgent;

beforeAll(async () => {
  [gateway, agent] = await Promise.all([shareGateway(), startA2aAgent()]);
  client = a2aClient(gateway);
  const found = await gateway.admin.create('/agent-integrations/fetch-agent-card', { endpoint: agent.origin });
  await addAgent('sample', agent.url, { agent_card: found.agent_card });
});
afterAll(() => agent?.close());

let client: A2aClient;
const urlOf = (slug: string, rest?: string) => client.urlOf(slug, rest);
const addAgent: A2aClient['addAgent'] = (slug, url, fields) => client.addAgent(slug, url, fields);
const send: A2aClient['send'] = (slug, body, options) => client.send(slug, body, options);
const logOf: A2aClient['logOf'] = (reply) => client.logOf(reply);

type Binding = 'JSONRPC' | 'HTTP+JSON';

async function connect(slug: string, binding: Binding, version: '1.0' | '0.3') {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('x-svc-api-key', gateway.workspaceKey);
    return fetch(input, { ...init, headers });
  };
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const resolver = new DefaultAgentCardResolver(options);
  const card = await resolver.resolve(urlOf(slug, '/'));
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
      cardResolver: resolver,
    }),
  );
  const supportedInterfaces = card.supportedInterfaces.filter(
    (one) => one.protocolBinding === binding && one.protocolVersion === version,
  );
  return factory.createFromAgentCard({ ...card, supportedInterfaces });
}

function says(value: string): SendMessageRequest {
  const message: Message = {
    ...{ messageId: `m-${value}`, contextId: '', taskId: '', role: Role.ROLE_USER, metadata: undefined },
    parts: [{ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' }],
    ...{ extensions: [], referenceTaskIds: [] },
  };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe.each([
  ['JSONRPC', '1.0'],
  ['HTTP+JSON', '1.0'],
  ['JSONRPC', '0.3'],
  ['HTTP+JSON', '0.3'],
] as const)('the client of the official SDK over %s %s', (binding, version) => {
  it('sends messages, follows tasks, subscribes again and reads the extended card', async () => {
    const client = await connect('sample', binding, version);
    expect(client.protocolVersion).toBe(version);
    const reply = (await client.sendMessage(says('grüß dich'))) as Message;
    expect(reply.parts[0]?.content).toEqual({ $case: 'text', value: 'grüß dich' });
    const events = await all(client.sendMessageStream(says('task one')));
    expect(events.map(({ payload }) => payload?.$case)).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
    const [first] = events as [StreamResponse];
    const id = first.payload?.$case === 'task' ? first.payload.value.id : '';
    const task = await client.getTask({ tenant: '', id, historyLength: undefined });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    const config = {
      tenant: '',
      taskId: id,
      id: 'c',
      url: 'https://hooks.example.com/a2a',
      token: 't',
      authentication: undefined,
    };
    expect((await client.createTaskPushNotificationConfig(config)).url).toBe('https://hooks.example.com/a2a');
    expect((await client.getTaskPushNotificationConfig({ tenant: '', taskId: id, id: 'c' })).url).toBe(config.url);
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: id, id: 'c' });
  });
});

describe('a request to an agent', () => {
  it('is recorded, one record for each call', async () => {
    const reply = await send('sample', rpc('SendMessage', said('task two')), { headers: v1 });
    expect(reply.body).toMatchObject({ id: 7, result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
    expect((await logOf(reply)).agent).toMatchObject({
      ...{ server: 'sample', binding: 'JSONRPC', operation: 'SendMessage', version: '1.0', task_state: 'TASK_STATE_COMPLETED' },
      ...{ task_id: reply.body.result.task.id, auth_type: 'api_key', upstream_auth_type: 'none', error_code: null },
    });
    const failed = await send('sample', rpc('GetTask', { id: 'unknown' }), { headers: v1 });
    expect(failed.body.error.code).toBe(-32001);
    expect((await logOf(failed)).agent).toMatchObject({ operation: 'GetTask', task_id: 'unknown', error_code: -32001 });
  });

  it('needs a key, agents.invoke, and an agent of the workspace that exists', async () => {
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const body = rpc('SendMessage', said('hi'));
    expect((await send('sample', body, { headers: { 'x-svc-api-key': '' } })).status).toBe(401);
    expect((await send('sample', body, { headers: { 'x-svc-api-key': key } })).status).toBe(403);
    const unknown = await send('unknown', body);
    expect([unknown.status, unknown.body.error.message]).toEqual([404, expect.stringContaining("Agent 'unknown' not found")]);
  });

  it.each([
    ['text that is not JSON', '{"jsonrpc"', -32700, 'Parse error'],
    ['text that is not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), -32700, 'UTF-8'],
    ['text that ends inside a character', new Uint8Array([0x22, 0xe4, 0xbd]), -32700, 'UTF-8'],
    ['a batch', [rpc('GetTask'), rpc('GetTask')], -32600, 'Batches are not supported'],
    ['another protocol', { id: 7, method: 'GetTask' }, -32600, 'jsonrpc must be "2.0"'],
    ['an id that is an object', { ...rpc('GetTask'), id: {} }, -32600, 'id:'],
    ['an unknown method', rpc('tasks/explode'), -32601, 'tasks/explode is not a method of A2A'],
    ['parameters that are a list', { ...rpc('GetTask'), params: [1] }, -32602, 'params: an object is expected'],
    [
      'notifications to a private address',
      rpc('SendMessage', { ...said('hi'), configuration: { taskPushNotificationConfig: { url: 'http://10.0.0.1/' } } }),
      ...([-32602, 'configuration.taskPushNotificationConfig.url: must be a public address'] as const),
    ],
    [
      'notifications to a private address, in 0.3',
      rpc('tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: { url: 'http://169.254.169.254/' } }),
      ...([-32602, 'pushNotificationConfig.url: must not be a metadata service'] as const),
    ],
    [
      'notifications to a private address, in a draft of 1.0',
      rpc('CreateTaskPushNotificationConfig', { parent: 'tasks/t', config: { url: 'http://10.0.0.1/' } }),
      ...([-32602, 'config.url: must be a public address'] as const),
    ],
    // The official SDK makes a text of the list.
    [
      'notifications to a private address in a list',
      rpc('CreateTaskPushNotificationConfig', { taskId: 't', id: 'c', url: ['http://10.0.0.1/'] }),
      ...([-32602, 'url: a URL is expected'] as const),
    ],
    // Decoders of Go ignore case.
    [
      'notifications to a private address, in another spelling',
      rpc('CreateTaskPushNotificationConfig', { taskId: 't', id: 'c', URL: 'http://10.0.0.1/' }),
      ...([-32600, 'params.URL: another spelling of url'] as const),
    ],
    [
      'parts in another spelling',
      rpc('SendMessage', { message: { ...said('hi').message, Parts: [{ text: 'hidden' }] } }),
      ...([-32600, 'params.message.Parts: another spelling of parts'] as const),
    ],
  ])('with %s is refused before the agent is called', async (_, body, code, message) => {
    const count = agent.received.length;
    const reply = await send('sample', body, { headers: v1 });
    expect([reply.status, reply.body.error.code, reply.body.error.message]).toEqual([
      200,
      code,
      expect.stringContaining(message),
    ]);
    expect(agent.received.length).toBe(count);
  });

  it.each([
    ['POST', '/message:send/..%2f..%2fadmin', 400],
    ['GET', '/tasks/..%5c..%5cadmin', 400],
    ['GET', '/tasks/1%2fadmin', 404],
    ['POST', '/admin', 404],
    ['DELETE', '/tasks/1', 404],
    ['PATCH', '/tasks/1', 405],
    ['GET', '', 405],
  ])('%s %s is %i', async (method, rest, status) => {
    const count = agent.received.length;
    const reply = await send('sample', method === 'POST' ? {} : null, { rest, method });
    expect(reply.status).toBe(status);
    expect(agent.received.length).toBe(count);
  });

  it('is refused if its content type is not JSON, by the error of the binding', async () => {
    const count = agent.received.length;
    const headers = { ...v1, 'content-type': 'text/plain' };
    const detail = { reason: 'CONTENT_TYPE_NOT_SUPPORTED', domain: 'a2a-protocol.org' };
    const overRpc = await send('sample', rpc('SendMessage', said('hi')), { headers });
    expect([overRpc.status, overRpc.body]).toMatchObject([200, { id: null, error: { code: -32005, data: [detail] } }]);
    const overRest = await send('sample', said('hi'), { rest: '/message:send', headers });
    expect([overRest.status, overRest.body.error]).toMatchObject([415, { code: 415, details: [detail] }]);
    expect(agent.received.length).toBe(count);
    const typed = { ...v1, 'content-type': 'application/a2a+json; charset=utf-8' };
    expect((await send('sample', said('hi'), { rest: '/message:send', headers: typed })).status).toBe(200);
  });

  it('names refused notification URLs over REST in the form of the protocol', async () => {
    const config = { url: 'http://192.168.1.1/' };
    const reply = await send('sample', config, { rest: '/tasks/t/pushNotificationConfigs', headers: v1 });
    expect(reply.status).toBe(400);
    expect(reply.body.error).toMatchObject({
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: expect.stringContaining('url: must be a public address'),
    });
    const rest = await connect('sample', 'HTTP+JSON', '1.0');
    const typed = rest.createTaskPushNotificationConfig({
      ...{ tenant: '', taskId: 't', id: 'c', token: '', authentication: undefined },
      ...config,
    });
    await expect(typed).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});

describe('the card of an agent', () => {
  const card = async (slug: string, headers: Record<string, string> = v1) =>
    (await send(slug, null, { rest: '/.well-known/agent-card.json', method: 'GET', headers })).body;

  it('names the gateway, and neither gRPC nor signatures nor credentials of the agent', async () => {
    const found = await card('sample');
    expect(found.name).toBe('Sample agent');
    const url = expect.stringMatching(/\/v1\/agent\/sample$/);
    expect(found.supportedInterfaces).toMatchObject(
      ['1.0', '0.3'].flatMap((protocolVersion) => [
        { protocolBinding: 'JSONRPC', protocolVersion, url },
        { protocolBinding: 'HTTP+JSON', protocolVersion, url },
      ]),
    );
    expect(found.signatures).toBeUndefined();
    expect(Object.keys(found.securitySchemes)).toEqual(['gatewayKey', 'gatewayBearer']);
    expect(JSON.stringify(found)).not.toContain(agent.origin);
  });

  it('has the shape of 1.0 for clients that state this version, and that of both for clients that state none', async () => {
    const of03 = (await fetch(`${agent.origin}/.well-known/agent-card.json`)).json() as Promise<JsonObject>;
    await addAgent('two-versions', agent.url, { agent_card: { ...(await of03), ...(await rawCard()) } });
    const [of10, ofBoth] = [await card('two-versions'), await card('two-versions', {})];
    for (const found of [of10, ofBoth]) {
      const { securitySchemes, securityRequirements } = AgentCard.fromJSON(found);
      expect(Object.values(securitySchemes).map(({ scheme }) => scheme?.$case)).toEqual([
        'apiKeySecurityScheme',
        'httpAuthSecurityScheme',
      ]);
      expect(securityRequirements.map(({ schemes }) => Object.keys(schemes))).toEqual([['gatewayKey'], ['gatewayBearer']]);
    }
    expect(of10).not.toHaveProperty('url');
    expect(of10).not.toHaveProperty('security');
    expect(ofBoth).toMatchObject({
      url: expect.stringMatching(/\/v1\/agent\/two-versions$/),
      securitySchemes: { gatewayKey: { type: 'apiKey', in: 'header' }, gatewayBearer: { type: 'http', scheme: 'bearer' } },
      security: [{ gatewayKey: [] }, { gatewayBearer: [] }],
    });
  });

  it('may be cached by its client, and is not sent again unchanged', async () => {
    const path = '/.well-known/agent-card.json';
    const found = await send('sample', null, { rest: path, method: 'GET', headers: v1 });
    expect(found.headers.get('cache-control')).toBe('private, max-age=60');
    expect(found.headers.get('vary')).toContain('a2a-version');
    const headers = { ...v1, 'if-none-match': found.headers.get('etag') ?? '' };
    expect((await send('sample', null, { rest: path, method: 'GET', headers })).status).toBe(304);
    const of03 = await send('sample', null, { rest: path, method: 'GET', headers: { ...headers, 'a2a-version': '0.3' } });
    expect(of03.status).toBe(200);
  });

  it('lists the skills that both levels enable, also in the extended card', async () => {
    const { server, integration } = await addAgent('skilled', agent.url, { agent_card: await rawCard() });
    await gateway.admin.put(`/agent-integrations/${integration}/skills`, { skills: [{ id: 'secret', enabled: false }] });
    const skillsOf = ({ skills }: JsonObject) => (skills as JsonObject[]).map(({ id }) => id);
    await until(async () => skillsOf(await card('skilled')).length === 1, { what: 'the flag in the gateway' });
    const extended = await send('skilled', rpc('GetExtendedAgentCard'), { headers: v1 });
    expect(skillsOf(extended.body.result)).toEqual(['repeat']);
    expect(JSON.stringify(extended.body)).not.toContain(agent.origin);
    const listed = (await gateway.admin.get(`/agent-servers/${server}/skills`)).body;
    expect(listed.data).toMatchObject([
      { id: 'repeat', enabled: true, integration_enabled: true },
      { id: 'secret', enabled: true, integration_enabled: false },
    ]);
  });

  it('is fetched from the agent if none is stored, in the version that the client asks for', async () => {
    await addAgent('unstored', agent.origin);
    expect(await card('unstored', { 'a2a-version': '0.3' })).toMatchObject({
      ...{ url: expect.stringMatching(/\/v1\/agent\/unstored$/), preferredTransport: 'JSONRPC' },
      securitySchemes: { gatewayKey: { type: 'apiKey' } },
    });
    expect((await card('unstored')).supportedInterfaces.length).toBe(4);
  });

  const rawCard = async () =>
    (await fetch(`${agent.origin}/.well-known/agent-card.json`, { headers: v1 })).json() as Promise<JsonObject>;
});

describe('an administrator', () => {
  it('tests the agent, and closes it to users', async () => {
    const { server } = await addAgent('closed', agent.url);
    const test = (await gateway.admin.post(`/agent-servers/${server}/test`, {})).body;
    expect(test).toMatchObject({ success: true, status_code: 200, agent_name: 'Sample agent', error: null });
    await gateway.admin.put(`/agent-servers/${server}/user-access`, { default_user_access: 'deny' });
    await until(async () => (await send('closed', rpc('GetTask'))).status === 403, { what: 'the end of the access' });
  });

  it.each([
    ['a page', (response) => response.end('<html>'), 'is not a JSON object'],
    ['a card without a name', (response) => response.end('{"url":"https://a.example.com"}'), 'has no name'],
    ['a card of 2 MB', (response) => response.end(`{"name":"${'x'.repeat(2_000_000)}"}`), 'more than 1000000 bytes'],
    ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 'replied with 302'],
  ] satisfies [string, (response: ServerResponse) => unknown, string][])(
    'gets the reason if the agent sends %s instead of a card',
    async (_, reply, reason) => {
      agent.override = (_request, response) => void reply(response);
      const found = await gateway.admin.post('/agent-integrations/fetch-agent-card', { endpoint: agent.origin });
      agent.override = null;
      expect([found.status, found.body.data.message]).toEqual([400, expect.stringContaining(reason)]);
    },
  );

  it('names the card that cannot be used, also if other places have none', async () => {
    agent.override = (request, response) => {
      if (request.url === '/.well-known/agent.json') response.end('{"name":"Old"}');
      else response.writeHead(404).end();
    };
    const found = await gateway.admin.post('/agent-integrations/fetch-agent-card', { endpoint: agent.origin });
    agent.override = null;
    const message = 'endpoint: The card at /.well-known/agent.json has no url';
    expect([found.status, found.body.data.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it.each([
    ['is nested deeply', `"x":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
    ['contains a zero byte', '"description":"a\\u0000b"'],
  ])('names a card that %s as the cause', async (_, member) => {
    agent.override = (_request, response) => response.end(`{"name":"Liar","url":"https://a.example",${member}}`);
    const found = await gateway.admin.post('/agent-integrations/fetch-agent-card', { endpoint: agent.origin });
    agent.override = null;
    expect([found.status, found.body.data.message]).toEqual([400, expect.stringContaining('is nested too deeply, or contains')]);
  });

  it('cannot have cards fetched from private addresses', async () => {
    for (const endpoint of ['http://10.0.0.1/', 'http://169.254.169.254/', 'file:///etc/passwd', 'https://a.example.com/#x']) {
      const found = await gateway.admin.post('/agent-integrations/fetch-agent-card', { endpoint });
      expect([endpoint, found.status, found.body.data.message]).toEqual([endpoint, 400, expect.stringContaining('endpoint')]);
    }
  });
});

describe('the agent', () => {
  it('receives configured and allowed headers, and no credential of the client', async () => {
    await addAgent('headed', agent.url, {
      auth_type: 'headers',
      configurations: { headers: { authorization: 'Bearer of-the-agent' }, forward_headers: ['x-user-team'] },
    });
    const headers = { ...v1, 'a2a-extensions': 'https://e.example.com', 'x-user-team': 'blue', 'x-other': 'no', cookie: 'a=b' };
    await send('headed', rpc('GetTask', { id: 'x' }), { headers });
    const { headers: got } = agent.received.at(-1) as { headers: Record<string, string> };
    expect(got).toMatchObject({ authorization: 'Bearer of-the-agent', 'a2a-version': '1.0', 'x-user-team': 'blue' });
    expect(got).toMatchObject({ 'a2a-extensions': 'https://e.example.com' });
    for (const name of ['x-svc-api-key', 'x-other', 'cookie']) expect(got[name]).toBeUndefined();
  });

  it.each([
    ['rejects the credential', 401, 'rejected the credential'],
    ['redirects', 307, 'Redirects are not followed'],
  ])('is a 502 with a JSON-RPC error if it %s', async (_, status, message) => {
    agent.override = (_request, response) => void response.writeHead(status, { location: 'http://10.0.0.1/' }).end();
    const reply = await send('sample', rpc('GetTask', { id: 'x' }), { headers: v1 });
    agent.override = null;
    expect([reply.status, reply.body]).toMatchObject([
      502,
      { id: 7, error: { code: -32603, data: [{ reason: 'UPSTREAM_STATUS' }] } },
    ]);
    expect(reply.body.error.message).toContain(message);
  });

  it('sends events as they come; a client that comes back subscribes to the same task', async () => {
    const client = await connect('sample', 'JSONRPC', '1.0');
    const gone = new AbortController();
    const events = client.sendMessageStream(says('wait'), { signal: gone.signal });
    const { value } = await events.next();
    const id = value?.payload?.$case === 'task' ? value.payload.value.id : '';
    gone.abort();
    await events.next().catch(() => undefined);
    const again = client.resubscribeTask({ tenant: '', id });
    expect((await again.next()).value?.payload?.$case).toBe('task');
    agent.release();
    const rest = await all(again);
    const last = rest.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' ? last.value.status?.state : last).toBe(TaskState.TASK_STATE_COMPLETED);
  });
});
