import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type A2aClient, a2aClient, rpc, said, v1 } from '../../support/clients/a2a-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type A2aAgent, startA2aAgent } from '../../support/tool-servers/a2a-agent.ts';
import { until } from '../../support/until.ts';

/** Limits, usage, circuits and timeouts of A2A agents. */
let gateway: SharedGateway;
let agent: A2aAgent;
let client: A2aClient;
const addAgent: A2aClient['addAgent'] = (slug, url, fields) => client.addAgent(slug, url, fields);
const send: A2aClient['send'] = (slug, body, options) => client.send(slug, body, options);
const logOf: A2aClient['logOf'] = (reply) => client.logOf(reply);

beforeAll(async () => {
  [gateway, agent] = await Promise.all([shareGateway(), startA2aAgent()]);
  client = a2aClient(gateway);
  await addAgent('sample', agent.url);
});
afterAll(() => agent?.close());

describe('limits and usage', () => {
  it('counts requests, and estimates the tokens of messages and replies', async () => {
    const { key } = await gateway.admin.createKey({
      ...{ scopes: ['agents.invoke'], rate_limits: [{ type: 'requests', unit: 'rpd', value: 1 }] },
    });
    const headers = { ...v1, 'x-svc-api-key': key };
    const reply = await send('sample', rpc('SendMessage', said('x'.repeat(400))), { headers });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect((await logOf(reply)).metrics).toMatchObject({ req_units: 100, res_units: 100 });
    const limited = await send('sample', rpc('GetTask', { id: 'x' }), { headers });
    expect(limited.status).toBe(429);
    expect(limited.headers.get('retry-after')).not.toBeNull();
  });

  it('charges the estimated tokens to budgets and refuses messages when they are used up', async () => {
    const { key } = await gateway.admin.createKey({
      ...{ scopes: ['agents.invoke'], usage_limits: { type: 'tokens', credit_limit: 300 } },
    });
    const headers = { ...v1, 'x-svc-api-key': key };
    expect((await send('sample', rpc('SendMessage', said('x'.repeat(800))), { headers })).status).toBe(200);
    const refused = await send('sample', rpc('SendMessage', said('hello')), { headers });
    expect([refused.status, refused.body.error.message]).toEqual([412, expect.stringContaining('Usage Limit')]);
    // Reading a task uses no tokens.
    expect((await send('sample', rpc('GetTask', { id: 'x' }), { headers })).status).toBe(200);
  });

  it.each<[string, JsonObject, number]>([
    ['/policies/rate-limits', { target: 'agents', type: 'requests', unit: 'rpd', value: 2 }, 429],
    ['/policies/usage-limits', { target: 'agents', type: 'requests', credit_limit: 2 }, 412],
  ])('counts messages for a named agent once over all gateway processes: %s', async (path, policy, status) => {
    const slug = `counted-${status}`;
    await addAgent(slug, agent.url);
    await gateway.admin.create(path, {
      ...{ workspace_id: gateway.workspaceId, name: slug, ...policy },
      ...{ conditions: [{ key: 'agent_server', value: slug }], group_by: [{ key: 'api_key' }] },
    });
    /** The statuses of messages of a new key, most of them over connections of their own. */
    const burst = async () => {
      const { key } = await gateway.admin.createKey({ scopes: ['agents.invoke'] });
      const headers = { ...v1, 'x-svc-api-key': key };
      const all = await Promise.all(Array.from({ length: 16 }, () => send(slug, rpc('SendMessage', said('hello')), { headers })));
      expect((await send(slug, rpc('GetTask', { id: 'x' }), { headers })).status).toBe(200);
      expect((await send('sample', rpc('SendMessage', said('hello')), { headers })).status).toBe(200);
      return all.map((one) => one.status).sort();
    };
    const expected = [200, 200, ...Array.from({ length: 14 }, () => status)];
    await until(async () => (await burst()).join() === expected.join(), { what: 'the policy in both gateway processes' });
  });

  it('does not call an agent for a time once its circuit has opened, over either binding', async () => {
    const cb_config = { failure_threshold: 2, cooldown_interval: 60_000, failure_status_codes: [500] };
    await addAgent('circuit', agent.url, { configurations: { cb_config } });
    agent.override = (_request, response) => void response.writeHead(500).end();
    const opened = await until(
      async () => {
        const reply = await send('circuit', rpc('GetTask', { id: 'x' }), { headers: v1 });
        return reply.status === 503 && reply;
      },
      { what: 'an open circuit' },
    );
    agent.override = null;
    const message = 'The agent circuit is not called for a time, because its last calls failed';
    expect(opened.body.error).toMatchObject({ code: -32603, message, data: [{ reason: 'UNAVAILABLE' }] });
    expect(opened.headers.get('retry-after')).toBe('60');
    const rest = await send('circuit', said('hello'), { rest: '/message:send', headers: v1 });
    expect([rest.status, rest.body.error]).toMatchObject([503, { code: 503, status: 'UNAVAILABLE', message }]);
    expect((await send('sample', rpc('GetTask', { id: 'x' }), { headers: v1 })).status).toBe(200);
  });

  it('gives an agent its own time to reply', async () => {
    const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
    await addAgent('slow', url, { configurations: { request_timeout: 100 } });
    const reply = await send('slow', rpc('SendMessage', said('hello')), { headers: v1 });
    hanging.closeAllConnections();
    hanging.close();
    expect([reply.status, reply.body.error.data[0].reason]).toEqual([408, 'REQUEST_TIMEOUT']);
  });
});
