import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type A2aClient, a2aClient, rpc, said, v1 } from '../../support/clients/a2a-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type A2aAgent, startA2aAgent } from '../../support/tool-servers/a2a-agent.ts';

/** Guardrails of A2A agents. */
let gateway: SharedGateway;
let agent: A2aAgent;
let client: A2aClient;
const urlOf = (slug: string, rest?: string) => client.urlOf(slug, rest);
const addAgent: A2aClient['addAgent'] = (slug, url, fields) => client.addAgent(slug, url, fields);
const send: A2aClient['send'] = (slug, body, options) => client.send(slug, body, options);

beforeAll(async () => {
  [gateway, agent] = await Promise.all([shareGateway(), startA2aAgent()]);
  client = a2aClient(gateway);
  await addAgent('sample', agent.url);
});
afterAll(() => agent?.close());

describe('guardrails of an agent', () => {
  const block = async (slug: string, word: string) => {
    const made = await gateway.admin.create('/guardrails', {
      ...{ name: slug, target: 'mcp_tools', workspace_id: gateway.workspaceId, actions: { deny: true } },
      checks: [{ id: 'default.contains', parameters: { words: [word], operator: 'none' } }],
    });
    return String(made.slug);
  };

  it('deny messages and replies, plain and in streams; denied messages never reach the agent', async () => {
    const [input, output] = [await block('a2a-in', 'forbidden'), await block('a2a-out', 'leaked')];
    const configurations = { input_guardrails: [input], output_guardrails: [output] };
    await addAgent('guarded', agent.url, { configurations });
    const passed = await send('guarded', rpc('SendMessage', said('hello')), { headers: v1 });
    expect(passed.body.result.message.parts[0].text).toBe('hello');
    const count = agent.received.length;
    const denied = await send('guarded', rpc('SendMessage', said('forbidden')), { headers: v1 });
    expect([denied.status, denied.body]).toMatchObject([446, { id: 7, error: { code: -32446 } }]);
    const twice = JSON.stringify(rpc('SendMessage', said('hello'))).replace('"parts"', '"parts":[{"text":"forbidden"}],"parts"');
    const refused = await send('guarded', twice, { headers: v1 });
    expect(refused.body.error).toMatchObject({ code: -32700, message: expect.stringContaining('same key twice') });
    expect(agent.received.length).toBe(count);
    const leaked = await send('guarded', rpc('SendMessage', said('leaked')), { headers: v1 });
    expect(leaked.body).toMatchObject({ id: 7, error: { code: -32446, data: [{ reason: 'RESPONSE_DENIED' }] } });
    const streamed = await fetch(urlOf('guarded'), {
      ...{ method: 'POST', body: JSON.stringify(rpc('SendStreamingMessage', said('task leaked'))) },
      headers: { 'content-type': 'application/json', 'x-svc-api-key': gateway.workspaceKey, ...v1 },
    });
    const events = await streamed.text();
    expect(events).toContain('-32446');
    expect(events).not.toContain('task leaked');
  });

  it('deny a text that is split over events, and send nothing of it; other streams keep their events', async () => {
    const { agent_card } = await gateway.admin.create('/agent-integrations/fetch-agent-card', { endpoint: agent.origin });
    await addAgent('split', agent.url, {
      agent_card,
      configurations: { output_guardrails: [await block('a2a-split', 'leaked')] },
    });
    const streamOf = async (binding: 'rpc' | 'rest', text: string) => {
      const isRpc = binding === 'rpc';
      const reply = await fetch(`${urlOf('split')}${isRpc ? '' : '/message:stream'}`, {
        ...{ method: 'POST', body: JSON.stringify(isRpc ? rpc('SendStreamingMessage', said(text)) : said(text)) },
        headers: { 'content-type': 'application/json', 'x-svc-api-key': gateway.workspaceKey, ...v1 },
      });
      return reply.text();
    };
    for (const binding of ['rpc', 'rest'] as const) {
      const denied = await streamOf(binding, 'split It is lea ked now');
      expect(denied).toContain(binding === 'rpc' ? '-32446' : 'RESPONSE_DENIED');
      expect(denied).not.toMatch(/"(It|is|lea|ked|now)"/);
      const passed = await streamOf(binding, 'split It is fine');
      expect([...passed.matchAll(/"text":"(\w+)"/g)].map((match) => match[1])).toEqual(['It', 'is', 'fine']);
      expect(passed).toContain('TASK_STATE_COMPLETED');
    }
  });

  it('must be for tools, and exist', async () => {
    const of = (name: string) => ({ name: 'x', url: agent.url, auth_type: 'none', configurations: { input_guardrails: [name] } });
    const made = await gateway.admin.post('/agent-integrations', of('missing'));
    expect([made.status, made.body.data.message]).toEqual([404, expect.stringContaining('configurations.input_guardrails[0]')]);
  });
});
