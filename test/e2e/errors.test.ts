import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyEmptyDataDir } from '../admin/support/pgdata-template.ts';
import { openRawClient } from '../support/clients/raw-client.ts';
import { freePort } from '../support/processes/free-port.ts';
import { type CallInit, type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';
import { cutBeforeHead, invalidJson, reply, stallBeforeHead } from '../support/upstream/fake-upstream.ts';

/** Replies to bad input: a status, a body with the next step, and a record. Nothing crashes and no secret is shown. */
let gateway: GatewayWithUpstream;
let dataDir: string;
let gatewayPids: number[];
/** The output of the start, which prints the first keys once. */
let banner: string;

/** Secrets placed along the request path. None may appear in any output. */
const planted = {
  stored: 'sk-planted-stored-credential-0001',
  caller: 'sk-planted-key-of-a-caller-0002',
  inline: 'sk-planted-key-in-a-config-0003',
  unknownKey: 'svc_ws_AAAAAAAAAAAA_plantedplantedplantedplantedplanted00000000',
};
const replies: string[] = [];
/** Trace id → status of the reply, for every rejection by the gateway's own code. */
const refusals = new Map<string, number>();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-errors-'));
  await copyEmptyDataDir(dataDir);
  const env = { LOG_LEVEL: 'trace', JSON_BODY_MAX: '100000', STREAMED_BODY_MAX: '1000000' };
  gateway = await startGatewayWithUpstream({ env, dataDir });
  await gateway.admin.createUpstream('planted', gateway.upstream.openaiHost, { key: planted.stored });
  gatewayPids = gateway.pidsOf('gateway');
  banner = gateway.output();
});
afterAll(async () => {
  await gateway?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const messages = [{ role: 'user', content: 'hello' }];
const good = { model: '@planted/m', messages };
let traces = 0;

interface Refused {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: every part of the body is checked
  readonly body: any;
}

/** A call that is expected to fail. Stores its reply by trace id. */
async function refused(path: string, init: CallInit = {}): Promise<Refused> {
  const trace = `refusal-${++traces}`;
  const response = await gateway.call(path, { ...init, headers: { 'x-svc-trace-id': trace, ...init.headers } });
  const text = await response.text();
  replies.push(`${JSON.stringify([...response.headers])} ${text}`);
  expect(response.headers.get('x-svc-trace-id')).toBe(trace);
  refusals.set(trace, response.status);
  const body = JSON.parse(text);
  const error = { message: expect.any(String), type: expect.any(String), code: expect.any(String) };
  expect(body).toMatchObject({ status: 'failure', message: expect.any(String), error });
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'name', 'param', 'type']);
  return { status: response.status, headers: response.headers, body };
}

describe('API key errors', () => {
  it.each([
    ['no key', { 'x-svc-api-key': '' }],
    ['a key of no known form', { 'x-svc-api-key': 'hello' }],
    ['a key nobody has', { 'x-svc-api-key': planted.unknownKey }],
  ])('return 401 for %s', async (_, headers) => {
    const { status, body } = await refused('/chat/completions', { body: good, headers });
    expect([status, body.error.type, body.error.code]).toEqual([401, 'authentication_error', '03']);
    expect(body.message).toMatch(/^Svc Error: Invalid API Key.* Error Code: 03$/);
  });

  it('return 401 for a known key with a wrong secret', async () => {
    const key = gateway.workspaceKey.slice(0, -1) + (gateway.workspaceKey.endsWith('A') ? 'B' : 'A');
    expect((await refused('/chat/completions', { body: good, headers: { 'x-svc-api-key': key } })).status).toBe(401);
  });

  it('return 401 for a key as soon as it expires', async () => {
    const { key } = await gateway.admin.createKey({ expires_at: new Date(Date.now() + 1500).toISOString() });
    const headers = { 'x-svc-api-key': key };
    const expired = await until(async () => {
      const response = await gateway.call('/chat/completions', { body: good, headers });
      const text = await response.text();
      return response.status === 401 && JSON.parse(text);
    });
    expect(expired.error.code).toBe('01');
    const { status, body } = await refused('/chat/completions', { body: good, headers });
    expect([status, body.message]).toEqual([401, expect.stringMatching(/^Svc Error: API Key Expired: .* Error Code: 01$/)]);
  });

  it('return 403 for a key of the wrong kind or without the scope, naming the scope', async () => {
    const admin = await refused('/chat/completions', { body: good, headers: { 'x-svc-api-key': gateway.adminKey } });
    expect([admin.status, admin.body.error.code]).toEqual([403, '033']);
    expect(admin.body.message).toContain('use a workspace API key');
    const { key } = await gateway.admin.createKey({ scopes: ['logs.view'] });
    const viewer = await refused('/chat/completions', { body: good, headers: { 'x-svc-api-key': key } });
    expect([viewer.status, viewer.body.message]).toEqual([403, expect.stringContaining('completions.write')]);
  });
});

