import { afterAll, beforeAll, expect, it } from 'vitest';
import { a2aClient, rpc, said, v1 } from '../support/clients/a2a-client.ts';
import { echo, mcpClient } from '../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../support/product/shared-gateway.ts';
import { type A2aAgent, startA2aAgent } from '../support/tool-servers/a2a-agent.ts';
import { type McpUpstream, startMcpUpstream } from '../support/tool-servers/mcp-upstream.ts';

/** MCP servers and agents that repeat the stored credential in their errors. */
const secret = 'sk/of-the-integration-0123456789';
let gateway: SharedGateway;
let tools: Awaited<ReturnType<typeof mcpClient>>;
let agents: ReturnType<typeof a2aClient>;
let upstream: McpUpstream;
let agent: A2aAgent;
let session: Record<string, string>;

beforeAll(async () => {
  [gateway, upstream, agent] = await Promise.all([shareGateway(), startMcpUpstream(), startA2aAgent()]);
  tools = await mcpClient(gateway);
  agents = a2aClient(gateway);
  const headers = { authorization: `Bearer ${secret}` };
  await tools.addServer('repeating', upstream.url, { configurations: { headers }, auth_type: 'headers' });
  await agents.addAgent('repeating', agent.url, { agent_card: agent.card, configurations: { custom_headers: headers } });
  session = await tools.begin('repeating');
});
afterAll(() => Promise.all([upstream?.close(), agent?.close()]));

const error = { code: -32000, message: `the token ${secret} has expired` };
const rpcError = JSON.stringify({ jsonrpc: '2.0', id: 9, error });
const toolError = { content: [{ type: 'text', text: error.message }], isError: true };

it.each([
  ['an error', 200, 'application/json', rpcError],
  ['an error with escaped slashes', 200, 'application/json', rpcError.replace('sk/', 'sk\\/')],
  ['an error of the tool', 200, 'application/json', JSON.stringify({ jsonrpc: '2.0', id: 9, result: toolError })],
  ['an event', 200, 'text/event-stream', `data: ${rpcError}\n\n`],
])('MCP: a caller sees no credential of the server in %s', async (_, status, type, body) => {
  upstream.override = (incoming, response) => {
    incoming.resume();
    response.writeHead(status, { 'content-type': type }).end(body);
  };
  const reply = await tools.post('repeating', echo('hello'), session);
  upstream.override = null;
  expect(reply.text).toMatch(/the token \*{32,33} has expired/);
});

it('MCP: an error of the gateway about a reply of the server shows no credential', async () => {
  upstream.override = (incoming, response) => {
    incoming.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }));
  };
  const reply = await tools.post('repeating', { jsonrpc: '2.0', id: 9, method: 'tools/list' });
  upstream.override = null;
  expect(reply.text).toMatch(/the token \*{32,33} has expired/);
});

const failedTask = { id: 't', status: { state: 'TASK_STATE_FAILED', message: { parts: [{ text: error.message }] } } };

it.each([
  ['an error', 200, 'application/json', rpcError],
  ['a failed task', 200, 'application/json', JSON.stringify({ jsonrpc: '2.0', id: 7, result: { task: failedTask } })],
  ['an event', 200, 'text/event-stream', `data: ${rpcError}\n\n`],
  ['an error status', 500, 'text/plain', error.message],
])('A2A: a caller sees no credential of the agent in %s', async (_, status, type, body) => {
  agent.override = (incoming, response) => {
    incoming.resume();
    response.writeHead(status, { 'content-type': type }).end(body);
  };
  const reply = await fetch(agents.urlOf('repeating'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-api-key': gateway.workspaceKey, ...v1 },
    body: JSON.stringify(rpc('SendMessage', said('hello'))),
  });
  const text = await reply.text();
  agent.override = null;
  expect(text).toMatch(/the token \*{32,33} has expired/);
});
