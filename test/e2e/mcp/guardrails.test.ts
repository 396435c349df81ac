import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, echo, mcpClient, messageOf } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { startListedTools } from '../../support/tool-servers/listed-tools-server.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../support/until.ts';

/** Guardrails with the target `mcp_tools` on arguments and results. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let upstream: McpUpstream;
let servers: { guarded: string; json: string; plain: string };

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startMcpUpstream()]);
  client = await mcpClient(gateway);
  const json = await startMcpUpstream({ replies: 'json' });
  const add = async (slug: string, url: string) => (await client.addServer(slug, url)).server;
  servers = { guarded: await add('guarded', upstream.url), json: await add('guarded-json', json.url), plain: '' };
  const plain = await client.addServer('unguarded', upstream.url);
  await gateway.admin.post(`/mcp-integrations/${plain.integration}/sync`, {});
  servers.plain = plain.server;
});
afterAll(async () => {
  await upstream?.close();
});

async function save(check: object, more: object = {}): Promise<string> {
  const made = await gateway.admin.post('/guardrails', {
    ...{ workspace_id: gateway.workspaceId, name: 'Tools', target: 'mcp_tools', checks: [check], actions: { deny: true } },
    ...more,
  });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return made.body.id;
}

const words = (...list: string[]) => ({ id: 'default.contains', parameters: { words: list, operator: 'none' } });
const map = (guardrail: string, mcp_servers: object) =>
  gateway.admin.put(`/guardrails/${guardrail}/mcp-servers`, { mcp_servers });
const called = () => upstream.received.filter(({ method }) => method === 'POST').length;
const reply = async (slug: string, body: unknown) => {
  const { status, text, headers } = await client.post(slug, body);
  return { status, message: messageOf(text), trace: headers.get('x-svc-trace-id') };
};
/** Calls a tool until the guardrail denies the call. A control plane that needs more than 3 s for a look-up, as on a busy machine, causes a 503 first. */
const denied = (slug: string, body: unknown) =>
  until(
    async () => {
      const got = await reply(slug, body);
      return got.message.error?.code === -32446 && got;
    },
    { what: 'a denial' },
  );