describe('routing errors', () => {
  const withConfig = (config: string, body: object = good) =>
    refused('/chat/completions', { body: { ...body }, headers: { 'x-svc-config': config } });

  it.each([
    ['{"retry":{"attempts":9}}', 'retry.attempts'],
    ['{"strategy":{"mode":"fallback"},"targets":[{"provider":"@planted"},{"providr":"x"}]}', 'targets[1].providr'],
    ['{"strategy":{"mode":"loud"},"targets":[{}]}', 'strategy.mode'],
    ['{"strategy":{"mode":"loadbalance"}}', 'targets'],
    ['{"options":[]}', 'options'],
    ['{"plugins":{"nobody":{}}}', 'plugins.nobody'],
  ])('return 400 for the inline config %s, naming %s', async (config, path) => {
    const { status, body } = await withConfig(config);
    expect([status, body.error.code]).toEqual([400, 'invalid_config']);
    expect(body.errors.join()).toContain(`${path}:`);
    expect(body.message).toContain(path);
  });

  it('return 400 for a config that is not JSON, and for one that was never saved', async () => {
    const broken = await withConfig(`{"api_key":"${planted.inline}"`);
    expect([broken.status, broken.body.message]).toEqual([400, expect.stringContaining('valid json')]);
    const unknown = await withConfig('pc-nobody-1234');
    expect([unknown.status, unknown.body.message]).toEqual([400, expect.stringContaining('pc-nobody-1234')]);
  });

  it('name the path of an invalid config when it is saved', async () => {
    const made = await gateway.admin.post('/configs', {
      name: 'bad',
      workspace_id: gateway.workspaceId,
      config: { retry: { attempts: 9 } },
    });
    expect(made.status).toBe(400);
    expect(JSON.stringify(made.body)).toContain('retry.attempts');
  });

  it('return 400 for an unknown provider, in every place that names one', async () => {
    for (const [headers, body] of [
      [{ 'x-svc-provider': '@nowhere' }, { ...good, model: 'm' }],
      [{ 'x-svc-provider': 'nowhere' }, { ...good, model: 'm' }],
      [{ 'x-svc-virtual-key': 'nowhere' }, { ...good, model: 'm' }],
      [{ 'x-svc-config': '{"provider":"@nowhere"}' }, { ...good, model: 'm' }],
      [{}, { ...good, model: '@nowhere/m' }],
    ] as const) {
      const { status, body: said } = await refused('/chat/completions', { headers, body });
      expect([status, said.error.code]).toEqual([400, 'invalid_provider']);
      expect(said.message).toContain('nowhere');
    }
  });

  it('list the missing choices if no provider is named', async () => {
    const { status, body } = await refused('/chat/completions', { body: { ...good, model: 'm' } });
    expect([status, body.error.code, body.message]).toEqual([400, 'missing_provider', expect.stringContaining('x-svc-provider')]);
  });

  it.each([
    'http://10.0.0.1/v1',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]:8080/v1',
    'http://2130706434/v1',
    'http://0x7f.1/v1',
    'http://metadata.google.internal/v1',
    'http://localhost:8080/v1',
    'file:///etc/passwd',
    'http://user:pass@example.com',
  ])('return 400 for the custom host %s', async (host) => {
    const own = { 'x-svc-provider': 'openai', authorization: `Bearer ${planted.caller}` };
    const asked = await refused('/chat/completions', {
      body: { ...good, model: 'm' },
      headers: { ...own, 'x-svc-custom-host': host },
    });
    expect([asked.status, asked.body.error.code]).toEqual([400, 'invalid_custom_host']);
    const config = JSON.stringify({ provider: 'openai', api_key: planted.inline, custom_host: host });
    const configured = await refused('/chat/completions', { body: { ...good, model: 'm' }, headers: { 'x-svc-config': config } });
    expect([configured.status, configured.body.message]).toEqual([400, expect.stringContaining('ustom host')]);
  });

  it('name the field of an integration at a private host when it is saved', async () => {
    const saved = await gateway.admin.post('/integrations', {
      name: 'inside',
      ai_provider_id: 'openai',
      key: planted.stored,
      configurations: { custom_host: 'http://10.0.0.1/v1' },
    });
    expect([saved.status, saved.body.data.errors]).toEqual([
      400,
      ['configurations.custom_host: must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS'],
    ]);
  });

  it('prevent sending a stored credential to another host', async () => {
    const headers = { 'x-svc-custom-host': 'http://127.0.0.1:18080/elsewhere' };
    const { status, body } = await refused('/chat/completions', { body: good, headers });
    expect([status, body.error.code]).toEqual([400, 'invalid_custom_host']);
    expect(body.message).toContain('stored credential');
  });
});

