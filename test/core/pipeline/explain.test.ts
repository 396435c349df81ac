import { describe, expect, it } from 'vitest';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, type Harness, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const seeing = { key: { scopes: ['completions.write', 'configs.read', 'providers.read'] } };

/** An explanation as a test reads it. */
interface Explained {
  readonly config: JsonObject;
  readonly request: JsonObject;
  readonly strategy: JsonObject;
  readonly targets: (JsonObject & { readonly provider: JsonObject; readonly request: JsonObject & { params: JsonObject } })[];
  readonly warnings: string[];
}

async function explain(gateway: Harness, question: JsonObject, status = 200): Promise<Explained> {
  const reply = await gateway.send({ path: '/v1/configs/explain', body: question });
  expect([reply.status, gateway.calls.length], reply.text).toEqual([status, 0]);
  return reply.json as unknown as Explained;
}
const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };

describe('POST /v1/configs/explain', () => {
  it('returns all targets with inherited fields, destination and parameters, without a call', async () => {
    const gateway = createHarness(seeing);
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [429] },
      retry: { attempts: 2 },
      override_params: { temperature: 0.1 },
      targets: [
        { name: 'first', provider: '@one', override_params: { model: 'gpt-5-mini' }, drop_params: ['user'] },
        { provider: '@claude', default_params: { max_tokens: 5 }, request_timeout: 100, on_status_codes: [500] },
      ],
    };
    const found = await explain(gateway, { config, request: { body: { ...body, user: 'ann', logit_bias: { 1: 1 } } } });
    expect(found.request).toEqual({ endpoint: 'chatComplete', model: 'gpt-5', stream: false, metadata: { _user: 'ann' } });
    expect(found.targets).toMatchObject([
      {
        path: 'config.targets[0]',
        name: 'first',
        first: 1,
        reachable: true,
        retry: { attempts: 2 },
        provider: { slug: 'one', type: 'openai', model: 'gpt-5-mini', host: 'api.openai.com' },
        request: { params: { model: 'gpt-5-mini', temperature: 0.1 }, dropped_params: [] },
      },
      {
        first: 0,
        reachable: true,
        request_timeout: 100,
        provider: { slug: 'claude', type: 'anthropic', host: 'api.anthropic.com' },
        request: { params: { max_tokens: 5 }, dropped_params: ['logit_bias'] },
      },
    ]);
    expect(found.targets[0]?.request.params).not.toHaveProperty('user');
    expect(found.strategy).toMatchObject({
      mode: 'fallback',
      targets: [
        { order: 1, moves_on_after: [429] },
        { order: 2, moves_on_after: [500] },
      ],
    });
    expect(gateway.records).toMatchObject([{ endpoint: 'explainConfig', outcome: 'success', attempts: [] }]);
  });

  it('reports the matching condition and each comparison', async () => {
    const gateway = createHarness(seeing);
    gateway.addConfig('pc-c', {
      strategy: {
        mode: 'conditional',
        conditions: [
          { query: { 'headers.authorization': 'Bearer sk-secret' }, then: 'b' },
          { query: { $or: [{ 'metadata.tier': 'gold' }, { 'params.model': { $regex: '^gpt' } }] }, then: 'b' },
          { query: { 'tokens.input': { $gt: 1 } }, then: 'a' },
        ],
        default: 'a',
      },
      targets: [
        { name: 'a', provider: '@one' },
        { name: 'b', provider: '@two' },
        { name: 'c', provider: '@two' },
      ],
    });
    const headers = { authorization: 'Bearer sk-other' };
    const found = await explain(gateway, { config: 'pc-c', request: { body, headers, metadata: { tier: 'tin' } } });
    expect(found.strategy.why).toBe('conditions[1] holds: b');
    expect(found.strategy.conditions).toEqual([
      {
        then: 'b',
        holds: false,
        clauses: [{ path: 'headers.authorization', operator: '$eq', expected: '***', actual: '***', holds: false }],
      },
      {
        then: 'b',
        holds: true,
        clauses: [
          { path: '$or[0].metadata.tier', operator: '$eq', expected: 'gold', actual: 'tin', holds: false },
          { path: '$or[1].params.model', operator: '$regex', expected: '^gpt', actual: 'gpt-5', holds: true },
        ],
      },
    ]);
    expect(found.targets.map((target: JsonObject) => [target.first, target.reachable])).toEqual([
      [0, false],
      [1, true],
      [0, false],
    ]);
    expect(found.warnings).toEqual(['config.targets[2]: never used; neither a condition nor strategy.default names it']);
    expect(JSON.stringify(found)).not.toContain('sk-');
  });

  it('reports that a request would be rejected if no condition holds', async () => {
    const config = {
      strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.a': 'b' }, then: 'a' }] },
      targets: [{ name: 'a', provider: '@one' }],
    };
    const found = await explain(createHarness(), { config, request: { body } });
    expect(found.strategy).toMatchObject({
      why: 'no condition matches and strategy.default is not set',
      refusal: expect.any(String),
    });
    expect(found.targets[0]).toMatchObject({ first: 0, reachable: false });
  });

  it('multiplies probabilities along the tree', async () => {
    const config = {
      strategy: { mode: 'loadbalance' },
      targets: [
        { provider: '@one', weight: 1 },
        { weight: 3, strategy: { mode: 'loadbalance' }, targets: [{ provider: '@one' }, { provider: '@two' }] },
        { provider: '@two', weight: 0 },
      ],
    };
    const found = await explain(createHarness(), { config, request: { body } });
    expect(found.targets.map((target: JsonObject) => target.first)).toEqual([0.25, 0.375, 0.375, 0]);
    expect(found.warnings).toEqual(['config.targets[2]: never chosen, because its weight is 0']);
  });

  it('reports an open circuit, and a sticky identity', async () => {
    const gateway = createHarness(seeing);
    const cb_config = { failure_threshold: 1, cooldown_interval: 60_000 };
    gateway.addConfig('pc-b', {
      strategy: { mode: 'fallback', cb_config },
      targets: [{ provider: '@one' }, { provider: '@two' }],
    });
    gateway.script(replyWith(500, {}), replyWith(200, {}));
    await gateway.send({ headers: { 'x-svc-config': 'pc-b' }, body });
    gateway.calls.length = 0;
    const found = await explain(gateway, { config: 'pc-b', request: { body } });
    expect(found.strategy.targets).toMatchObject([
      { circuit: 'open', first: 0, order: null },
      { circuit: 'closed', first: 1, order: 1 },
    ]);
    const sticky = {
      strategy: { mode: 'loadbalance', sticky: { enabled: true } },
      targets: [{ provider: '@one' }, { provider: '@two' }],
    };
    const balanced = await explain(gateway, { config: sticky, request: { body } });
    expect(balanced.strategy).toMatchObject({ sticky: true, algorithm: 'weighted' });
    expect(balanced.targets.map((target: JsonObject) => target.first).sort()).toEqual([0, 1]);
  });

  it('warns of circuits without effect', async () => {
    const gateway = createHarness(seeing);
    const strategy = { mode: 'single', cb_config: { failure_threshold: 1, cooldown_interval: 60_000 } };
    const config = { strategy, targets: [{ provider: 'openai' }] };
    expect((await explain(gateway, { config })).warnings).toEqual([
      expect.stringContaining('config.strategy.cb_config: no effect'),
    ]);
    gateway.addConfig('pc-x', config);
    expect((await explain(gateway, { config: 'pc-x' })).warnings).toEqual([
      expect.stringContaining('config.targets[0]: cb_config'),
    ]);
  });

  it('uses the config of the key by default', async () => {
    const key = { ...seeing.key, defaults: { configSlug: 'pc-own', metadata: { team: 'red' }, allowConfigOverride: true } };
    const gateway = createHarness({ key });
    gateway.addConfig('pc-own', { provider: '@two' });
    const found = await explain(gateway, {});
    expect(found.config.slug).toBe('pc-own');
    expect(found.request.metadata).toEqual({ team: 'red' });
  });

  it('contains no credential', async () => {
    const config = {
      provider: 'openai',
      api_key: 'sk-own',
      custom_host: 'https://llm.example/v1',
      aws_secret_access_key: 'wJal',
    };
    const text = JSON.stringify(
      await explain(createHarness(), { config, request: { headers: { authorization: 'Bearer sk-2' } } }),
    );
    expect(text).toContain('"credentials":["api_key","aws_secret_access_key"]');
    expect(text).not.toMatch(/sk-|wJal|sha256/);
  });

  it('shows the host of a stored provider only to keys that may read providers', async () => {
    const config = { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: 'openai', api_key: 'sk-own' }] };
    const hostsOf = async (scopes: string[]) => {
      const gateway = createHarness({ key: { scopes } });
      const id = `provider ${workspaceId}/one`;
      const stored = gateway.documents.get(id) as ProviderDocument;
      gateway.documents.set(id, { ...stored, settings: { ...stored.settings, custom_host: 'https://inside.example/v1' } });
      const found = await explain(gateway, { config, request: { body } });
      const sent = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config), 'x-svc-debug-route': 'true' }, body });
      const told = `${JSON.stringify(found)} ${sent.header('x-svc-debug-route')}`;
      return { hosts: found.targets.map((target) => target.provider.host), isTold: told.includes('inside.example') };
    };
    const inline = 'api.openai.com';
    expect(await hostsOf(['completions.write'])).toEqual({ hosts: [null, inline], isTold: false });
    expect(await hostsOf(['completions.write', 'configs.read'])).toEqual({ hosts: [null, inline], isTold: false });
    expect(await hostsOf(['completions.write', 'configs.read', 'providers.read'])).toEqual({
      hosts: ['inside.example', inline],
      isTold: true,
    });
  });

  it('reports errors at their target', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@gone' }, { provider: '@claude', strict_params: true }],
    };
    const found = await explain(createHarness(), { config, request: { body: { ...body, logit_bias: { 1: 1 } } } });
    expect(found.targets[0]?.provider.error).toMatchObject({ code: 'invalid_provider' });
    expect(found.warnings).toEqual([
      'config.targets[0]: Following keys are not valid: gone. The workspace has no provider with this slug. GET /v1/providers lists its providers; the target is skipped',
    ]);
    expect(found.targets[1]?.request.error).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('logit_bias'),
    });
  });

  it('stays short if many targets inherit the same values', async () => {
    const gateway = createHarness(seeing);
    const targets = Array.from({ length: 100 }, () => ({ provider: '@one' }));
    const override_params = Object.fromEntries(
      Array.from({ length: 1000 }, (_each, index) => [`name ${index}`, 'value'.repeat(10)]),
    );
    gateway.addConfig('pc-wide', { strategy: { mode: 'fallback' }, override_params, targets });
    const found = await explain(gateway, { config: 'pc-wide', request: { body } });
    expect(found.targets).toHaveLength(100);
    expect(JSON.stringify(found).length).toBeLessThan(1024 * 1024);
    expect(found.targets[99]).toEqual({ path: 'config.targets[99]', first: 0, reachable: true });
    expect(found.warnings).toEqual([expect.stringContaining('some have names only')]);
  });

  it.each([
    [{ config: {}, more: 1 }, 'more'],
    [{ request: { path: '/other' } }, 'request.path'],
    [{ request: { path: '/v1/api-keys' } }, 'request.path'],
    [{ request: { body: [] } }, 'request.body'],
    [{ config: { provider: '@one', retry: { attempts: 9 } } }, 'retry.attempts'],
    [{ config: 'pc-unknown' }, 'pc-unknown'],
  ])('rejects %j and names the error', async (question, name) => {
    expect(JSON.stringify(await explain(createHarness(seeing), question as never, 400))).toContain(name);
  });

  it('rejects bodies above a MiB', async () => {
    const question = { config: { provider: '@one' }, request: { body: { prompt: 'x'.repeat(1024 * 1024) } } };
    expect(JSON.stringify(await explain(createHarness(), question, 413))).toContain('body_too_large');
  });

  it('shows saved configs only to keys that may read them', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-x', { provider: '@one' });
    expect(JSON.stringify(await explain(gateway, { config: 'pc-x' }, 403))).toContain('configs.read');
    const blind = createHarness({ key: { scopes: ['logs.write'] } });
    await explain(blind, { config: { provider: '@one' } }, 403);
  });
});

