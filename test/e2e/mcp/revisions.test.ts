import { Client as StatelessClient, StreamableHTTPClientTransport as StatelessTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type ElicitResult,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, echo, initialize, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { type StatelessUpstream, startStatelessUpstream } from '../../support/tool-servers/stateless-upstream.ts';
import { until } from '../../support/until.ts';

/** Clients and servers of different revisions, of both generations of the official SDK. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let sessions: McpUpstream;
let stateless: StatelessUpstream;

beforeAll(async () => {
  [gateway, sessions, stateless] = await Promise.all([shareGateway(), startMcpUpstream(), startStatelessUpstream()]);
  client = await mcpClient(gateway);
  await client.addServer('sessions', sessions.url);
  await client.addServer('stateless', stateless.url);
});
afterAll(async () => {
  await Promise.all([sessions?.close(), stateless?.close()]);
});

const credential = () => ({ requestInit: { headers: { 'x-svc-api-key': gateway.workspaceKey } } });

async function withSession(slug: string): Promise<Client> {
  const sdk = new Client({ name: 'of-sessions', version: '7' }, { capabilities: { sampling: {} } });
  const transport = new StreamableHTTPClientTransport(new URL(client.urlOf(slug)), credential());
  await sdk.connect(transport as Parameters<Client['connect']>[0]);
  return sdk;
}

async function withoutSession(slug: string): Promise<StatelessClient> {
  const sdk = new StatelessClient({ name: 'stateless', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await sdk.connect(new StatelessTransport(new URL(client.urlOf(slug)), credential()));
  return sdk;
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;

describe('a client with sessions at a server of 2026-07-28', () => {
  it('lists and calls tools, with progress, and reads prompts and resources', async () => {
    const sdk = await withSession('stateless');
    expect([sdk.getServerVersion(), sdk.getInstructions()]).toMatchObject([{ name: 'modern', version: '1' }, 'Be kind.']);
    expect(sdk.getServerCapabilities()).toMatchObject({ tools: { listChanged: true }, prompts: {}, resources: {} });
    const { tools, ...others } = await sdk.listTools();
    expect([tools.map(({ name }) => name), Object.keys(others)]).toEqual([['echo', 'client', 'progress', 'ask'], ['_meta']]);
    expect(textOf(await sdk.callTool({ name: 'echo', arguments: { text: 'hé' } }))).toBe('hé');
    expect(stateless.received.at(-1)).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'echo' });
    expect(stateless.received.at(-1)).not.toHaveProperty('mcp-session-id');
    const seen: number[] = [];
    const called = await sdk.callTool({ name: 'progress' }, undefined, {
      onprogress: ({ progress }) => void seen.push(progress),
    });
    expect([seen, textOf(called)]).toEqual([[1], 'done']);
    expect((await sdk.getPrompt({ name: 'greet' })).messages).toHaveLength(1);
    expect((await sdk.readResource({ uri: 'file:///readme.md' })).contents[0]).toMatchObject({ text: '# Read me' });
    await sdk.ping();
    await expect(sdk.request({ method: 'zz/yy' } as never, {} as never)).rejects.toThrow(/-32601/);
    await sdk.close();
  });

  it('is named to the server with its own capabilities', async () => {
    const sdk = await withSession('stateless');
    expect(JSON.parse(textOf(await sdk.callTool({ name: 'client' })) ?? '')).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'of-sessions', version: '7' },
      'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
    });
    await sdk.close();
  });

  describe('questions of the server', () => {
    const capabilities = { sampling: {}, elicitation: {} };
    const asked = async (elicited: ElicitResult) => {
      const sdk = new Client({ name: 'asked', version: '1' }, { capabilities });
      sdk.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ ...elicited, _meta: { message: params.message } }));
      sdk.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        const text = `Hello (${JSON.stringify(params.messages[0]?.content)})`;
        return { model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text } };
      });
      const transport = new StreamableHTTPClientTransport(new URL(client.urlOf('stateless')), credential());
      await sdk.connect(transport as Parameters<Client['connect']>[0]);
      return sdk;
    };

    it('gets its questions as requests, and the result after its replies', async () => {
      const sdk = await asked({ action: 'accept', content: { name: 'Ada' } });
      expect(textOf(await sdk.callTool({ name: 'ask' }))).toBe('Ada: Hello ({"type":"text","text":"Greet Ada"})');
      await sdk.close();
    });

    it('refuses a question, and gets an error that names it', async () => {
      const sdk = await asked({ action: 'accept', content: { name: 'Ada' } });
      sdk.removeRequestHandler('sampling/createMessage');
      await expect(sdk.callTool({ name: 'ask' })).rejects.toThrow(
        'The client refused sampling/createMessage, which the MCP server needs: Method not found',
      );
      await sdk.close();
    });

    it.each([
      ['202', 202, '', 'replied with status 202'],
      ['204', 204, '', 'replied with status 204'],
      ['invalid JSON', 200, '{"jsonrpc":"2.0"', 'sent no result (status 200)'],
      ['no result', 200, '{"jsonrpc":"2.0","id":9}', 'sent a reply without a result and without an error'],
      [
        'a deep result',
        200,
        `{"id":9,"result":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_001)}`,
        'sent a message that is nested too deeply',
      ],
    ])('may be asked by a call, which fails if the server replies with %s', async (_, status, body, text) => {
      const session = await client.begin('stateless', { ...initialize, params: { ...initialize.params, capabilities } });
      stateless.override = (response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      const reply = await client.post('stateless', echo('a'), session);
      stateless.override = null;
      expect([reply.status, messageOf(reply.text)]).toMatchObject([
        502,
        { id: 9, error: { message: expect.stringContaining(`The MCP server stateless ${text}`) } },
      ]);
    });

    it('cannot reply for another session', async () => {
      const begin = { ...initialize, params: { ...initialize.params, capabilities } };
      const [own, other] = await Promise.all([client.begin('stateless', begin), client.begin('stateless', begin)]);
      const headers = { ...own, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const calling = await fetch(client.urlOf('stateless'), {
        method: 'POST',
        headers: { ...headers, 'x-svc-api-key': gateway.workspaceKey },
        body: JSON.stringify(callTool('ask')),
      });
      const reader = calling.body?.pipeThrough(new TextDecoderStream()).getReader() as ReadableStreamDefaultReader<string>;
      const question = messageOf((await reader.read()).value ?? '');
      expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Who are you?' } });
      const replied = (name: string) => ({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { name } } });
      expect((await client.post('stateless', replied('Eve'), other)).status).toBe(202);
      expect((await client.post('stateless', replied('Ada'), own)).status).toBe(202);
      const next = messageOf((await reader.read()).value ?? '');
      expect(next).toMatchObject({
        method: 'sampling/createMessage',
        params: { messages: [{ content: { text: 'Greet Ada' } }] },
      });
      await reader.cancel();
    });
  });

  it('receives notices of changed lists on its stream', async () => {
    const sdk = await withSession('stateless');
    let notices = 0;
    sdk.setNotificationHandler(ToolListChangedNotificationSchema, () => void notices++);
    await until(
      () => {
        stateless.changeTools();
        return notices > 0;
      },
      { what: 'a notice' },
    );
    await sdk.close();
  });

  it.each(['2025-11-25', '2025-06-18', '2025-03-26'])('gets the revision %s that it asks for, in a session', async (revision) => {
    const begun = await client.post('stateless', { ...initialize, params: { ...initialize.params, protocolVersion: revision } });
    expect(messageOf(begun.text).result.protocolVersion).toBe(revision);
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': revision };
    expect((await client.post('stateless', { jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status).toBe(202);
    expect(messageOf((await client.post('stateless', echo('a'), session)).text).result).toMatchObject({
      content: [{ type: 'text', text: 'a' }],
    });
    const refused = await client.post('stateless', request('logging/setLevel', { level: 'info' }), session);
    expect([refused.status, messageOf(refused.text).error.code]).toEqual([200, -32601]);
    const unknown = await client.post('stateless', request('zz/yy'), session);
    expect([unknown.status, messageOf(unknown.text).error.code]).toEqual([200, -32601]);
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    expect((await client.post('stateless', echo('b'), { ...session, 'x-svc-api-key': key })).status).toBe(404);
  });

  it('gets no session if it states the revision without sessions', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'initialize' };
    const refused = await client.post('stateless', request('initialize', { ...initialize.params, _meta: meta }), headers);
    expect([refused.status, refused.headers.get('mcp-session-id')]).toEqual([expect.any(Number), null]);
    expect(messageOf(refused.text)).toHaveProperty('error');
  });

  it('needs no session', async () => {
    const reply = messageOf((await client.post('stateless', echo('alone'))).text);
    expect(reply.result).toMatchObject({ content: [{ type: 'text', text: 'alone' }] });
    expect(reply.result).not.toHaveProperty('resultType');
  });

  it('is refused if it states too much about itself', async () => {
    const clientInfo = { name: 'x'.repeat(5_000), version: '1' };
    const refused = await client.post('stateless', { ...initialize, params: { ...initialize.params, clientInfo } });
    expect(messageOf(refused.text).error).toMatchObject({ code: -32602, message: expect.stringContaining('clientInfo') });
  });
});

describe('a client of 2026-07-28 at a server with sessions', () => {
  it('lists and calls tools, with progress, in a session of its caller', async () => {
    const sdk = await withoutSession('sessions');
    expect([sdk.getServerVersion(), sdk.getNegotiatedProtocolVersion()]).toMatchObject([{ name: 'sample' }, '2026-07-28']);
    expect((await sdk.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect(textOf(await sdk.callTool({ name: 'echo', arguments: { text: 'hé' } }))).toBe('hé');
    const last = sessions.received.at(-1)?.headers;
    expect([last?.['mcp-session-id'], last?.['mcp-protocol-version'], last?.['mcp-method']]).toEqual([
      expect.any(String),
      '2025-11-25',
      undefined,
    ]);
    const seen: number[] = [];
    await sdk.callTool({ name: 'progress' }, { onprogress: ({ progress }) => void seen.push(progress) });
    expect(seen).toEqual([1, 2]);
    expect((await sdk.readResource({ uri: 'file:///readme.md' })).contents[0]).toMatchObject({ text: '# Read me' });
    expect((await sdk.getPrompt({ name: 'greet', arguments: { name: 'you' } })).messages).toHaveLength(1);
    const before = sessions.sessions.size;
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const meta = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list', 'x-svc-api-key': key };
    const listed = messageOf((await client.post('sessions', request('tools/list', meta), headers)).text);
    expect(listed.result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
    expect(sessions.sessions.size).toBe(before + 1);
    await sdk.close();
  });

  it.each([
    ['that cannot be asked', {}, '2026-07-28'],
    ['with sampling', { sampling: {} }, '2025-11-25'],
  ])(
    'uses the revision in which it keeps its capabilities, if it is one of both revisions %s',
    async (_, capabilities, revision) => {
      const sdk = new StatelessClient({ name: 'both', version: '1' }, { capabilities, versionNegotiation: { mode: 'auto' } });
      await sdk.connect(new StatelessTransport(new URL(client.urlOf('sessions')), credential()));
      expect(sdk.getNegotiatedProtocolVersion()).toBe(revision);
      expect(textOf(await sdk.callTool({ name: 'echo', arguments: { text: 'a' } }))).toBe('a');
      await sdk.close();
    },
  );

  it('receives notices of the lists that it subscribes to', async () => {
    const sdk = await withoutSession('sessions');
    let notices = 0;
    sdk.setNotificationHandler('notifications/tools/list_changed', () => void notices++);
    const subscription = await sdk.listen({ toolsListChanged: true });
    sessions.addTool('added');
    await until(() => notices > 0, { what: 'the notice' });
    expect((await sdk.listTools({}, { cacheMode: 'refresh' })).tools.map(({ name }) => name)).toContain('added');
    // Servers end sessions whose client does not reply to their pings.
    const [transport] = [...sessions.sessions.values()].slice(-1) as [StreamableHTTPServerTransport];
    const replies: unknown[] = [];
    transport.onmessage = (message) => void replies.push(message);
    await transport.send({ jsonrpc: '2.0', id: 'alive', method: 'ping' });
    await until(() => replies.length > 0, { what: 'the reply to the ping' });
    expect(replies).toEqual([{ jsonrpc: '2.0', id: 'alive', result: {} }]);
    const open = sessions.sessions.size;
    await subscription.close();
    await until(() => sessions.sessions.size < open, { what: 'the end of the session' });
    await sdk.close();
  });
});
