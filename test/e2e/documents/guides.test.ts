import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLoneGateway } from '../../support/product/lone-gateway.ts';
import { type RunningGateway, startGateway } from '../../support/product/start-gateway.ts';
import { startListedTools } from '../../support/tool-servers/listed-tools-server.ts';
import { type FakeUpstream, startFakeUpstream } from '../../support/upstream/fake-upstream.ts';

/** The commands of docs/guides, as they are written, against the whole product, a fake provider and a fake Vault. */
const run = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const guide = (name: string): string => readFileSync(join(root, 'docs/guides', name), 'utf8');

/** The code blocks of a guide in one language, in their order. */
function blocksOf(name: string, language: string): string[] {
  return [...guide(name).matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? '');
}

let gateway: RunningGateway;
let upstream: FakeUpstream;
let vault: Server;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'guides-'));
  upstream = await startFakeUpstream();
  vault = createServer((request, reply) => {
    const isRead = request.url === '/v1/secret/data/openai' && request.headers['x-vault-token'] === vaultToken;
    const secret = { data: { api_key: 'sk-from-vault' }, metadata: { version: 1, created_time: '2026-01-01T00:00:00Z' } };
    reply.writeHead(isRead ? 200 : 403).end(JSON.stringify(isRead ? { data: secret } : { errors: ['permission denied'] }));
  });
  await once(vault.listen(0, '127.0.0.1'), 'listening');
  gateway = await startGateway();
  // The commands also work in an organisation with several workspaces.
  const headers = { 'x-svc-api-key': gateway.adminKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Second', slug: 'ws-second' });
  expect((await fetch(`${gateway.origin}/v1/admin/workspaces`, { method: 'POST', headers, body })).status).toBe(200);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  vault?.close();
  rmSync(folder, { recursive: true, force: true });
});

const vaultToken = 'hvs.of-the-reader';

/** Replaces the addresses that differ from those in the guides, and sends calls to OpenAI to the fake provider. */
function here(text: string): string {
  return text
    .replaceAll('http://127.0.0.1:8787', gateway.origin)
    .replaceAll('http://127.0.0.1:11434', new URL(upstream.openaiHost).origin)
    .replaceAll('http://127.0.0.1:8200', `http://127.0.0.1:${(vault.address() as AddressInfo).port}`)
    .replaceAll(
      '"ai_provider_id": "openai", "create',
      `"ai_provider_id": "openai", "configurations": {"custom_host": "${upstream.openaiHost}"}, "create`,
    );
}

async function shell(script: string): Promise<string> {
  const env = {
    ...process.env,
    BASE: `${gateway.origin}/v1`,
    ADMIN_KEY: gateway.adminKey,
    WORKSPACE_KEY: gateway.workspaceKey,
    VAULT_TOKEN: vaultToken,
  };
  return (await run('bash', ['-euo', 'pipefail', '-c', here(script)], { cwd: folder, env })).stdout;
}