describe('x-svc-debug-route', () => {
  const config = JSON.stringify({
    strategy: { mode: 'loadbalance' },
    targets: [
      { provider: '@one', name: 'größe' },
      { provider: '@two', weight: 3 },
    ],
  });
  const headers = { 'x-svc-config': config, 'x-svc-debug-route': 'true' };

  it('reports target and reasons on the reply, in ASCII', async () => {
    const reply = await createHarness(seeing).send({
      headers: { ...headers, 'x-svc-config': Buffer.from(config).toString('latin1') },
    });
    expect(reply.status).toBe(200);
    const value = reply.header('x-svc-debug-route') as string;
    expect(value).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(value)).toMatchObject({
      strategy: { mode: 'loadbalance', targets: [{ name: 'größe', first: 0.25 }, { first: 0.75 }] },
      targets: [{ path: 'config.targets[0]', provider: { slug: 'one', model: 'gpt-5' } }, { provider: { slug: 'two' } }],
    });
  });

  it('is also on errors, whose record has the model', async () => {
    const gateway = createHarness(seeing);
    gateway.script(replyWith(500, {}));
    const reply = await gateway.send({ headers });
    expect(reply.status).toBe(500);
    expect(reply.header('x-svc-debug-route')).toContain('loadbalance');
    expect(gateway.records[0]?.model).toBe('gpt-5');
  });

  it('holds at most 4 KiB', async () => {
    const gateway = createHarness(seeing);
    const targets = Array.from({ length: 60 }, (_each, index) => ({ name: `target ${index}`, provider: '@one' }));
    gateway.addConfig('pc-long', { strategy: { mode: 'fallback' }, targets });
    const value = (await gateway.send({ headers: { ...headers, 'x-svc-config': 'pc-long' } })).header(
      'x-svc-debug-route',
    ) as string;
    expect(value.length).toBeLessThanOrEqual(4096);
    expect(JSON.parse(value)).toMatchObject({ config: 'pc-long', truncated: true });
  });

  it('names the missing scope to keys that may not read configs', async () => {
    const reply = await createHarness().send({ headers });
    expect(reply.header('x-svc-debug-route')).toBe('{"error":"the API key requires the scope configs.read"}');
  });

  it('is absent if the cache replies, because the request takes no route', async () => {
    const gateway = createHarness(seeing);
    const cached = { ...headers, 'x-svc-config': JSON.stringify({ provider: '@one', cache: { mode: 'simple' } }) };
    const replies = [await gateway.send({ headers: cached }), await gateway.send({ headers: cached })];
    expect(replies.map((reply) => reply.header('x-svc-cache-status'))).toEqual(['MISS', 'HIT']);
    expect(replies.map((reply) => reply.header('x-svc-debug-route') !== undefined)).toEqual([true, false]);
  });

  it('is absent by default, and rejected unless it is true or false', async () => {
    const gateway = createHarness(seeing);
    expect((await gateway.send({ headers: { 'x-svc-config': config } })).header('x-svc-debug-route')).toBeUndefined();
    const refused = await gateway.send({ headers: { ...headers, 'x-svc-debug-route': 'yes' } });
    expect([refused.status, refused.text.includes('x-svc-debug-route')]).toEqual([400, true]);
  });
});
