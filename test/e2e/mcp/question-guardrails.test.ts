import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpClient } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import {
  type McpUpstream,
  type SseUpstream,
  startMcpUpstream,
  startSseUpstream,
} from '../../support/tool-servers/mcp-upstream.ts';
import { type StatelessUpstream, startStatelessUpstream } from '../../support/tool-servers/stateless-upstream.ts';
import { until } from '../../support/until.ts';

/** Guardrails on the replies of clients to questions of servers (elicitation and sampling). */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let upstream: StatelessUpstream;
let sessions: McpUpstream;
let sse: SseUpstream;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startStatelessUpstream()]);
  client = await mcpClient(gateway);
  const made = await gateway.admin.post('/guardrails', {
    ...{ workspace_id: gateway.workspaceId, name: 'Replies', target: 'mcp_tools', actions: { deny: true } },
    checks: [{ id: 'default.contains', parameters: { words: ['secret'], operator: 'none' } }],
  });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  [sessions, sse] = await Promise.all([startMcpUpstream(), startSseUpstream()]);
  const configurations = { input_guardrails: [made.body.id] };
  await client.addServer('asks', upstream.url, { configurations });
  await client.addServer('asks-in-session', sessions.url, { configurations });
  await client.addServer('asks-over-sse', sse.url, { configurations, transport: 'sse' });
});
afterAll(() => Promise.all([upstream?.close(), sessions?.close(), sse?.close()]));

/** Calls a tool that asks for a name and then for a greeting. Returns the outcome and the number of calls that reached the server. */
async function call(name: string, greeting: string) {
  const sdk = new Client({ name: 'asked', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } });
  const questions: string[] = [];
  sdk.setRequestHandler(ElicitRequestSchema, ({ method }) => {
    questions.push(method);
    return { action: 'accept' as const, content: { name } };
  });
  sdk.setRequestHandler(CreateMessageRequestSchema, ({ method }) => {
    questions.push(method);
    return { model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text: greeting } };
  });
  const requestInit = { headers: { 'x-svc-api-key': gateway.workspaceKey } };
  const transport = new StreamableHTTPClientTransport(new URL(client.urlOf('asks')), { requestInit });
  await sdk.connect(transport as Parameters<Client['connect']>[0]);
  const before = upstream.received.length;
  const outcome = await sdk.callTool({ name: 'ask' }).then(
    (result) => (result.content as { text: string }[])[0]?.text,
    (error: unknown) => error,
  );
  const calls = upstream.received.slice(before).filter((headers) => headers['mcp-method'] === 'tools/call').length;
  await sdk.close();
  return { outcome, questions, calls };
}

describe('a guardrail on the arguments of a tool', () => {
  it('allows replies of the client that pass', async () => {
    expect(await call('Ada', 'Hello')).toEqual({
      outcome: 'Ada: Hello',
      questions: ['elicitation/create', 'sampling/createMessage'],
      calls: 3,
    });
  });

  it('denies a reply to elicitation, which does not reach the server', async () => {
    const { outcome, questions, calls } = await call('the secret name', 'Hello');
    expect(outcome).toMatchObject({ code: -32446, message: expect.stringContaining('Request blocked by guardrail') });
    expect([questions, calls]).toEqual([['elicitation/create'], 1]);
  });

  it('denies a reply to sampling, which does not reach the server', async () => {
    const { outcome, questions, calls } = await call('Ada', 'a secret greeting');
    expect(outcome).toMatchObject({ code: -32446, data: { reason: 'default.contains failed on the arguments of the tool' } });
    expect([questions, calls]).toEqual([['elicitation/create', 'sampling/createMessage'], 2]);
  });
});

describe.each(['asks-in-session', 'asks-over-sse'])('a guardrail on a server with sessions (%s)', (slug) => {
  async function call(tool: string, reply: string) {
    const sdk = new Client({ name: 'asked', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } });
    sdk.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { colour: reply } }));
    sdk.setRequestHandler(CreateMessageRequestSchema, () => {
      return { model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text: reply } };
    });
    const requestInit = { headers: { 'x-svc-api-key': gateway.workspaceKey } };
    const transport = new StreamableHTTPClientTransport(new URL(client.urlOf(slug)), { requestInit });
    const streams = () => sessions.received.filter(({ method }) => method === 'GET').length;
    const before = streams();
    await sdk.connect(transport as Parameters<Client['connect']>[0]);
    // The question goes over the stream of the session, which the client opens without waiting for it.
    if (slug === 'asks-in-session') await until(() => streams() > before, { what: 'the stream of the session' });
    const { content } = await sdk.callTool({ name: tool });
    await sdk.close();
    return (content as { text: string }[])[0]?.text;
  }

  it.each([
    ['choose', 'blue', 'blue'],
    ['ask', 'a model', 'the client said a model'],
    ['choose', 'secret', 'MCP error -32446: Request blocked by guardrail'],
    ['ask', 'a secret', 'MCP error -32446: Request blocked by guardrail'],
  ])('the tool %s gets the reply %j as %j', async (tool, reply, expected) => {
    expect(await call(tool, reply)).toBe(expected);
    if (slug === 'asks-over-sse') expect(JSON.stringify(sse.received)).not.toContain('secret');
  });
});
