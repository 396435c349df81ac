import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type RunningGateway, startGateway } from '../../support/product/start-gateway.ts';
import { connectAccount, type McpUser, newMcpUser } from '../../support/samples/mcp-users.ts';
import { type OAuthUpstream, startOAuthUpstream } from '../../support/tool-servers/oauth-upstream.ts';
import { until } from '../../support/until.ts';

/** Users with accounts of their own at one MCP server, over three gateway processes of which one is killed. */
let gateway: RunningGateway;
let upstream: OAuthUpstream;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([startGateway({ env: { GATEWAY_PROCESSES: '3' } }), startOAuthUpstream()]);
});
afterAll(async () => {
  await upstream?.close();
  await gateway?.stop();
});

describe('a gateway process that is killed', () => {
  it('loses no call after one retry, and nothing of one user reaches another', async () => {
    const client = await mcpClient(gateway);
    await client.addServer('issues', upstream.url, { auth_type: 'oauth_auto' });
    const users: { user: McpUser; account: string; session: Record<string, string> }[] = [];
    for (const account of ['ada', 'bob']) {
      const user = await newMcpUser(gateway, `${account}@killed.example.com`);
      const key = { 'x-svc-api-key': user.key };
      const asked = messageOf((await client.post('issues', request('tools/list'), key)).text);
      await connectAccount(gateway, upstream, { user, account, url: asked.error.data.authorizationUrl });
      const session = await until(
        async () => {
          const sent = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: account, version: '1' } };
          const { headers } = await client.post('issues', request('initialize', sent), key);
          const id = headers.get('mcp-session-id');
          return id === null ? null : { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': id };
        },
        { what: 'a session' },
      );
      users.push({ user, account, session });
    }

    let done = 0;
    let killedAt: number | null = null;
    let retries = 0;
    let lastId = 100;
    /** Calls once more if the connection breaks or the process cannot serve. A second failure fails the test. */
    const call = async (headers: Record<string, string>): Promise<string> => {
      const id = ++lastId;
      const body = { ...callTool('credential'), id };
      const first = await client.post('issues', body, headers).catch(() => null);
      if (first === null || first.status >= 500) retries += 1;
      const reply = first === null || first.status >= 500 ? await client.post('issues', body, headers) : first;
      const message = messageOf(reply.text);
      expect([reply.status, message.id], reply.text).toEqual([200, id]);
      return message.result.content[0].text;
    };
    const worker = async ({ user, account, session }: (typeof users)[number], inSession: boolean): Promise<void> => {
      const headers = { 'x-svc-api-key': user.key, ...(inSession ? session : {}) };
      while (killedAt === null || done < killedAt + 200) {
        const token = (await call(headers)).replace('Bearer ', '');
        expect(await upstream.accountOf(token)).toBe(account);
        done += 1;
      }
    };
    /** Kills a process that serves calls. One without connections of this test breaks none, so the next one is killed. */
    const kill = async (): Promise<void> => {
      await until(() => done >= 50, { what: 'calls before the kill' });
      for (const pid of gateway.pidsOf('gateway')) {
        process.kill(pid, 'SIGKILL');
        const before = done;
        await until(() => retries > 0 || done >= before + 50, { what: 'calls after the kill' });
        if (retries > 0) break;
      }
      killedAt = done;
    };
    const workers = users.flatMap((one) => [worker(one, true), worker(one, false), worker(one, true)]);
    await Promise.all([kill(), ...workers]);
    expect(done).toBeGreaterThanOrEqual(250);
    expect(retries).toBeGreaterThan(0);
    expect(retries).toBeLessThanOrEqual(workers.length);
    const accountsOf = new Map<string, Set<string | undefined>>();
    for (const { headers } of upstream.received) {
      const id = headers['mcp-session-id'];
      if (typeof id !== 'string') continue;
      if (!accountsOf.has(id)) accountsOf.set(id, new Set());
      accountsOf.get(id)?.add(await upstream.accountOf(headers.authorization?.replace('Bearer ', '') ?? ''));
    }
    // Besides those of the clients, each process opens sessions for calls without one.
    expect(accountsOf.size).toBeGreaterThan(users.length);
    for (const [id, accounts] of accountsOf) expect([...accounts], `accounts in session ${id}`).toHaveLength(1);
    expect(new Set([...accountsOf.values()].flatMap((accounts) => [...accounts]))).toEqual(new Set(['ada', 'bob']));
    await until(() => gateway.pidsOf('gateway').length === 3, { what: 'the new process' });
  });

  it('leaves a record of each call of a tool or an agent that was in flight', async () => {
    const received: string[] = [];
    const silent = createServer(async (request) => {
      const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
      received.push(body.method);
    });
    const port = await new Promise<number>((resolve) => {
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as AddressInfo).port));
    });
    const { admin, origin, workspaceId: workspace_id } = gateway;
    try {
      const client = await mcpClient(gateway);
      await client.addServer('silent', `http://127.0.0.1:${port}/mcp`);
      const fields = {
        name: 'silent',
        slug: 'silent-agent',
        url: `http://127.0.0.1:${port}/a2a`,
        auth_type: 'none',
        workspace_id,
      };
      const { id: agent_integration_id } = await admin.create('/agent-integrations', fields);
      await admin.create('/agent-servers', { name: 'silent', slug: 'silent', workspace_id, agent_integration_id });
      const trace = { 'x-svc-trace-id': 'in-flight' };
      const revision = '2026-07-28';
      const call = request('tools/call', { name: 'work', _meta: { 'io.modelcontextprotocol/protocolVersion': revision } });
      const tool = client.post('silent', call, {
        ...trace,
        ...{ 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': 'work' },
      });
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
      const agent = fetch(`${origin}/v1/agent/silent`, {
        method: 'POST',
        headers: { ...trace, 'x-svc-api-key': gateway.workspaceKey, 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify(request('SendMessage', { message })),
      });
      const ended = Promise.allSettled([tool, agent]);
      await until(() => received.length === 2, { what: 'both calls' });
      expect(received.toSorted()).toEqual(['SendMessage', 'tools/call']);
      for (const pid of gateway.pidsOf('gateway')) process.kill(pid, 'SIGKILL');
      expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      const logs = await until(
        async () => {
          const { body } = await admin.get(`/logs?trace_id=in-flight&workspace_id=${workspace_id}`);
          return body.data.length === 2 ? body.data : null;
        },
        { what: 'both records' },
      );
      expect(logs.map((log: JsonObject) => log.outcome)).toEqual(['interrupted', 'interrupted']);
      expect(logs.find((log: JsonObject) => log.mcp)?.mcp).toMatchObject({
        server: 'silent',
        method: 'tools/call',
        name: 'work',
      });
      expect(logs.find((log: JsonObject) => log.agent)?.agent).toMatchObject({ server: 'silent', operation: 'SendMessage' });
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });
});
