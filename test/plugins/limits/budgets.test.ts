import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { requestRecord } from '../../../core/contract/plugin/record/record.ts';
import { leasesBody } from '../../../core/contract/protocol/limits/leases.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { chatReply, type FakeSink, failWith, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { until } from '../../support/until.ts';
import { body, budgetOf, errorOf, limitProvider, perDay, start } from './limits-harness.ts';

describe('budgets of a request', () => {
  it('tokens: reject with 412 what may exceed them, and report the usage to the ledger', async () => {
    const usageLimits = budgetOf(20, 'tokens');
    const { ask, records } = start({ usageLimits });
    const replies = [await ask(), await ask(), await ask()];
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 412]);
    expect(errorOf(replies[2] as FakeSink)).toMatchObject({
      code: 'key_usage_limit',
      message: expect.stringMatching(/^API Key Usage Limit Exceeded: this request may use 15 tokens, and 10 tokens are left\. /),
    });
    expect(records[0]?.reservations).toMatchObject([{ key: `budget:${usageLimits.id}`, units: 5 }]);
    expect(records[2]?.reservations).toBeUndefined();
  });

  it('are exhausted by counts that no ledger could hold, and others are not affected', async () => {
    const { ask, records, script, ledger } = start({ usageLimits: budgetOf(1_000, 'cost') });
    ledger.rates.set('gpt-5', { input: 1e6, output: 1e6, cacheRead: 0 });
    script(replyWith(200, { ...chatReply('hello'), usage: { prompt_tokens: 1e300, completion_tokens: 1e300 } }));
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 412]);
    expect(v.safeParse(requestRecord, JSON.parse(JSON.stringify(records[0]))).issues).toBeUndefined();
    expect(records[0]?.reservations).toMatchObject([{ units: 1e11 }]);
    expect(v.safeParse(leasesBody, { asks: ledger.asks }).issues).toBeUndefined();
  });

  it('cost: reserve the maximum price of a request, and never more than the rest', async () => {
    // Per request: 5 × 1,000 + 10 × 50,000 micro-USD are set aside, 3 × 1,000 + 2 × 50,000 are used.
    const { ask, ledger, calls } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { input: 1_000, output: 50_000, cacheRead: 0 });
    const replies = await Promise.all([ask(), ask(), ask()]);
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 412, 412]);
    expect(calls).toHaveLength(1);
    const message =
      /0\.505 USD, and 0\.49\d+ USD is left while other calls are in progress\. Set a smaller max_tokens, try again when/;
    for (const reply of replies.filter(({ status }) => status === 412)) expect(errorOf(reply).message).toMatch(message);
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  });

  it('cost: leave a request refused that no provider was called for, and its rate limit unused', async () => {
    const rateLimits = [perDay(2)];
    const { ask, ledger, records, calls } = start({ usageLimits: budgetOf(1, 'cost'), rateLimits });
    ledger.rates.set('gpt-5', { input: 1_000, output: 50_000, cacheRead: 0 });
    const large = { ...body, max_tokens: 100 };
    for (let i = 0; i < 3; i++) {
      expect(errorOf(await ask({}, large)).message).toBe(
        'API Key Usage Limit Exceeded: this request may cost 5.005 USD, and the limit is 1 USD. Set a smaller max_tokens or raise the limit',
      );
    }
    expect(calls).toHaveLength(0);
    expect(records.map(({ outcome, reservations }) => [outcome, reservations])).toEqual(Array(3).fill(['refused', undefined]));
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
  });

  it('say that calls in progress hold the rest of them, and not if it is used up', async () => {
    // Each request reserves 15 tokens and uses 5.
    const { ask } = start({ usageLimits: budgetOf(15, 'tokens') });
    const replies = await Promise.all([ask(), ask()]);
    expect(replies.map(({ status }) => status)).toEqual([200, 412]);
    expect(errorOf(replies[1] as FakeSink).message).toBe(
      'API Key Usage Limit Exceeded: calls in progress hold the rest of it. Try again when they have ended, or raise the limit',
    );
    const sent = { ...body, max_tokens: 5 };
    const statuses = [(await ask({}, sent)).status, (await ask({}, sent)).status];
    expect(statuses).toEqual([200, 412]);
    const used = start({ usageLimits: budgetOf(1, 'cost') });
    used.ledger.rates.set('gpt-5', { input: 1e6, output: 1e6, cacheRead: 0 });
    used.script(replyWith(200, { ...chatReply('hello'), usage: { prompt_tokens: 9, completion_tokens: 9 } }));
    await used.ask({}, sent);
    expect(errorOf(await used.ask({}, sent)).message).not.toContain('calls in progress');
  });

  it.each([
    ['the whole text of a text document', { type: 'text', data: 'x'.repeat(30_000) }, 10_000],
    ['at most 1,000 tokens of an image', { type: 'base64', data: 'A'.repeat(30_000) }, 1_000],
  ])('tokens: reserve %s', async (_title, source, least) => {
    const { ask, calls } = start({ usageLimits: budgetOf(least + 50, 'tokens') });
    const messages = [{ role: 'user', content: [{ type: 'document', source }] }];
    const sent = { ...body, max_tokens: 5, messages };
    expect((await ask({}, sent)).status).toBe(200);
    expect(calls).toHaveLength(1);
    const less = start({ usageLimits: budgetOf(least, 'tokens') });
    expect((await less.ask({}, sent)).status).toBe(412);
  });

  it('cost: reserve the higher of the usual and the requested tier’s price, and count the tier of the reply', async () => {
    const { ask, ledger, records, script } = start({ usageLimits: budgetOf(1, 'cost') });
    const flex = { input: 500, output: 25_000, cacheRead: 0 };
    ledger.rates.set('gpt-5', { input: 1_000, output: 50_000, cacheRead: 0, tiers: { flex } });
    script(replyWith(200, { ...chatReply('hello'), service_tier: 'flex' }));
    const asked = ask({}, { ...body, service_tier: 'flex' });
    expect([(await asked).status, records[0]?.serviceTier]).toEqual([200, 'flex']);
    // 3 × 500 + 2 × 25,000 micro-USD were used.
    expect(records[0]?.reservations).toMatchObject([{ units: 51_500 }]);
    // In that tier 30 tokens would fit, at the usual price they do not.
    expect((await ask({}, { ...body, max_tokens: 30, service_tier: 'flex' })).status).toBe(412);
  });

  it.each([
    ['the requested tier', { service_tier: 'priority' }, {}, 412],
    ['a tier that the target sets', {}, { service_tier: 'priority' }, 412],
    ['fast mode', { speed: 'fast' }, {}, 412],
    ['the usual tier, if the requested one has no price', { service_tier: 'constructor' }, {}, 200],
  ])('cost: reserve the price of %s', async (_title, asked, override_params, status) => {
    const { ask, ledger } = start({ usageLimits: budgetOf(1, 'cost') });
    const dear = { input: 2_000, output: 100_000, cacheRead: 0 };
    ledger.rates.set('gpt-5', { input: 1_000, output: 50_000, cacheRead: 0, tiers: { priority: dear, fast: dear } });
    const config = JSON.stringify({ provider: '@one', override_params });
    const reply = await ask({ 'x-svc-config': config }, { ...body, ...asked });
    expect(reply.status).toBe(status);
    if (status === 412) expect(errorOf(reply).message).toContain('this request may cost 1.01 USD');
  });

  it('cost: reserve the price of the requested images', async () => {
    const { harness, ledger, records, script } = start({ usageLimits: budgetOf(1, 'cost') });
    const images = { default: { default: 40_000 }, hd: { '1024x1024': 300_000 } };
    ledger.rates.set('dall-e-3', { input: 0, output: 0, cacheRead: 0, images });
    const draw = (n: number) =>
      harness.send({
        method: 'POST',
        path: '/v1/images/generations',
        headers: { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' },
        body: { model: 'dall-e-3', prompt: 'a cat', n, quality: 'hd', size: '1024x1024' },
      });
    expect((await draw(4)).status).toBe(412);
    script(replyWith(200, { created: 1, data: [{ url: 'https://a' }, { url: 'https://b' }] }));
    expect((await draw(2)).status).toBe(200);
    expect(records[1]).toMatchObject({ image: { quality: 'hd', size: '1024x1024' }, reservations: [{ units: 600_000 }] });
    expect((await draw(2)).status).toBe(412);
  });

  it('are not affected by models with an unknown price', async () => {
    const { ask, records } = start({ usageLimits: budgetOf(1, 'cost') });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    expect(records[0]?.reservations).toMatchObject([{ units: 0 }]);
  });

  it('cost: a used-up budget of a provider also blocks models with an unknown price', async () => {
    const { harness, ask, ledger, script } = start();
    limitProvider(harness, 'one', { usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { input: 1_000, output: 50_000, cacheRead: 0 });
    script(replyWith(200, { ...chatReply('hello'), usage: { prompt_tokens: 900, completion_tokens: 900 } }));
    expect([(await ask()).status, errorOf(await ask({}, { ...body, model: 'new' })).code]).toEqual([200, 'provider_usage_limit']);
  });

  it('cost: reject while the price of a model cannot be read, unless set to allow', async () => {
    for (const [onUnavailable, status] of [
      ['deny', 503],
      ['allow', 200],
    ] as const) {
      const { ask, ledger } = start({ usageLimits: budgetOf(1, 'cost', { onUnavailable }) });
      expect((await ask()).status).toBe(200);
      ledger.isAway = true;
      const reply = await ask({}, { ...body, model: 'new' });
      expect([reply.status, status === 503 && errorOf(reply).code]).toEqual([status, status === 503 && 'limit_unknown']);
    }
  });

  it('report the smallest rejected call to the ledger, which may mark the budget as exhausted', async () => {
    const { ask, ledger } = start({ usageLimits: budgetOf(20, 'tokens') });
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([200, 200, 412]);
    await until(() => ledger.asks.some((asked) => asked.kind === 'budget' && asked.refused === 15));
  });

  it('cost: units of another lease than before are returned, if the budget is reset during a request', async () => {
    const usageLimits = budgetOf(1, 'cost');
    const { ask, ledger, leases } = start({ usageLimits });
    ledger.rates.set('gpt-5', { input: 1_000, output: 50_000, cacheRead: 0 });
    ledger.whenAsked = ([asked]) => {
      if (ledger.asks.length !== 2 || asked?.kind !== 'budget') return;
      const { need, want, lease, seq, kept, startMs, parts, spare, left, recalledMs, refused, ...spec } = asked;
      leases.account({ ...spec, resetAt: '2027-01-01T00:00:00.000Z' });
    };
    expect((await ask()).status).toBe(200);
    ledger.whenAsked = null;
    expect((await ask({}, { ...body, max_tokens: 19 })).status).toBe(200);
  });

  it('provider: a fallback continues and the reservation of a failed call is returned', async () => {
    const { harness, ask, addConfig, script, records } = start();
    limitProvider(harness, 'one', { usageLimits: budgetOf(15, 'tokens') });
    addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    script(replyWith(500, { error: { message: 'down' } }), replyWith(200, chatReply('hello')));
    for (let i = 0; i < 3; i++) expect((await ask({ 'x-svc-config': 'pc-two' })).status).toBe(200);
    expect(records.map((record) => record.providerSlug)).toEqual(['two', 'one', 'two']);
    expect(records[2]?.attempts[0]).toMatchObject({ status: 412, errorCode: 'provider_usage_limit' });
  });

  it('reject while the ledger is away, unless set to allow; such requests are settled later', async () => {
    const closed = start({ usageLimits: budgetOf(1_000, 'tokens') });
    closed.ledger.isAway = true;
    const refused = await closed.ask();
    expect([refused.status, errorOf(refused).code]).toEqual([503, 'limit_unknown']);
    const open = start({ usageLimits: budgetOf(1_000, 'tokens', { onUnavailable: 'allow' }) });
    open.ledger.isAway = true;
    expect((await open.ask()).status).toBe(200);
    expect(open.records[0]?.reservations).toMatchObject([{ lease: null, startMs: 0, units: 0 }]);
  });

  it('continue with their lease when the ledger is away', async () => {
    const { ask, ledger } = start({ usageLimits: budgetOf(1_000, 'tokens') });
    expect((await ask()).status).toBe(200);
    ledger.isAway = true;
    expect((await ask()).status).toBe(200);
  });

  it('do not block the list of models when exhausted', async () => {
    const { harness, ask } = start({ usageLimits: budgetOf(16, 'tokens') });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 412]);
    const listed = await harness.send({
      method: 'GET',
      path: '/v1/models',
      headers: { 'x-svc-api-key': harness.key },
      body: '',
    });
    expect(listed.status).not.toBe(412);
  });

  it.each([
    ['all of it if the client leaves before the provider is reached', 'connecting', 200],
    ['the part beyond the prompt if the client leaves before the reply', 'asked', 412],
  ])('return of a reservation: %s', async (_case, state, status) => {
    // 10 for the reply and 5 for the request are set aside.
    const { harness, ask, script, records } = start({ usageLimits: budgetOf(15, 'tokens') });
    let client: FakeSink | null = null;
    script(
      () => {
        setImmediate(() => client?.leave());
        return state;
      },
      replyWith(200, chatReply('hello')),
    );
    await harness.send({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' },
      body,
      prepare: (sink) => {
        client = sink;
      },
    });
    expect(records[0]?.reservations).toEqual([expect.objectContaining({ units: state === 'asked' ? 1 : 0 })]);
    expect((await ask()).status).toBe(status);
    expect((await ask({}, { ...body, max_tokens: 9 })).status).toBe(status === 200 ? 412 : 200);
  });

  it.each([
    ['tokens', budgetOf(15, 'tokens'), 1, 10],
    ['cost', budgetOf(1, 'cost'), 2, 19],
  ] as const)('%s: a grant is returned if the client left while the ledger was asked', async (_type, usageLimits, last, most) => {
    const { harness, ask, ledger } = start({ usageLimits });
    ledger.rates.set('gpt-5', { input: 1_000, output: 50_000, cacheRead: 0 });
    let client: FakeSink | null = null;
    ledger.whenAsked = () => {
      if (ledger.asks.length === last) client?.leave();
    };
    await harness.send({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one' },
      body,
      prepare: (sink) => {
        client = sink;
      },
    });
    expect(harness.calls).toHaveLength(0);
    expect((await ask({}, { ...body, max_tokens: most })).status).toBe(200);
  });

  it('count a reply that its provider cut', async () => {
    const { ask, script, records } = start({ usageLimits: budgetOf(1_000, 'tokens') });
    script((_call, handler) => {
      handler.onHead(200, ['content-type', 'application/json']);
      handler.onData(Buffer.from(JSON.stringify(chatReply('x'.repeat(400))).slice(0, 300)));
      handler.onError(new GatewayError('upstream_reset'));
    });
    expect((await ask()).status).toBe(502);
    expect(records[0]).toMatchObject({ outcome: 'failed', usageEstimated: true });
    expect(records[0]?.reservations?.[0]?.units).toBeGreaterThan(30);
  });

  it('count each attempt whose time was over before its reply', async () => {
    const { ask, script, records } = start({ usageLimits: budgetOf(200, 'tokens') });
    script(failWith(new GatewayError('request_timeout')));
    const config = { retry: { attempts: 1, on_status_codes: [408] }, provider: '@one' };
    const long = { ...body, messages: [{ role: 'user', content: 'x'.repeat(240) }] };
    expect((await ask({ 'x-svc-config': JSON.stringify(config) }, long)).status).toBe(408);
    expect(records[0]).toMatchObject({ outcome: 'failed', inputTokens: 120, usageEstimated: true });
    expect(records[0]?.reservations).toMatchObject([{ units: 120 }]);
    expect((await ask({}, long)).status).toBe(412);
  });
});
