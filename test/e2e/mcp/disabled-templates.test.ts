import { afterAll, beforeAll, expect, it } from 'vitest';
import { mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../support/until.ts';

let gateway: SharedGateway;
let upstream: McpUpstream;

beforeAll(async () => {
  gateway = await shareGateway();
  upstream = await startMcpUpstream();
});
afterAll(() => upstream.close());

it('disabled resource templates: URIs that fit them cannot be read, except resources that the server lists', async () => {
  const client = await mcpClient(gateway);
  const { server, integration } = await client.addServer('templates', upstream.url);
  expect((await gateway.admin.post(`/mcp-integrations/${integration}/sync`, {})).status).toBe(200);
  const session = await client.begin('templates');
  const read = async (uri: string) =>
    messageOf((await client.post('templates', request('resources/read', { uri }), session)).text);
  expect((await read('file:///logs/monday')).result.contents[0].text).toBe('a log');

  const flags = ['file:///logs/{day}', 'file:///{name}'].map((name) => ({ name, type: 'resource_template', enabled: false }));
  expect((await gateway.admin.put(`/mcp-servers/${server}/capabilities`, { capabilities: flags })).status).toBe(200);
  const refused = await until(async () => (await read('file:///logs/monday')).error ?? null, {
    what: 'the flags in the gateway',
  });
  expect(refused).toEqual({ code: -32602, message: "Resource 'file:///logs/monday' is disabled" });
  expect((await read('file:///other.md')).error.message).toBe("Resource 'file:///other.md' is disabled");
  const ref = { type: 'ref/resource', uri: 'file:///logs/{day}' };
  const completed = await client.post(
    'templates',
    request('completion/complete', { ref, argument: { name: 'day', value: 'm' } }),
    session,
  );
  expect(messageOf(completed.text).error.message).toBe("Resource template 'file:///logs/{day}' is disabled");
  expect((await read('file:///readme.md')).result.contents[0].uri).toBe('file:///readme.md');
});

it('disabled resources and templates: other spellings of their URIs cannot be read or subscribed to', async () => {
  const client = await mcpClient(gateway);
  const { server } = await client.addServer('spellings', upstream.url);
  const session = await client.begin('spellings');
  const send = async (method: string, uri: string) =>
    messageOf((await client.post('spellings', request(method, { uri }), session)).text);
  // The server reads URIs as browsers do.
  expect((await send('resources/read', 'FILE:///x/../logs/monday')).result.contents[0].text).toBe('a log');
  const flags = [
    { name: 'file:///readme.md', type: 'resource', enabled: false },
    { name: 'file:///logs/{day}', type: 'resource_template', enabled: false },
  ];
  expect((await gateway.admin.put(`/mcp-servers/${server}/capabilities`, { capabilities: flags })).status).toBe(200);
  await until(async () => (await send('resources/read', 'file:///readme.md')).error ?? null, {
    what: 'the flags in the gateway',
  });
  const names = [
    'FILE:///readme.md',
    ' file:///readme.md',
    'file:///read\nme.md',
    'file:///a/../readme.md',
    'file:///%72eadme.md',
  ];
  for (const uri of [...names, 'File:///logs/monday', 'file:///logs/a/../monday', `file:///logs/${'m'.repeat(20_000)}`]) {
    for (const method of ['resources/read', 'resources/subscribe']) {
      expect((await send(method, uri)).error).toEqual({ code: -32602, message: `Resource '${uri.slice(0, 200)}' is disabled` });
    }
  }
  const params = { notifications: { resourceSubscriptions: ['file:///readme.md'] } };
  const listened = await client.post('spellings', request('subscriptions/listen', params), session);
  expect(messageOf(listened.text).error.message).toBe("Resource 'file:///readme.md' is disabled");
});
