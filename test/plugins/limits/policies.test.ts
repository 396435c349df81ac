import { describe, expect, it } from 'vitest';
import type { PolicyCondition } from '../../../core/contract/protocol/limits/policies.ts';
import { isStorable } from '../../../core/contract/values/json/storable-json.ts';
import { chatReply, chatStream, organisationId, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { body } from './limits-harness.ts';
import { errorOf, providerId, rate, start, usage, withMetadata } from './policies-harness.ts';

describe('conditions of policies', () => {
  const matching: [string, PolicyCondition[]][] = [
    ['any value of a key that the call has', [{ key: 'api_key', value: '*' }]],
    ['an equal value', [{ key: 'provider', value: 'openai' }]],
    ['one of several values', [{ key: 'provider', value: ['anthropic', 'openai'] }]],
    [
      'all conditions',
      [
        { key: 'provider', value: 'openai' },
        { key: 'metadata.team', value: 'a' },
      ],
    ],
    ['another value than the excluded', [{ key: 'metadata.team', value: '*', excludes: 'b' }]],
    ['the model', [{ key: 'model', value: '@openai/gpt-5' }]],
    ['the beginning of the model', [{ key: 'model', value: '@openai/*' }]],
    ['a model that is not excluded', [{ key: 'model', value: '@openai/*', excludes: ['@openai/gpt-4'] }]],
    ['the slug of the stored provider', [{ key: 'virtual_key', value: 'one' }]],
    ['the id of the workspace', [{ key: 'workspace_id', value: workspaceId }]],
    ['the organisation', [{ key: 'organisation_id', value: organisationId }]],
    ['the function', [{ key: 'endpoint_type', value: 'chatComplete' }]],
    ['metadata', [{ key: 'metadata.team', value: 'a' }]],
  ];
  it.each(matching)('match by %s', async (_name, conditions) => {
    const { ask, calls } = start({ rate: [rate({ conditions })] });
    const headers = withMetadata({ team: 'a' });
    expect([(await ask(headers)).status, (await ask(headers)).status]).toEqual([200, 429]);
    expect(calls).toHaveLength(1);
  });

  const others: [string, PolicyCondition[]][] = [
    ['another value', [{ key: 'provider', value: 'anthropic' }]],
    ['an excluded value', [{ key: 'metadata.team', value: '*', excludes: ['b', 'a'] }]],
    ['an excluded value that is listed too', [{ key: 'metadata.team', value: 'a', excludes: 'a' }]],
    ['a missing value', [{ key: 'metadata.user', value: '*' }]],
    [
      'one of two conditions',
      [
        { key: 'provider', value: 'openai' },
        { key: 'metadata.team', value: 'b' },
      ],
    ],
    ['a star inside a list', [{ key: 'metadata.team', value: ['*'] }]],
    ['an excluded beginning of the model', [{ key: 'model', value: '*', excludes: '@openai/*' }]],
    ['models of another provider', [{ key: 'model', value: '@anthropic/*' }]],
    ['a longer model name', [{ key: 'model', value: '@openai/gpt-5-mini' }]],
    ['a prompt when none is used', [{ key: 'prompt', value: '*' }]],
    ['a saved config when none is used', [{ key: 'config', value: '*' }]],
    ['another function', [{ key: 'endpoint_type', value: 'embed' }]],
    ['a name of an object prototype', [{ key: 'metadata.constructor', value: '*' }]],
  ];
  it.each(others)('do not match by %s', async (_name, conditions) => {
    const { ask } = start({ rate: [rate({ conditions })] });
    const headers = withMetadata({ team: 'a' });
    expect([(await ask(headers)).status, (await ask(headers)).status]).toEqual([200, 200]);
  });

  it('name configs by slug or id', async () => {
    for (const named of ['slug', 'id'] as const) {
      const { ask, set, addConfig } = start();
      const config = addConfig('pc-a', { provider: '@one' });
      set({ rate: [rate({ conditions: [{ key: 'config', value: config[named] }] })] });
      expect((await ask({ 'x-svc-config': 'pc-a' })).status).toBe(200);
      expect((await ask({ 'x-svc-config': 'pc-a' })).status).toBe(429);
      expect((await ask()).status).toBe(200);
    }
  });

  it('count a call once if they name a config by slug and by id', async () => {
    const { ask, set, addConfig } = start();
    const { slug, id } = addConfig('pc-a', { provider: '@one' });
    set({ rate: [rate({ conditions: [{ key: 'config', value: [slug, id] }], value: 2 })] });
    const replies = [1, 2, 3].map(() => ask({ 'x-svc-config': 'pc-a' }));
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([200, 200, 429]);
  });

  it('see the model that a target sets instead of the requested one', async () => {
    const { ask, addConfig } = start({ rate: [rate({ conditions: [{ key: 'model', value: '@openai/gpt-6' }] })] });
    addConfig('pc-six', { provider: '@one', override_params: { model: 'gpt-6' } });
    expect((await ask({ 'x-svc-config': 'pc-six' })).status).toBe(200);
    expect((await ask({ 'x-svc-config': 'pc-six' })).status).toBe(429);
    expect((await ask()).status).toBe(200);
  });
});

describe('groups of policies', () => {
  it.each<[string[], (ids: { keyId: string; provider: string }) => string]>([
    [['api_key'], ({ keyId }) => `api_key:${keyId}`],
    [['api_key', 'metadata.team'], ({ keyId }) => `api_key:${keyId}-metadata.team:a`],
    [['virtual_key'], ({ provider }) => `virtual_key:${provider}`],
    [['provider', 'model'], () => 'provider:openai-model:openai.gpt-5'],
    [['workspace_id'], () => `workspace_id:${workspaceId}`],
    [['endpoint_type'], () => 'endpoint_type:chatComplete'],
    [[], () => 'default'],
  ])('%j: name their counter in errors', async (groupBy, valueKey) => {
    const policy = rate({ groupBy });
    const { ask, documents, keyId } = start({ rate: [policy] });
    const headers = withMetadata({ team: 'a' });
    await ask(headers);
    const refused = await ask(headers);
    const name = valueKey({ keyId, provider: providerId(documents) });
    expect(errorOf(refused).message).toBe(`Rate Limit Policy ${policy.id} exceeded for value key ${name}: 1 request per day`);
  });

  it('count each combination of values alone', async () => {
    const { ask } = start({ rate: [rate({ groupBy: ['metadata.team', 'metadata.user'] })] });
    const statuses: number[] = [];
    for (const team of ['a', 'b']) {
      for (const user of ['x', 'y', 'x']) statuses.push((await ask(withMetadata({ team, user }))).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429]);
  });

  it('are texts that the ledger can hold', async () => {
    const { ask, ledger } = start({ usage: [usage({ groupBy: ['metadata.team', 'model'] })] });
    const model = 'gpt\u0000-5\ud800';
    expect((await ask(withMetadata({ team: 'a\u0000\udc00' }), { ...body, model })).status).toBe(200);
    expect(ledger.asks).toHaveLength(1);
    expect(isStorable(ledger.asks)).toBe(true);
  });

  it('are texts that the ledger can hold, also if their end is cut off between the halves of a surrogate pair', async () => {
    const { ask, ledger } = start({ usage: [usage({ groupBy: ['model'] })] });
    for (const length of [4_082, 4_083])
      expect((await ask({}, { ...body, model: `${'x'.repeat(length)}😀😀` })).status).toBe(200);
    expect(ledger.asks).toHaveLength(2);
    expect(isStorable(ledger.asks)).toBe(true);
  });

  it('leave out calls that lack a value', async () => {
    const { ask } = start({ rate: [rate({ groupBy: ['api_key', 'metadata.team'] })] });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  });
});

describe('policies', () => {
  it('requests: count successful requests only, and reject with 412', async () => {
    const policy = usage({ creditLimit: 2 });
    const { ask, script, records, keyId } = start({ usage: [policy] });
    script(replyWith(400, { error: { message: 'no' } }), replyWith(200, chatReply('1')), replyWith(200, chatReply('2')));
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([400, 200, 200]);
    const refused = await ask();
    expect(refused.status).toBe(412);
    expect(errorOf(refused)).toMatchObject({
      code: 'usage_policy_limit',
      message: `Usage Limits Policy ${policy.id} Exceeded for value key api_key:${keyId}`,
    });
    expect(records.map(({ reservations }) => reservations?.map(({ units }) => units))).toEqual([undefined, [1], [1], undefined]);
  });

  it('tokens: reserve the maximum and count what was used', async () => {
    const { ask, ledger, records } = start({ usage: [usage({ type: 'tokens', creditLimit: 20 })] });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    const refused = await ask();
    expect([refused.status, errorOf(refused).message]).toEqual([
      412,
      expect.stringContaining(
        ': this request may use 15 tokens, and 10 tokens are left. Set a smaller max_tokens or raise the limit',
      ),
    ]);
    expect(ledger.asks[0]).toMatchObject({ kind: 'budget', scope: 'policy', unit: 'tokens', capacity: 20 });
    expect(records[0]?.reservations).toMatchObject([{ units: 5 }]);
  });

  it('cost: reserve by price', async () => {
    const { ask, ledger } = start({ usage: [usage({ type: 'cost', creditLimit: 0.0001 })] });
    // 10 tokens of output for 4 micro-USD each, 5 of input for 2: 50 of 100.
    ledger.rates.set('gpt-5', { input: 2, cacheRead: 1, output: 4 });
    expect((await ask()).status).toBe(200);
    const refused = await ask({}, { ...body, max_tokens: 100 });
    expect(refused.status).toBe(412);
    expect(errorOf(refused).message).toContain(': this request may cost 0.00041 USD, and the limit is 0.0001 USD. Set');
  });

  it('count calls of models if their target is llm, and none if it is another', async () => {
    const tight = { type: 'tokens', creditLimit: 20 } as const;
    const ofTools = start({ usage: [usage({ ...tight, target: 'mcp_tools' }), usage({ ...tight, target: 'agents' })] });
    for (let i = 0; i < 3; i++) expect((await ofTools.ask()).status).toBe(200);
    const { ask } = start({ usage: [usage({ ...tight, target: 'llm' })] });
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([200, 200, 412]);
  });

  it('take nothing from others if one of several rejects', async () => {
    const full = rate({ value: 1, conditions: [{ key: 'metadata.full', value: 'yes' }] });
    const { ask } = start({ rate: [rate({ value: 2 }), full] });
    const headers = withMetadata({ full: 'yes' });
    expect([(await ask(headers)).status, (await ask(headers)).status, (await ask(headers)).status]).toEqual([200, 429, 429]);
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
  });

  it('let a fallback continue at a target that they do not apply to, and count a request once', async () => {
    const perProvider = rate({ conditions: [{ key: 'virtual_key', value: 'one' }], value: 1 });
    const perKey = rate({ value: 3 });
    const { ask, addConfig, script } = start({ rate: [perKey, perProvider] });
    addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    script(replyWith(500, { error: { message: 'down' } }), replyWith(200, chatReply('a')), replyWith(200, chatReply('b')));
    // Both targets are called, and the request counts once per key.
    expect((await ask({ 'x-svc-config': 'pc-two' })).status).toBe(200);
    expect((await ask({ 'x-svc-config': 'pc-two' })).status).toBe(200);
    expect(errorOf(await ask()).message).toContain(perProvider.id);
    expect((await ask({ 'x-svc-provider': '@two' })).status).toBe(200);
    expect(errorOf(await ask({ 'x-svc-provider': '@two' })).message).toContain(perKey.id);
  });

  it('apply to streams', async () => {
    const { ask, script, records } = start({ usage: [usage({ type: 'tokens', creditLimit: 20 })] });
    script(chatStream(['hel', 'lo']), chatStream(['hello']));
    const streamed = { ...body, stream: true };
    expect((await ask({}, streamed)).status).toBe(200);
    expect(records[0]?.reservations).toMatchObject([{ units: expect.any(Number) }]);
    expect((await ask({}, { ...streamed, max_tokens: 16 })).status).toBe(412);
  });

  it('do not count free requests in budgets', async () => {
    const { ask, harness } = start({ usage: [usage({ creditLimit: 1 })] });
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' };
    for (let i = 0; i < 3; i++) {
      expect((await harness.send({ method: 'GET', path: '/v1/files/file-1', headers })).status).toBe(200);
    }
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 412]);
  });

  it('reject work whose usage comes later if a budget of tokens applies', async () => {
    const { ask } = start({ usage: [usage({ type: 'tokens', creditLimit: 100 })] });
    const refused = await ask({}, body, '/v1/proxy/v1/batches');
    expect([refused.status, errorOf(refused).code]).toEqual([400, 'unmetered_request']);
  });

  it('are replaced with their document', async () => {
    const { ask, set } = start({ rate: [rate({ value: 1 })] });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
    set({});
    expect((await ask()).status).toBe(200);
    set({ rate: [rate({ value: 1 })] });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
  });

  it.each([
    ['budgets', { usage: [usage()] }],
    ['rate limits', { rate: [rate()] }],
  ])('%s reject while the ledger is away, also when the attempt is retried', async (_, policies) => {
    const { ask, ledger, addConfig } = start(policies);
    addConfig('pc-again', { provider: '@one', retry: { attempts: 2, on_status_codes: [503] } });
    ledger.isAway = true;
    const refused = await ask({ 'x-svc-config': 'pc-again' });
    expect([refused.status, errorOf(refused).code]).toEqual([503, 'limit_unknown']);
  });

  it('reject if they cannot be read', async () => {
    const { ask, documents, calls } = start();
    documents.set(`workspace-policies ${workspaceId}`, new Error('away'));
    expect((await ask()).status).toBeGreaterThanOrEqual(500);
    expect(calls).toEqual([]);
  });
});