describe('request errors', () => {
  it.each([
    ['{"model": "m", }', 15],
    ['{"model": "m"', 13],
    ['', 0],
  ])('return 400 with the position for the malformed JSON %s', async (text, position) => {
    const init = { method: 'POST', body: text, headers: { 'content-type': 'application/json' } };
    const { status, body } = await refused('/chat/completions', init);
    expect([status, body.error.code]).toEqual([400, 'invalid_json']);
    expect(body.message).toContain(`position ${position} (line 1, column ${position + 1})`);
  });

  it('return 400 for JSON that is no object, and other content types', async () => {
    const json = { 'content-type': 'application/json' };
    expect((await refused('/chat/completions', { method: 'POST', body: '[1]', headers: json })).body.message).toContain(
      'an array',
    );
    const xml = await refused('/chat/completions', { method: 'POST', body: '<a/>', headers: { 'content-type': 'text/xml' } });
    expect([xml.status, xml.body.message]).toEqual([400, expect.stringContaining('application/json')]);
  });

  it('return 413 for bodies over their limit, of known length and in chunks, JSON and pass-through', async () => {
    const big = { ...good, filler: 'x'.repeat(200_000) };
    const known = await refused('/chat/completions', { body: big });
    expect([known.status, known.body.error.code]).toEqual([413, 'body_too_large']);
    expect(known.body.message).toContain('limit');
    const chunks = ReadableStream.from([Buffer.from('{"a":"'), Buffer.alloc(200_000, 120), Buffer.from('"}')]);
    const headers = { 'content-type': 'application/json' };
    const chunked = await refused('/chat/completions', { method: 'POST', body: chunks, headers });
    expect(chunked.status).toBe(413);
    const passed = { method: 'POST', body: Buffer.alloc(1_500_000), headers: { 'x-svc-provider': '@planted' } };
    expect((await refused('/files', passed)).status).toBe(413);
  });

  it('return 431 for a header block over its limit', async () => {
    const client = await openRawClient(gateway.port);
    // The HTTP addon replies itself, before there is a request. It is the only rejection without a record.
    client.send(`GET /v1/models HTTP/1.1\r\nhost: a\r\nx-large: ${'a'.repeat(70_000)}\r\n\r\n`);
    expect((await client.closed()).toString('latin1')).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('return 404 and 405 for unknown paths and methods', async () => {
    const response = await fetch(`${gateway.origin}/nothing/here`, { headers: { 'x-svc-trace-id': 'refusal-404' } });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('/nothing/here')]);
    refusals.set('refusal-404', 404);
    expect((await refused('/models', { method: 'OPTIONS' })).status).toBe(405);
  });

  it.each([
    ['x-svc-request-timeout', 'soon'],
    ['x-svc-metadata', '{"a":{}}'],
    ['x-svc-strict-open-ai-compliance', 'maybe'],
    ['x-svc-forward-headers', 'x-svc-forward-headers'],
  ])('return 400 for %s: %s, naming the header', async (name, value) => {
    const { status, body } = await refused('/chat/completions', { body: good, headers: { [name]: value } });
    expect([status, body.error.param]).toEqual([400, name]);
    expect(body.message.length).toBeGreaterThan(20);
  });
});

