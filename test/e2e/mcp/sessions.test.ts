import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echo, initialize, mcpClient, messageOf } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until, within } from '../../support/until.ts';

/** Sessions of clients, and sessions that the gateway opens for callers who name none, with the server of the official SDK. */
let gateway: SharedGateway;
let upstream: McpUpstream;
let client: Awaited<ReturnType<typeof mcpClient>>;
const addServer = (slug: string, url: string) => client.addServer(slug, url);
const post = (slug: string, body: unknown, headers?: Record<string, string>) => client.post(slug, body, headers);
const begin = (slug: string) => client.begin(slug);

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startMcpUpstream()]);
  client = await mcpClient(gateway);
  await addServer('sample', upstream.url);
});
afterAll(async () => {
  await upstream?.close();
});

describe('a session', () => {
  it('belongs to its caller and its server, and ends when the settings of the server change', async () => {
    const { integration } = await addServer('moving', upstream.url);
    const session = await begin('moving');
    expect((await post('moving', echo('a'), session)).status).toBe(200);
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    for (const [slug, headers] of [
      ['moving', { ...session, 'x-svc-api-key': key }],
      ['sample', session],
      ['moving', { ...session, 'mcp-session-id': 'made-up' }],
    ] as const) {
      const refused = await post(slug, echo('b'), headers);
      expect([refused.status, messageOf(refused.text).error.code]).toEqual([404, -32001]);
    }
    await gateway.admin.put(`/mcp-integrations/${integration}`, { configurations: { headers: { 'x-team': 'a' } } });
    await until(async () => (await post('moving', echo('c'), session)).status === 404, { what: 'the end of the session' });
  });

  it('is reported as ended if the server has ended it; the id of the server never reaches the client', async () => {
    const session = await begin('sample');
    expect([...upstream.sessions.keys()]).not.toContain(session['mcp-session-id']);
    upstream.sessions.clear();
    const ended = await post('sample', echo('a'), session);
    expect([ended.status, messageOf(ended.text).error.message]).toEqual([404, 'Session not found']);
  });

  it.each([
    ['the key of its caller is deleted', ({ id }: { id: string }) => gateway.admin.delete(`/api-keys/${id}`)],
    ['its server is deleted', ({ server }: { server: string }) => gateway.admin.delete(`/mcp-servers/${server}`)],
  ])('ends its stream if %s', async (what, withdraw) => {
    const slug = `withdrawn-${what.length}`;
    const { server } = await addServer(slug, upstream.url);
    const { key, id } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const session = await client.begin(slug, initialize, { 'x-svc-api-key': key });
    const headers = { ...session, accept: 'text/event-stream', 'x-svc-api-key': key };
    const reply = await fetch(client.urlOf(slug), { headers });
    expect(reply.status).toBe(200);
    expect((await withdraw({ id, server })).status).toBe(200);
    // The stream is cut or ends.
    await within(
      reply.text().catch(() => ''),
      'the end of the stream',
    );
  });

  it('is not needed: the gateway opens one for the caller, and another one when the server has ended it', async () => {
    const opened = () => upstream.received.filter(({ headers }) => headers['mcp-session-id'] === undefined).length;
    const first = await post('sample', echo('without'));
    expect(messageOf(first.text)).toMatchObject({ id: 9, result: { content: [{ type: 'text', text: 'without' }] } });
    expect(first.headers.get('mcp-session-id')).toBeNull();
    const before = opened();
    expect((await post('sample', echo('again'))).status).toBe(200);
    expect(opened()).toBe(before);
    upstream.sessions.clear();
    expect(messageOf((await post('sample', echo('after'))).text)).toMatchObject({ result: { content: [{ text: 'after' }] } });
    expect(opened()).toBe(before + 1);
  });

  it('is also reported as ended, or opened again, if the server replies 400 without an id, as servers of the SDK do', async () => {
    const text = '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}';
    const refuseOnce = (): void => {
      upstream.override = (_, response) => {
        upstream.override = null;
        response.writeHead(400, { 'content-type': 'application/json' }).end(text);
      };
    };
    const session = await begin('sample');
    refuseOnce();
    const ended = await post('sample', echo('a'), session);
    expect([ended.status, ended.text]).toEqual([400, text]);
    expect((await post('sample', echo('without'))).status).toBe(200);
    refuseOnce();
    expect(messageOf((await post('sample', echo('after'))).text)).toMatchObject({ result: { content: [{ text: 'after' }] } });
  });

  it('is opened if a server that kept none now demands one', async () => {
    const changing = await startMcpUpstream();
    await addServer('changing', changing.url);
    changing.override = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","id":9,"result":{"content":[]}}');
    };
    expect(messageOf((await post('changing', echo('before'))).text)).toMatchObject({ result: { content: [] } });
    changing.override = null;
    expect(messageOf((await post('changing', echo('after'))).text)).toMatchObject({ result: { content: [{ text: 'after' }] } });
    await changing.close();
  });
});
