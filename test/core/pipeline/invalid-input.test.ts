import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

describe('invalid input', () => {
  const chat = { model: '@one/gpt-5', messages: [] };
  it.each([
    ['a malformed key', { headers: { 'x-svc-api-key': 'nonsense' } }, 401, 'invalid_api_key'],
    [
      'an unknown key',
      { headers: { 'x-svc-api-key': 'svc_ws_000000000000_0000000000000000000000000000000000000000' } },
      401,
      'invalid_api_key',
    ],
    ['no key', { headers: { 'x-svc-api-key': 'Bearer' } }, 401, 'invalid_api_key'],
    ['a config that is no JSON', { headers: { 'x-svc-config': '{nope' }, body: chat }, 400, 'invalid_config'],
    ['an unknown config slug', { headers: { 'x-svc-config': 'pc-none' }, body: chat }, 400, 'invalid_config'],
    ['an unknown provider slug', { body: { model: '@nobody/gpt', messages: [] } }, 400, 'invalid_provider'],
    ['an unknown provider type', { headers: { 'x-svc-provider': 'nobody' }, body: chat }, 400, 'invalid_provider'],
    ['neither config nor provider', { body: { model: 'gpt', messages: [] } }, 400, 'missing_provider'],
    [
      'a custom host of its own with a stored credential',
      { headers: { 'x-svc-custom-host': 'https://elsewhere.example' }, body: chat },
      400,
      'invalid_custom_host',
    ],
    [
      'a custom host that may not be called',
      { headers: { 'x-svc-custom-host': 'http://10.0.0.1' }, body: chat },
      400,
      'invalid_custom_host',
    ],
    ['a timeout that is no number', { headers: { 'x-svc-request-timeout': 'soon' }, body: chat }, 400, 'bad_request'],
    ['metadata that is no object', { headers: { 'x-svc-metadata': '[1]' }, body: chat }, 400, 'bad_request'],
    ['another content type', { headers: { 'content-type': 'text/plain' }, body: 'x' }, 400, 'bad_request'],
    ['an unknown path', { path: '/nowhere' }, 404, 'not_found'],
    ['a method that cannot pass', { method: 'TRACE', path: '/v1/x' }, 405, 'method_not_allowed'],
  ])('%s is rejected and recorded', async (_name, request, status, code) => {
    const gateway = createHarness();
    const reply = await gateway.send(request as never);
    expect(reply.status).toBe(status);
    expect(reply.json).toMatchObject({ error: { code } });
    expect(gateway.calls).toHaveLength(0);
    expect(gateway.records).toHaveLength(1);
    expect(gateway.records[0]).toMatchObject({ outcome: 'refused', status, errorCode: code });
  });

  it('gets the position of a JSON error', async () => {
    const gateway = createHarness();
    const reply = await gateway.send({ body: '{"model": "@one/gpt-5",\n "messages": [}' });
    expect(reply.status).toBe(400);
    expect(reply.text).toMatch(/: expected a value or a key in double quotes at position 38 \(line 2, column 15\)/);
  });

  it('is bytes that are not UTF-8; a byte order mark is ignored', async () => {
    const gateway = createHarness();
    const text = (filling: string) => Buffer.from(JSON.stringify({ model: '@one/gpt-5', messages: [], user: filling }));
    for (const filling of ['', 'a'.repeat(1000), '你'.repeat(1000)]) {
      const marked = await gateway.send({ body: Buffer.concat([Buffer.from('\ufeff'), text(filling)]) });
      expect(marked.status).toBe(200);
      const broken = await gateway.send({ body: Buffer.concat([text(filling), Buffer.from([0xff])]) });
      expect(broken.status).toBe(400);
      expect(broken.text).toContain('The body is not valid UTF-8');
    }
  });

  it('gets the path of every error in a config', async () => {
    const gateway = createHarness();
    const config = JSON.stringify({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@one' }, { provider: '@two', retry: { attempts: 9 }, colour: 1 }],
    });
    const reply = await gateway.send({ headers: { 'x-svc-config': config } });
    expect(reply.text).toContain('targets[1].retry.attempts');
    expect(reply.text).toContain('targets[1].colour');
  });

  it('gets 401 for an expired key and 403 for one without the scope', async () => {
    const expired = createHarness({ key: { expiresAt: '2020-01-01T00:00:00Z' } });
    expect((await expired.send({})).status).toBe(401);
    const narrow = createHarness({ key: { scopes: ['logs.view'] } });
    expect((await narrow.send({})).status).toBe(403);
  });

  it('cannot replace the default config of a locked key', async () => {
    const gateway = createHarness({ key: { defaults: { configSlug: 'pc-own', metadata: {}, allowConfigOverride: false } } });
    gateway.addConfig('pc-own', { provider: '@one' });
    const reply = await gateway.send({ headers: { 'x-svc-config': '{"provider":"@two"}' } });
    expect(reply.json).toMatchObject({ error: { code: 'config_override_blocked' } });
  });

  it('gets 503 and not 401 if a key cannot be checked', async () => {
    const gateway = createHarness();
    const missing = gateway.documents as Map<string, unknown>;
    missing.get = ((id: string) => {
      if (id.startsWith('api-key')) return Promise.reject(new GatewayError('unavailable'));
      return Map.prototype.get.call(missing, id);
    }) as never;
    const reply = await gateway.send({});
    expect(reply.status).toBe(503);
  });
});

it.each([
  ['google', '/v1/chat/completions', { messages: [], service_tier: { toString: 1, valueOf: 1 } }],
  ['google', '/v1/messages', { messages: [], max_tokens: 1, tools: [{ name: 'f', type: { toString: 1, valueOf: 1 } }] }],
])('an object without a text form is a 400 of %s on %s', async (provider, path, body) => {
  const harness = createHarness();
  harness.addConfig('c', { provider, api_key: 'k' });
  const reply = await harness.send({ path, headers: { 'x-svc-config': 'c' }, body: { model: 'm', ...body } });
  expect([reply.status, harness.records[0]?.errorCode]).toEqual([400, 'bad_request']);
  expect(reply.text).toContain('an object or a list where a text is expected');
});

describe('JSON limits', () => {
  const nested = (levels: number) =>
    `{"model":"@one/m","x":${'['.repeat(levels)}${']'.repeat(levels)},"pad":"${'a'.repeat(9000)}"}`;
  const keys = (count: number) =>
    JSON.stringify({ model: '@one/m', x: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1])) });

  it.each([
    ['63 levels', nested(62), 200],
    ['66 levels', nested(65), 400],
    ['100,000 levels', nested(100_000), 400],
    ['49,000 keys', keys(49_000), 200],
    ['51,000 keys', keys(51_000), 400],
  ])('apply to a body of %s', async (_name, body, status) => {
    const gateway = createHarness();
    const reply = await gateway.send({ body });
    expect(reply.status).toBe(status);
    if (status === 400) expect(reply.text).toMatch(/nested deeper than 64 levels|more than 50000 keys/);
  });
});