describe('provider errors', () => {
  const path = '/v1/chat/completions';

  it.each(['reset', 'fin'] as const)('return 502 for a closed connection (%s)', async (how) => {
    // Two attempts: a kept-alive connection may have been closed, so the gateway repeats the call on a new one.
    gateway.upstream.on(path, cutBeforeHead(how), 2);
    const { status, body } = await refused('/chat/completions', { body: good });
    gateway.upstream.reset();
    expect([status, body.error.code, body.error.type]).toEqual([502, 'upstream_reset', 'upstream_error']);
  });

  it('return 502 for an unreadable reply and an unreachable host', async () => {
    gateway.upstream.once(path, invalidJson());
    expect((await refused('/chat/completions', { body: good })).body.error.code).toBe('upstream_invalid');
    const nobody = await freePort();
    const headers = {
      'x-svc-provider': 'openai',
      'x-svc-custom-host': `http://127.0.0.1:${nobody}`,
      authorization: `Bearer ${planted.caller}`,
    };
    const unreachable = await refused('/chat/completions', { body: { ...good, model: 'm' }, headers });
    expect([unreachable.status, unreachable.body.error.code]).toEqual([502, 'upstream_connect']);
  });

  it('return 408 for a silence longer than the timeout', async () => {
    const held = stallBeforeHead();
    gateway.upstream.once(path, held);
    const { status, body } = await refused('/chat/completions', { body: good, headers: { 'x-svc-request-timeout': '200' } });
    expect([status, body.error.code, body.error.type]).toEqual([408, 'request_timeout', 'timeout_error']);
    expect(await (await held.reached).request.closed).toBe('client-left');
  });

  it('contain the provider’s text if its error is not JSON', async () => {
    gateway.upstream.once(path, reply(503, '<h1>maintenance</h1>', { 'content-type': 'text/html' }));
    const response = await gateway.call('/chat/completions', { body: good });
    expect([response.status, (await response.json()).error.message]).toEqual([503, expect.stringContaining('maintenance')]);
  });
});

describe('control-plane errors', () => {
  it('return 503 with retry-after for unknown keys during an outage, and known keys still work', async () => {
    const unseen = await gateway.admin.createKey();
    const [pid] = gateway.pidsOf('control-plane') as [number];
    process.kill(pid, 'SIGSTOP');
    try {
      const { status, headers, body } = await refused('/chat/completions', {
        body: good,
        headers: { 'x-svc-api-key': unseen.key },
      });
      expect([status, body.error.code]).toEqual([503, 'unavailable']);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect((await gateway.call('/chat/completions', { body: good })).status).toBe(200);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const headers = { 'x-svc-api-key': unseen.key };
    await until(async () => (await gateway.call('/chat/completions', { body: good, headers })).status === 200);
  });
});

it('gateways have 16 threads for files, compression and look-ups by the system', async () => {
  expect(gatewayPids).not.toEqual([]);
  for (const pid of gatewayPids)
    expect((await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0')).toContain('UV_THREADPOOL_SIZE=16');
});

describe('after all errors', () => {
  it('all processes are alive, and every rejection has left one record with its status', async () => {
    expect(gateway.pidsOf('gateway')).toEqual(gatewayPids);
    expect((await gateway.call('/chat/completions', { body: good })).status).toBe(200);
    // Rejections of unknown keys belong to no tenant, so no route shows them. The test reads them from the database.
    await gateway.close();
    const database = await PGlite.create(join(dataDir, 'pgdata'));
    const rows = (
      await database.query<{ trace_id: string; status: number; record: object }>(
        "select trace_id, status, record from request_records where trace_id like 'refusal-%'",
      )
    ).rows;
    const everything = JSON.stringify((await database.query('select * from request_records')).rows);
    await database.close();
    expect(refusals.size).toBeGreaterThan(50);
    expect(rows.length).toBe(refusals.size);
    expect(Object.fromEntries(rows.map((row) => [row.trace_id, row.status]))).toEqual(Object.fromEntries(refusals));
    for (const secret of secrets()) expect(everything).not.toContain(secret);
  });

  it('replies, log lines and files contain no secret', async () => {
    const printed = gateway.output().slice(banner.length);
    expect(printed).toContain('"level":');
    const files: string[] = [];
    for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
      // The only file that may contain the first keys.
      if (!entry.isFile() || entry.name === 'first-keys.json') continue;
      files.push((await readFile(join(entry.parentPath, entry.name))).toString('latin1'));
    }
    expect(files.length).toBeGreaterThan(10);
    for (const secret of secrets()) {
      expect(printed).not.toContain(secret);
      expect(replies.filter((text) => text.includes(secret))).toEqual([]);
      expect(files.filter((text) => text.includes(secret)).length).toBe(0);
    }
  });
});

/** The last part of the gateway's own keys is the secret; the id before it may be shown. */
function secrets(): string[] {
  const secretOf = (key: string) => key.split('_').slice(3).join('_');
  return [
    planted.stored,
    planted.caller,
    planted.inline,
    ...[planted.unknownKey, gateway.workspaceKey, gateway.adminKey].map(secretOf),
  ];
}