describe('a guardrail for MCP tools', () => {
  it('runs on every tool of an integration that names it by slug', async () => {
    const id = await save(words('forbidden'));
    const { slug } = (await gateway.admin.get(`/guardrails/${id}`)).body;
    await client.addServer('named', upstream.url, { configurations: { input_guardrails: [slug], output_guardrails: [slug] } });
    expect((await denied('named', echo('forbidden'))).message.error.data).toMatchObject({ guardrail_id: id });
    expect((await reply('named', echo('a word'))).message.result.content[0].text).toBe('a word');
  });

  it('denies a call by its arguments before the server is called, and leaves a record', async () => {
    const id = await save(words('secret'));
    const both = { run_on: ['input'], mcp_integration_capability_ids: [] };
    const mapped = await map(id, { [servers.guarded]: both, [servers.json]: both });
    expect(mapped.body).toEqual({ changed: true, added: 2, updated: 0, removed: 0 });
    const refused = await denied('guarded', callTool('echo', { text: 'fine', nested: [{ deep: 'the secret' }] }));
    expect(refused).toMatchObject({
      status: 200,
      message: {
        ...{ jsonrpc: '2.0', id: 9 },
        error: {
          ...{ code: -32446, message: 'Request blocked by guardrail' },
          data: { guardrail_id: id, reason: 'default.contains failed on the arguments of the tool' },
        },
      },
    });
    const before = called();
    expect((await reply('guarded', echo('a secret'))).message.error.code).toBe(-32446);
    expect(called()).toBe(before);
    expect((await reply('guarded', echo('a word'))).message.result.content[0].text).toBe('a word');
    const log = await until(
      async () => (await gateway.admin.get(`/logs?trace_id=${refused.trace}&workspace_id=${gateway.workspaceId}`)).body.data[0],
      { what: 'the log of the denied call' },
    );
    expect(log.mcp).toMatchObject({ name: 'echo', error_code: -32446 });
    expect(log.guardrails).toMatchObject([{ side: 'input', verdict: false, deny: true }]);
    expect((await map(id, {})).body).toEqual({ changed: true, added: 0, updated: 0, removed: 2 });
  });

  it('reads the names of members and the numbers in arguments', async () => {
    const { server } = await client.addServer('whole', upstream.url);
    const tool = 'echo';
    const denying = [
      await save(words('forbidden', '4711')),
      await save({ id: 'default.regexMatch', parameters: { rule: '^bad[a-z]+$', not: true } }),
    ];
    for (const one of denying) await map(one, { [server]: { run_on: ['input'] } });
    await denied('whole', echo('forbidden'));
    const sent: [object, boolean][] = [
      [{ text: 'x', forbidden: 1 }, true],
      [{ text: 'x', deep: [{ 'a forbidden name': null }] }, true],
      [{ text: 'x', deep: { number: 47.11 } }, false],
      [{ text: 'x', deep: { number: 94711 } }, true],
      [{ badname: 'x' }, true],
      [{ text: 'badtext' }, true],
      [{ text: 'badtext', other: 1 }, true],
      [{ text: 'x', other: 'good' }, false],
    ];
    for (const [args, isDenied] of sent) {
      const { message } = await reply('whole', callTool(tool, args as JsonObject));
      expect([JSON.stringify(args), message.error?.code ?? null]).toEqual([JSON.stringify(args), isDenied ? -32446 : null]);
    }
    // A member with the name of the prototype cannot be checked.
    const proto = JSON.stringify(callTool(tool, { text: 'x', y: 1 })).replace('"y"', '"__proto__"');
    expect((await reply('whole', proto)).message.error?.code).toBe(-32446);
    for (const one of denying) await map(one, {});
  });

  it('redacts numbers and names of members', async () => {
    const listed = await startListedTools([{ name: 'pay', inputSchema: { type: 'object' } }]);
    const { server } = await client.addServer('paying', listed.url);
    const id = await save({ id: 'default.regexReplace', parameters: { rule: '/\\d{16}/g', redactText: '[CARD]' } });
    await map(id, { [server]: { run_on: ['input'] } });
    const card = 4111111111111111;
    const sent = { card, cards: { [card]: { [card]: `${card}`, other: 5 } } };
    const called = await until(
      async () => {
        const { message } = await reply('paying', callTool('pay', sent));
        return message.result.content[0].text.includes('[CARD]') && message;
      },
      { what: 'a redacted call' },
    );
    expect(JSON.parse(called.result.content[0].text).arguments).toEqual({
      card: '[CARD]',
      cards: { '[CARD]': { '[CARD]': '[CARD]', other: 5 } },
    });
    await map(id, {});
    await listed.close();
  });

  it.each(['guarded', 'guarded-json'] as const)('changes and denies results of %s', async (slug) => {
    const id = servers[slug === 'guarded' ? 'guarded' : 'json'];
    const redacting = await save({ id: 'default.regexReplace', parameters: { rule: '/\\d{16}/g', redactText: '[CARD]' } });
    const denying = await save(words('forbidden'));
    for (const one of [redacting, denying]) await map(one, { [id]: { run_on: ['output'] } });
    const refused = await denied(slug, echo('forbidden'));
    expect(refused.message).toMatchObject({ id: 9, error: { code: -32446, data: { guardrail_id: denying } } });
    expect(JSON.stringify(refused.message)).not.toContain('forbidden');
    expect((await reply(slug, echo('card 4111111111111111'))).message.result.content).toEqual([
      { type: 'text', text: 'card [CARD]' },
    ]);
    for (const one of [redacting, denying]) await map(one, {});
  });

  it('runs on the named tools only, and on arguments it changes the call', async () => {
    const tools = (await gateway.admin.get(`/mcp-servers/${servers.plain}/capabilities?type=tool`)).body.data;
    const echoId = tools.find(({ name }: { name: string }) => name === 'echo').id;
    const id = await save({ id: 'default.regexReplace', parameters: { rule: '/\\d{16}/g', redactText: '[CARD]' } });
    const path = `/guardrails/${id}/mcp-servers/${servers.plain}`;
    const mapped = await gateway.admin.put(path, { run_on: ['input'], mcp_integration_capability_ids: [echoId] });
    expect(mapped.body.map_id).toEqual(expect.any(String));
    await until(async () => (await reply('unguarded', echo('4111111111111111'))).message.result.content[0].text === '[CARD]', {
      what: 'changed arguments',
    });
    const read = (await gateway.admin.get(`/guardrails/${id}`)).body;
    expect(read.mcp_server_mappings).toEqual([
      { id: mapped.body.map_id, guardrail_id: id, mcp_server_id: servers.plain, run_on: ['input'], capability_ids: [echoId] },
    ]);
    const refused = await gateway.admin.delete(`/guardrails/${id}`);
    expect([refused.status, refused.body.data.message]).toEqual([409, expect.stringContaining('1 MCP server (unguarded)')]);
    await map(id, {});
  });

  it('is a default of a workspace, and no config can name it', async () => {
    const id = await save(words('workspace-word'));
    const workspace = `/admin/workspaces/${gateway.workspaceId}`;
    const set = (mcp_input_guardrails: string[]) => gateway.admin.put(workspace, { defaults: { mcp_input_guardrails } });
    expect((await set([id])).status).toBe(200);
    expect((await gateway.admin.get(workspace)).body.defaults.mcp_input_guardrails).toHaveLength(1);
    const refused = await denied('unguarded', echo('workspace-word'));
    expect(refused.message.error.data.guardrail_id).toBe(id);
    const chat = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'x-svc-api-key': gateway.workspaceKey },
        'x-svc-config': JSON.stringify({ provider: 'openai', api_key: 'x', input_guardrails: [id] }),
      },
      body: JSON.stringify({ model: 'm', messages: [] }),
    });
    expect([chat.status, await chat.text()]).toEqual([400, expect.stringContaining('guardrails are not valid')]);
    await set([]);
  });
});