describe('docs/guides', () => {
  it('clients.md: the SDKs of OpenAI, Anthropic and Azure get replies', async () => {
    const scripts = blocksOf('clients.md', 'js');
    expect(scripts).toHaveLength(3);
    const env = { ...process.env, WORKSPACE_KEY: gateway.workspaceKey };
    for (const script of scripts) {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', here(script)], { cwd: root, env });
      expect(stdout.trim()).toBe('Say hello.');
    }
  });

  it('clients.md: the settings of coding agents work', async () => {
    const [anthropic, openai] = blocksOf('clients.md', 'sh') as [string, string];
    expect(JSON.parse(await shell(anthropic))).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'hello' }] });
    expect(JSON.parse(await shell(openai))).toMatchObject({ choices: [{ message: { content: 'hello' } }] });
  });

  it('local-models.md: Ollama replies as a provider, and gets the limit of a reply by the name that it knows', async () => {
    const [integration, call] = blocksOf('local-models.md', 'sh') as [string, string];
    await shell(integration);
    expect(JSON.parse(await shell(call))).toMatchObject({ object: 'chat.completion' });
    expect((await upstream.nextRequest()).json()).toMatchObject({ model: 'llama3.2' });
    await shell(call.replace('/chat/completions', '/messages').replace('"model"', '"max_tokens":9,"model"'));
    expect((await upstream.nextRequest()).json()).toMatchObject({ model: 'llama3.2', max_tokens: 9 });
  });

  it('tools-for-models.md: a model calls a tool, and replies', async () => {
    const blocks = blocksOf('tools-for-models.md', 'sh');
    const [add, call, askMock, provider, ask, messages] = blocks as [string, string, string, string, string, string];
    const server = await startListedTools([
      { name: 'get-sum', inputSchema: { type: 'object', properties: { a: { type: 'number' } } } },
    ]);
    const calledAndReplied = [{ type: 'mcp_call', name: 'get-sum', status: 'completed' }, { type: 'message' }];
    try {
      await shell(add.replace('http://127.0.0.1:3001/mcp', server.url));
      expect(JSON.parse(await shell(call))).toMatchObject({ result: { content: [{ type: 'text' }] } });
      expect(JSON.parse(await shell(askMock)).output).toMatchObject(calledAndReplied);
      await shell(provider);
      expect(JSON.parse(await shell(ask)).output).toMatchObject(calledAndReplied);
      expect(JSON.parse(await shell(messages)).content).toMatchObject([
        { type: 'mcp_tool_use', name: 'get-sum' },
        { type: 'mcp_tool_result', is_error: false },
        { type: 'text' },
      ]);
      expect(server.received.filter(({ method }) => method === 'tools/call')).toHaveLength(4);
    } finally {
      await server.close();
    }
  });

  it('jwt.md: a signed token replaces a key', async () => {
    const reply = await shell(blocksOf('jwt.md', 'sh').join('\n'));
    expect(reply).toContain('"content":"hello"');
  });

  it('secret-managers.md: the provider is called with the value of the secret', async () => {
    const [reference, provider, test] = blocksOf('secret-managers.md', 'sh') as [string, string, string];
    await shell(reference);
    await shell(provider);
    upstream.reset();
    expect(JSON.parse(await shell(test))).toMatchObject({ ok: true });
    expect(upstream.last.header('authorization')).toBe('Bearer sk-from-vault');
  });

  it('first-day.md: every command succeeds, in the order of the guide', async () => {
    const steps = blocksOf('first-day.md', 'sh').map((step) =>
      step.replace('npm run -s spend', `SVC_URL=$BASE SVC_ADMIN_KEY=$ADMIN_KEY node ${root}/core/cli/spend.ts`),
    );
    expect(steps).toHaveLength(14);
    const integration =
      '{ "name": "OpenAI", "slug": "openai", "ai_provider_id": "openai", "key": "sk-first-day", "create_default_provider": false }';
    const post = 'curl -s $BASE/integrations -H "x-svc-api-key: $ADMIN_KEY" -H "content-type: application/json"';
    const replies = [await shell(`${post} -d '${integration}'`)];
    for (const step of steps) replies.push(await shell(step));
    expect(replies.filter((reply) => /"success":\s*false|"status":\s*"failure"/.test(reply))).toEqual([]);
    const [, , , key, , , invite, spend, exported, rotated, config, webhook, denied, , audit] = replies as string[];
    expect(key).toMatch(/"key":\s*"svc_/);
    expect(invite).toContain('accept-invite=svc_invite_');
    expect(spend).toContain('no requests');
    expect(exported).toContain('signed_url');
    expect(rotated).toMatch(/"key":\s*"svc_/);
    expect(config?.match(/version_id/g)?.length).toBeGreaterThan(2);
    expect(webhook).toContain('"slug":"alerts"');
    expect(denied).toContain('"object":"list"');
    expect(audit).toContain('/workspaces/search-team');
  });

  it('prompts.md: a prompt is rendered, completed, changed and published', async () => {
    const steps = blocksOf('prompts.md', 'sh');
    expect(steps).toHaveLength(5);
    const [create, render, complete, publish, test] = steps as [string, string, string, string, string];
    await shell(create);
    const messages = [
      { role: 'system', content: 'Be kind to Ann.' },
      { role: 'user', content: 'Hello Ann' },
    ];
    expect(JSON.parse(await shell(render))).toEqual({ success: true, data: { model: 'echo', max_tokens: 100, messages } });
    expect(JSON.parse(await shell(complete))).toMatchObject({ choices: [{ message: { content: 'Hello Ann' } }] });
    expect(await shell(publish)).toContain('Good day Ann');
    expect(JSON.parse(await shell(test)).data).toMatchObject([{ status: 200, output: 'Good day Ann', verdict: true }]);
  });

  it('prompts-in-a-repository.md: files are planned and applied once', async () => {
    const steps = blocksOf('prompts-in-a-repository.md', 'sh').map((step) =>
      step.replaceAll(
        'npm run -s prompts --',
        `SVC_URL=http://127.0.0.1:8787 SVC_ADMIN_KEY=$WORKSPACE_KEY node ${root}/core/cli/prompts/main.ts`,
      ),
    );
    const lines = (await shell(steps.join('\n'))).trim().split('\n');
    expect(lines).toEqual([
      ...['partials/pp-kind.yaml: create', 'prompts/pp-welcome.yaml: create, label staging', '2 to change, 0 unchanged'],
      ...['partials/pp-kind.yaml: create', 'prompts/pp-welcome.yaml: create, label staging', '2 changed, 0 unchanged'],
      ...['partials/pp-kind.yaml: unchanged', 'prompts/pp-welcome.yaml: unchanged', '0 to change, 2 unchanged'],
    ]);
    const call =
      'curl -sf $BASE/prompts/pp-welcome@staging/render -H "x-svc-api-key: $WORKSPACE_KEY" -H "content-type: application/json"';
    expect(await shell(`${call} -d '{"variables":{"name":"Ann"}}'`)).toContain('Welcome Ann');
  });

  it('plugins.md: calls without the metadata are rejected, calls with it are served', async () => {
    writeFileSync(join(folder, 'require-team.mjs'), blocksOf('plugins.md', 'js')[0] as string);
    const other = await startLoneGateway({ PLUGINS: join(folder, 'require-team.mjs') });
    try {
      other.putProvider('mock', 'mock', {});
      const env = { ...process.env, BASE: other.baseUrl, WORKSPACE_KEY: other.key };
      const { stdout } = await run('bash', ['-euc', blocksOf('plugins.md', 'sh')[0] as string], { cwd: folder, env });
      expect(stdout.trim().split('\n')).toEqual(['403', '200']);
    } finally {
      await other.close();
    }
  });
});
