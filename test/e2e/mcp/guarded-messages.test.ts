import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, mcpClient, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';

/** Guardrails on messages beside calls of tools and their results. The server replies what a test sets. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let server: Server;
let session: Record<string, string>;
/** Guardrails that deny and redact. */
let names: string[];
let reply: (id: unknown, response: ServerResponse) => void;
const received: string[] = [];
const done = { content: [{ type: 'text', text: 'fine' }] };

const json = (message: JsonObject) => (id: unknown, response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
const events =
  (...messages: JsonObject[]) =>
  (id: unknown, response: ServerResponse) => {
    const all = [...messages, { id, result: done }].map((message) => ({ jsonrpc: '2.0', ...message }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(all.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(''));
  };
const initialised = {
  result: {
    ...{ protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' } },
    capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
  },
};

beforeAll(async () => {
  server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      if (incoming.method === 'GET') return reply(undefined, response);
      const { id, method } = JSON.parse(body);
      response.setHeader('mcp-session-id', 'one');
      if (method === 'initialize') return json(initialised)(id, response);
      received.push(body);
      if (id === undefined) return response.writeHead(202).end();
      reply(id, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway = await shareGateway();
  client = await mcpClient(gateway);
  const save = async (name: string, check: JsonObject, actions: JsonObject) => {
    const fields = { workspace_id: gateway.workspaceId, name, target: 'mcp_tools', actions, checks: [check] };
    return String((await gateway.admin.create('/guardrails', fields)).slug);
  };
  const denies = { id: 'default.contains', parameters: { words: ['forbidden', '47114711'], operator: 'none' } };
  const redacts = { id: 'default.regexReplace', parameters: { rule: 'secret', redactText: 'word' } };
  const form = { id: 'default.contains', parameters: { words: ['fine'], operator: 'any' } };
  const both = [await save('Denies', denies, { deny: true }), await save('Redacts', redacts, {})];
  names = both;
  const output_guardrails = [...both, await save('Form', form, { deny: true })];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  await client.addServer('messages', url, { configurations: { input_guardrails: both, output_guardrails } });
  session = await client.begin('messages');
  const needsText = { id: 'default.regexMatch', parameters: { rule: 'forbidden', not: true, failOnError: true } };
  const needsForm = { id: 'default.wordCount', parameters: { minWords: 3 } };
  const strict = [await save('Needs a text', needsText, { deny: true }), await save('Needs a form', needsForm, { deny: true })];
  await client.addServer('strict', url, { configurations: { input_guardrails: strict, output_guardrails: strict } });
});
afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});

const post = async (message: unknown) => (await client.post('messages', message, session)).text;

describe('guardrails of tools read and redact', () => {
  it.each<[string, (word: string) => JsonObject]>([
    ['arguments of a prompt', (word) => request('prompts/get', { name: 'p', arguments: { a: word } })],
    ['the address of a resource', (word) => request('resources/read', { uri: `x://${word}` })],
    [
      'a text to complete',
      (word) => request('completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: word } }),
    ],
    ['a method that the protocol does not have', (word) => request('x/y', { a: word })],
    ['parameters beside the arguments', (word) => request('tools/call', { name: 't', arguments: {}, input: word })],
    ['metadata of a call', (word) => request('tools/call', { name: 't', arguments: {}, _meta: { progressToken: 1, a: word } })],
    [
      'a progress notice',
      (word) => ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1, message: word } }),
    ],
    ['an error for a question', (word) => ({ jsonrpc: '2.0', id: 'q', error: { code: -1, message: word } })],
    ['a reply to a question that is a text', (word) => ({ jsonrpc: '2.0', id: 'q', result: word })],
    ['a member beside a reply to a question', (word) => ({ jsonrpc: '2.0', id: 'q', result: {}, note: word })],
    ['the name of a parameter of a method', (word) => request('x/y', { [word]: 1 })],
    ['the name of a parameter beside the arguments', (word) => request('tools/call', { name: 't', arguments: {}, [word]: 1 })],
    ['a name that begins like one of the protocol', (word) => callTool('t', { [`io.modelcontextprotocol/${word}`]: 1 })],
    ['a name in the metadata of a call', (word) => request('tools/call', { name: 't', _meta: { progressToken: 1, [word]: 1 } })],
    [
      'a name in the metadata of a prompt',
      (word) => request('prompts/get', { name: 'p', _meta: { progressToken: 1, [word]: 1 } }),
    ],
    ['metadata that is no object', (word) => request('tools/call', { name: 't', arguments: {}, _meta: word })],
    [
      'metadata that the protocol does not define',
      (word) => request('tools/call', { name: 't', _meta: { 'io.modelcontextprotocol/other': word } }),
    ],
    ['a parameter of a method of tasks', (word) => request('tasks/cancel', { taskId: 't', reason: word })],
    ['the parameter name of a method of tasks', (word) => request('tasks/cancel', { taskId: 't', name: word })],
    ['metadata of a method of tasks', (word) => request('tasks/get', { taskId: 't', _meta: { a: word } })],
    ['an id of a task that is no text', (word) => request('tasks/cancel', { taskId: [word] })],
    ['a place in a list of tasks with several words', (word) => request('tasks/list', { cursor: `a ${word}` })],
    [
      'a name in the parameters of a task',
      (word) => request('tools/call', { name: 't', arguments: {}, task: { ttl: 1, [word]: 1 } }),
    ],
    [
      'a token of progress with several words',
      (word) => request('tools/call', { name: 't', _meta: { progressToken: `a ${word}` } }),
    ],
    ['a parameter of a ping', (word) => request('ping', { note: word })],
    ['a name in the metadata of a ping', (word) => request('ping', { _meta: { [word]: 1 } })],
    ['a parameter of a list', (word) => request('prompts/list', { cursor: 'c', note: word })],
    ['a place in a list that is no text', (word) => request('resources/list', { cursor: { a: word } })],
    [
      'a name in the reply to an elicitation',
      (word) => ({ jsonrpc: '2.0', id: 'q', result: { action: 'accept', content: { [word]: 1 } } }),
    ],
  ])('%s on the way to the server', async (_name, message) => {
    reply = json({ result: done });
    received.length = 0;
    await post(message('forbidden'));
    expect(received.filter((body) => body.includes('forbidden'))).toEqual([]);
    await post(message('secret'));
    expect(JSON.parse(received.at(-1) as string)).toEqual(message('word'));
  });

  it.each([request('ping', {}), request('prompts/list', { cursor: 'c' }), request('prompts/get', { name: 'p' }), callTool('t')])(
    'no member beside the parameters of $method is sent',
    async (message) => {
      reply = json({ result: done });
      await post({ ...message, note: 'forbidden' });
      expect(JSON.parse(received.at(-1) as string)).toEqual(message);
    },
  );

  it.each<[string, JsonObject]>([
    ['the reply to an elicitation', { jsonrpc: '2.0', id: 'q', result: { action: 'accept', content: { card: 47114711 } } }],
    ['data of an error for a question', { jsonrpc: '2.0', id: 'q', error: { code: -1, message: 'm', data: { card: 47114711 } } }],
    ['metadata of a call', request('tools/call', { name: 't', arguments: {}, _meta: { card: 47114711 } })],
    ['a parameter beside the arguments', request('tools/call', { name: 't', arguments: {}, card: 47114711 })],
    [
      'the call of a tool in a sampled message',
      { jsonrpc: '2.0', id: 'q', result: { role: 'assistant', content: { type: 'tool_use', input: { card: 47114711 } } } },
    ],
  ])('a number in %s on the way to the server', async (_name, message) => {
    reply = json({ result: done });
    received.length = 0;
    await post(message);
    expect(received.filter((body) => body.includes('47114711'))).toEqual([]);
  });

  it.each<[string, (id: unknown, response: ServerResponse) => void]>([
    ['metadata of a result', json({ result: { ...done, _meta: { card: 47114711 } } })],
    ['data of an error', json({ error: { code: -1, message: 'm', data: { card: 47114711 } } })],
    ['data of a notice', events({ method: 'notifications/message', params: { level: 'info', data: { card: 47114711 } } })],
    ['data of a notice that is a number', events({ method: 'notifications/message', params: { data: 47114711 } })],
  ])('a number in %s of a server', async (_name, sent) => {
    reply = sent;
    expect(await post(callTool('t'))).not.toContain('47114711');
  });

  it.each<[string, JsonObject, (word: string) => JsonObject]>([
    [
      'a prompt',
      request('prompts/get', { name: 'p' }),
      (word) => ({ messages: [{ role: 'user', content: { type: 'text', text: word } }] }),
    ],
    ['a resource', request('resources/read', { uri: 'a:b' }), (word) => ({ contents: [{ uri: 'a:b', text: word }] })],
    [
      'a resource whose bytes are text',
      request('resources/read', { uri: 'a:b' }),
      (word) => ({ contents: [{ uri: 'a:b', mimeType: 'text/plain', blob: Buffer.from(word).toString('base64') }] }),
    ],
    ['the result of another method', request('x/y'), (word) => ({ a: word })],
  ])('%s', async (_name, message, result) => {
    reply = json({ result: result('forbidden') });
    expect(JSON.parse(await post(message)).error.code).toBe(-32446);
    reply = json({ result: result('secret') });
    expect(JSON.parse(await post(message)).result).toEqual(result('word'));
  });

  it('a result that is a text, and send no member beside the result', async () => {
    reply = json({ result: 'forbidden' as unknown as JsonObject });
    expect(JSON.parse(await post(callTool('t'))).error.code).toBe(-32446);
    reply = json({ result: done, note: 'forbidden' });
    expect(JSON.parse(await post(callTool('t')))).toEqual({ jsonrpc: '2.0', id: 9, result: done });
  });

  it('notices of a server: a denied one is not sent', async () => {
    const log = (word: string) => ({ method: 'notifications/message', params: { level: 'info', data: word } });
    reply = events(log('forbidden'), log('secret'), log('other'));
    const text = await post(callTool('t'));
    expect([...text.matchAll(/"data":"(\w+)"/g)].map(([, word]) => word)).toEqual(['word', 'other']);
    expect(text).toContain('"text":"fine"');
  });

  it('notices of a server, of which no member beside the parameters is sent', async () => {
    reply = events({ method: 'notifications/message', params: { level: 'info', data: 'word' }, note: 'forbidden' });
    const text = await post(callTool('t'));
    expect(text).toContain('"data":"word"');
    expect(text).not.toContain('forbidden');
  });

  it('questions of a server: a denied one ends the call', async () => {
    const ask = (word: string) => ({ id: 'q', method: 'elicitation/create', params: { message: word, requestedSchema: {} } });
    reply = events(ask('forbidden'));
    const text = await post(callTool('t'));
    expect(text).toContain('-32446');
    expect(text).not.toMatch(/forbidden|fine/);
    reply = events(ask('secret'));
    expect(await post(callTool('t'))).toMatch(/"message":"word".*"text":"fine"/s);
  });

  it('the stream of a session', async () => {
    const log = (word: string) => ({ method: 'notifications/message', params: { level: 'info', data: word } });
    reply = events(log('forbidden'), log('secret'));
    const headers = { accept: 'text/event-stream', 'x-svc-api-key': gateway.workspaceKey, ...session };
    const text = await (await fetch(client.urlOf('messages'), { headers })).text();
    expect(text).toContain('"data":"word"');
    expect(text).not.toContain('forbidden');
  });
});

describe('guardrails of tools that demand a text or a form of it', () => {
  const subscribe = request('resources/subscribe', { uri: 'a:b' });
  it.each<[string, JsonObject, JsonObject]>([
    ['a notice without a text', { jsonrpc: '2.0', method: 'notifications/roots/list_changed' }, {}],
    ['a request whose result has no text', subscribe, {}],
    ['a reply without a text to a question', { jsonrpc: '2.0', id: 'q', result: { roots: [] } }, {}],
    ['a short reply to a question', { jsonrpc: '2.0', id: 'q', result: { action: 'decline' } }, {}],
    ['a request with a short text', request('prompts/get', { name: 'p', arguments: { a: 'b' } }), { messages: [] }],
  ])('pass %s', async (_name, message, result) => {
    const strict = await client.begin('strict');
    reply = json({ result });
    received.length = 0;
    const { text } = await client.post('strict', message, strict);
    expect(JSON.parse(received.at(-1) as string)).toEqual(message);
    expect(text).not.toContain('-32446');
  });

  it('pass a ping of the server in a call', async () => {
    const strict = await client.begin('strict');
    reply = events({ id: 'q', method: 'ping' }, { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    const call = callTool('t', { a: 'three short words' });
    const { text } = await client.post('strict', call, strict);
    expect(text).toContain('"method":"ping"');
    expect(text).toContain('"progress":1');
  });
});

describe('guardrails of tools at a server without sessions', () => {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const heads: IncomingHttpHeaders[] = [];
  const stateless = createServer((incoming, response) => {
    heads.push(incoming.headers);
    incoming.resume().on('end', () => json({ result: { resultType: 'complete', ...done } })(9, response));
  });
  beforeAll(async () => {
    await once(stateless.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(stateless.address() as AddressInfo).port}/mcp`;
    await client.addServer('stateless-checked', url, { configurations: { input_guardrails: names } });
  });
  afterAll(() => void stateless.close());
  const send = (message: { method: string; params: JsonObject }, headers: Record<string, string>) =>
    client.post('stateless-checked', message, {
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method, ...headers },
    });
  const coded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
  const call = (value: string) => request('tools/call', { name: 't', arguments: { a: value }, _meta });

  it('read and redact headers that repeat arguments', async () => {
    for (const value of ['forbidden', coded('forbidden')]) {
      heads.length = 0;
      expect((await send(call('x'), { 'mcp-name': 't', 'mcp-param-a': value })).text).toContain('-32446');
      expect(heads).toEqual([]);
    }
    for (const value of ['secret', coded('secret')]) {
      await send(call('secret'), { 'mcp-name': 't', 'mcp-param-a': value, 'mcp-param-b': 'eu' });
      expect(heads.at(-1)).toMatchObject({ 'mcp-name': 't', 'mcp-param-a': 'word', 'mcp-param-b': 'eu' });
    }
  });

  it('redact the header that repeats the address of a resource', async () => {
    await send(request('resources/read', { uri: 'x://secret', _meta }), { 'mcp-name': 'x://secret' });
    expect(heads.at(-1)).toMatchObject({ 'mcp-name': 'x://word' });
  });

  it('send no headers of arguments with other methods', async () => {
    await send(request('prompts/list', { _meta }), { 'mcp-param-a': 'forbidden' });
    expect(heads.at(-1)).not.toHaveProperty('mcp-param-a');
  });
});