describe('a server whose results are checked', () => {
  it.each<[string, string, string, string]>([
    ['odd-id', 'a reply with another id', 'application/json', '{"jsonrpc":"2.0","id":"9","result":{"content":[]}}'],
    ['odd-batch', 'a batch', 'application/json', '[{"jsonrpc":"2.0","id":9,"result":{"content":[]}}]'],
    ['odd-text', 'text that is not JSON', 'text/plain', 'oh'],
  ])('cannot avoid the checks with %s: %s', async (slug, _, type, body) => {
    const odd = await startMcpUpstream();
    const { server } = await client.addServer(slug, odd.url);
    const id = await save(words('forbidden'));
    await map(id, { [server]: { run_on: ['output'] } });
    await denied(slug, echo('forbidden'));
    odd.override = (_request, response) => void response.writeHead(200, { 'content-type': type }).end(body);
    const got = await reply(slug, echo('x'));
    expect([got.status, got.message.error?.data?.code]).toEqual([502, 'upstream_invalid']);
    odd.override = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        'data: {"jsonrpc":"2.0","id":"9","result":{"x":"stray"}}\n\ndata: {"jsonrpc":"2.0","id":9,"result":{"content":[]}}\n\n',
      );
    };
    expect((await client.post(slug, echo('x'))).text).toBe('data: {"jsonrpc":"2.0","id":9,"result":{"content":[]}}\n\n');
    await odd.close();
  });

  it.each([
    ['null', '"id":null,'],
    ['none', ''],
  ])('cannot avoid the checks with an error whose id is %s', async (what, idText) => {
    const odd = await startMcpUpstream();
    const slug = `error-${what}`;
    const { server } = await client.addServer(slug, odd.url);
    const id = await save(words('forbidden'));
    await map(id, { [server]: { run_on: ['output'] } });
    await denied(slug, echo('forbidden'));
    odd.override = (_request, response) => {
      const error = `"error":{"code":-32000,"message":"a forbidden text"}`;
      response.writeHead(400, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0",${idText}${error}}`);
    };
    const got = await reply(slug, echo('x'));
    expect([got.message.error.code, JSON.stringify(got.message)]).toEqual([-32446, expect.not.stringContaining('a forbidden')]);
    await odd.close();
  });

  it('cannot avoid the checks with an error without an id, or a result with the id null, on the stream of a session', async () => {
    const odd = await startMcpUpstream();
    const { server } = await client.addServer('error-stream', odd.url);
    const id = await save(words('forbidden'));
    await map(id, { [server]: { run_on: ['output'] } });
    await denied('error-stream', echo('forbidden'));
    const session = await client.begin('error-stream');
    const error = (text: string) => `"error":{"code":-32000,"message":"${text}"}`;
    odd.override = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: {"jsonrpc":"2.0","id":null,${error('a forbidden text')}}\n\n`);
      response.write(`data: {"jsonrpc":"2.0",${error('one more forbidden text')}}\n\n`);
      response.write('data: {"jsonrpc":"2.0","id":null,"result":{"content":[{"type":"text","text":"forbidden too"}]}}\n\n');
      response.end(`data: {"jsonrpc":"2.0","id":null,${error('a fine text')}}\n\n`);
    };
    const headers = { ...session, 'x-svc-api-key': gateway.workspaceKey, accept: 'text/event-stream' };
    const text = await (await fetch(client.urlOf('error-stream'), { headers })).text();
    expect(text).not.toContain('forbidden t');
    expect(text.match(/-32446/g)).toHaveLength(2);
    expect(text).toContain('a fine text');
    odd.override = (_request, response) => {
      response
        .writeHead(405, { 'content-type': 'application/json' })
        .end(`{"jsonrpc":"2.0","id":null,${error('Method not allowed.')}}`);
    };
    expect((await fetch(client.urlOf('error-stream'), { headers })).status).toBe(405);
    odd.override = (_request, response) =>
      void response.writeHead(405, { 'content-type': 'text/plain', allow: 'POST' }).end('a forbidden text');
    const refused = await fetch(client.urlOf('error-stream'), { headers });
    expect([refused.status, refused.headers.get('allow'), await refused.text()]).toEqual([405, 'POST', '']);
    await odd.close();
  });
});
