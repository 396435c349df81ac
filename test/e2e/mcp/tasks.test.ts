import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { until } from '../../support/until.ts';

/** Calls of tools that become tasks: their results are read, and their questions replied to, with further methods. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
const received: JsonObject[] = [];
let content: JsonObject;
let structuredContent: JsonObject;

const http = createServer(async (incoming, response) => {
  const message = JSON.parse(Buffer.concat(await incoming.toArray()).toString());
  received.push(message);
  const results: Record<string, () => JsonObject> = {
    'tools/call': () => ({ resultType: 'task', taskId: 't', status: 'working' }),
    'tasks/get': () => ({ taskId: 't', status: 'completed', result: { content: [content], structuredContent } }),
    'tasks/result': () => ({ content: [content], structuredContent }),
    'tasks/update': () => ({ resultType: 'complete' }),
  };
  if (message.method === 'subscriptions/listen') {
    const notice = (method: string, params: JsonObject) => `data: ${JSON.stringify({ jsonrpc: '2.0', method, params })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(notice('notifications/tasks', { taskId: 't', status: 'completed', result: { content: [content] } }));
    response.end(notice('notifications/tasks', { taskId: 'u', status: 'working' }));
    return;
  }
  const result = results[message.method]?.() ?? {};
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', ...result } }));
});

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const send = async (slug: string, method: string, params: JsonObject = { taskId: 't' }) => {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
  const named: Record<string, string> = method === 'tools/call' ? { 'mcp-name': String(params.name) } : {};
  return client.post(slug, request(method, { ...params, _meta: meta }), { ...headers, ...named });
};
const post = async (slug: string, method: string, params?: JsonObject) => {
  const reply = await send(slug, method, params);
  return { message: messageOf(reply.text), trace: reply.headers.get('x-svc-trace-id') };
};
const text = (value: string) => ({ type: 'text', text: value });

beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  gateway = await shareGateway();
  client = await mcpClient(gateway);
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  await client.addServer('tasks-open', url);
  const { server } = await client.addServer('tasks-checked', url);
  for (const [word, run_on] of [
    ['forbidden', ['output']],
    ['4711', ['output']],
    ['confidential', ['input']],
  ] as const) {
    const saved = await gateway.admin.create('/guardrails', {
      ...{ workspace_id: gateway.workspaceId, name: word, target: 'mcp_tools', actions: { deny: true } },
      checks: [{ id: 'default.contains', parameters: { words: [word], operator: 'none' } }],
    });
    await gateway.admin.put(`/guardrails/${String(saved.id)}/mcp-servers`, { mcp_servers: { [server]: { run_on } } });
  }
  content = text('forbidden');
  structuredContent = {};
  await until(async () => (await post('tasks-checked', 'tasks/result')).message.error, { what: 'the guardrails' });
});
afterAll(() => {
  http.closeAllConnections();
  http.close();
});

describe('the result of a task', () => {
  it.each(['tasks/get', 'tasks/result'])('is checked by output guardrails, read with %s', async (method) => {
    content = text('fine');
    structuredContent = {};
    expect((await post('tasks-checked', method)).message).toMatchObject({ id: 9, result: { resultType: 'complete' } });
    content = text('forbidden');
    expect((await post('tasks-checked', method)).message.error.code).toBe(-32446);
    expect((await post('tasks-open', method)).message.result).toBeDefined();
    content = text('fine');
    structuredContent = { total: 4711 };
    expect((await post('tasks-checked', method)).message.error.code).toBe(-32446);
    structuredContent = {};
    content = { type: 'image', mimeType: 'image/png', data: Buffer.from('forbidden').toString('base64') };
    expect((await post('tasks-checked', method)).message.result).toBeDefined();
  });

  it('does not arrive with a notice if it must be checked', async () => {
    content = text('forbidden');
    const notices = async (slug: string) => (await send(slug, 'subscriptions/listen', {})).text.match(/"taskId":"\w"/g);
    expect(await notices('tasks-checked')).toEqual(['"taskId":"u"']);
    expect(await notices('tasks-open')).toEqual(['"taskId":"t"', '"taskId":"u"']);
  });

  it('counts as tokens, and the state of a task does not', async () => {
    content = text('x'.repeat(400));
    structuredContent = {};
    const logOf = async (trace: string | null) =>
      until(
        async () => {
          const path = `/logs?trace_id=${trace}&workspace_id=${gateway.workspaceId}`;
          return (await gateway.admin.get(path)).body.data[0] ?? null;
        },
        { what: 'the log' },
      );
    const read = await logOf((await post('tasks-open', 'tasks/get')).trace);
    expect((read.metrics ?? read).req_units).toBeGreaterThanOrEqual(100);
    const changed = await logOf((await post('tasks-open', 'tasks/update', { taskId: 't' })).trace);
    expect((changed.metrics ?? changed).req_units).toBe(0);
  });
});

describe('replies to questions of a task', () => {
  it('are checked by input guardrails before the server gets them', async () => {
    const update = (value: string) => ({ taskId: 't', inputResponses: { who: { action: 'accept', content: { name: value } } } });
    received.length = 0;
    expect((await post('tasks-checked', 'tasks/update', update('confidential'))).message.error.code).toBe(-32446);
    expect(received.filter(({ method }) => method === 'tasks/update')).toEqual([]);
    expect((await post('tasks-checked', 'tasks/update', update('Ada'))).message.result).toBeDefined();
    expect(received.find(({ method }) => method === 'tasks/update')?.params).toMatchObject(update('Ada'));
  });
});
