import { describe, expect, it } from 'vitest';
import { chatReply, type FakeSink, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { body, errorOf, headerOf, limitProvider, perDay, start } from './limits-harness.ts';

describe('rate limits', () => {
  it('admit their number of requests and reject others before any provider is called', async () => {
    const { ask, calls } = start({ rateLimits: [perDay(3)] });
    const replies = await Promise.all([ask(), ask(), ask(), ask(), ask()]);
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 200, 200, 429, 429]);
    expect(calls).toHaveLength(3);
    const refused = replies.find((reply) => reply.status === 429) as FakeSink;
    expect(errorOf(refused)).toMatchObject({
      code: 'key_rate_limit',
      message: 'API key rate limit exceeded: 3 requests per day',
    });
    expect(headerOf(refused, 'x-ratelimit-limit-requests')).toBe('3');
    expect(headerOf(refused, 'x-ratelimit-remaining-requests')).toBe('0');
  });

  it('reject everything if set to 0, without asking the ledger', async () => {
    const { ask, ledger } = start({ rateLimits: [perDay(0)] });
    const refused = await ask();
    expect([refused.status, errorOf(refused).message]).toEqual([429, 'API key rate limit exceeded: 0 requests per day']);
    expect(ledger.asks).toEqual([]);
  });

  it('take nothing from the others if one rejects', async () => {
    const { ask, documents } = start({ rateLimits: [perDay(0)] });
    const id = `workspace ${workspaceId}`;
    documents.set(id, { ...(documents.get(id) as object), rateLimits: [perDay(5)] });
    for (let i = 0; i < 5; i++) expect((await ask()).status).toBe(429);
    for (const [name, document] of documents) {
      if (name.startsWith('api-key')) documents.set(name, { ...(document as object), rateLimits: [] });
    }
    for (let i = 0; i < 5; i++) expect((await ask()).status).toBe(200);
    expect(errorOf(await ask()).code).toBe('workspace_rate_limit');
  });

  it('apply to all keys of a workspace', async () => {
    const { ask, documents } = start();
    const id = `workspace ${workspaceId}`;
    documents.set(id, { ...(documents.get(id) as object), rateLimits: [perDay(1)] });
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect([refused.status, errorOf(refused).code]).toEqual([429, 'workspace_rate_limit']);
  });

  it('tokens: take what a request may use and return the rest', async () => {
    // 10 for the reply and 5 for the request are set aside, 5 are used.
    const { ask } = start({ rateLimits: [perDay(20, 'tokens')] });
    const replies = [await ask(), await ask(), await ask()];
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 429]);
    expect(headerOf(replies[2] as FakeSink, 'x-ratelimit-remaining-tokens')).toBe('10');
  });

  it('tokens: report a request that can never fit', async () => {
    const { ask } = start({ rateLimits: [perDay(20, 'tokens')] });
    const refused = await ask({}, { ...body, max_tokens: 5_000 });
    expect(errorOf(refused).message).toMatch(/20 tokens per day, and this request may need 50\d\d$/);
  });

  it('provider: a fallback continues, and only the record shows the rejection', async () => {
    const { harness, ask, addConfig, records } = start();
    limitProvider(harness, 'one', { rateLimits: [perDay(1)] });
    addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    const replies = [await ask({ 'x-svc-config': 'pc-two' }), await ask({ 'x-svc-config': 'pc-two' })];
    expect(replies.map((reply) => reply.status)).toEqual([200, 200]);
    expect(records.map((record) => record.providerSlug)).toEqual(['one', 'two']);
    expect(records[1]?.attempts[0]).toMatchObject({ status: 429, errorCode: 'provider_rate_limit' });
    expect(replies[1]?.headers.some((name) => name.startsWith('x-ratelimit'))).toBe(false);
    expect(errorOf(await ask()).code).toBe('provider_rate_limit');
  });

  it.each([
    ['key', perDay(1)],
    ['provider', perDay(1)],
    ['key, in tokens', perDay(20, 'tokens')],
  ])('rate limits: those of a %s are not used by requests without a provider call', async (of, limit) => {
    const { harness, ask, calls, records } = start(of === 'provider' ? {} : { rateLimits: [limit] });
    const models = { allowAll: false, list: [{ slug: 'gpt-5', enabled: true, customHost: null }] };
    limitProvider(harness, 'one', { models: models as never, ...(of === 'provider' ? { rateLimits: [limit] } : {}) });
    for (let i = 0; i < 3; i++) expect(errorOf(await ask({}, { ...body, model: 'gpt-6' })).code).toBe('model_not_allowed');
    expect(errorOf(await ask({ 'x-svc-provider': '@gone' })).code).toBe('invalid_provider');
    expect(records.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect((await ask()).status).toBe(200);
    expect(calls).toHaveLength(1);
    // Some tokens are left.
    if (limit.type === 'requests') expect((await ask()).status).toBe(429);
  });

  it('count a request whose provider failed', async () => {
    const { ask, script } = start({ rateLimits: [perDay(1)] });
    script(replyWith(500, 'no'));
    expect([(await ask()).status, (await ask()).status]).toEqual([500, 429]);
  });

  it('provider: leave out a request that it was not called for, because a fallback serves it elsewhere', async () => {
    const { harness, ask, addConfig, calls } = start();
    const models = { allowAll: false, list: [{ slug: 'gpt-5', enabled: true, customHost: null }] };
    limitProvider(harness, 'one', { models: models as never, rateLimits: [perDay(1)] });
    const targets = [{ provider: '@one', override_params: { model: 'gpt-6' } }, { provider: '@two' }];
    addConfig('pc-two', { strategy: { mode: 'fallback' }, targets });
    expect((await ask({ 'x-svc-config': 'pc-two' })).status).toBe(200);
    expect(calls).toHaveLength(1);
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
  });

  it('provider: count a call that a fallback serves elsewhere after a failure', async () => {
    const { harness, ask, addConfig, script } = start();
    limitProvider(harness, 'one', { rateLimits: [perDay(1)] });
    addConfig('pc-two', { strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    script(replyWith(500, 'no'), replyWith(200, chatReply('hello')));
    expect((await ask({ 'x-svc-config': 'pc-two' })).status).toBe(200);
    expect(errorOf(await ask()).code).toBe('provider_rate_limit');
  });

  it('integration: shared by all its providers, and a retry is no second request', async () => {
    const { harness, ask, addConfig, script, calls } = start();
    const integrationLimits = { usageLimits: null, usageResetAt: null, rateLimits: [perDay(2)], status: 'active' as const };
    for (const slug of ['one', 'two']) limitProvider(harness, slug, { integrationId: 'shared', integrationLimits });
    addConfig('pc-again', { provider: '@one', retry: { attempts: 1, on_status_codes: [503] } });
    script(replyWith(503, { error: { message: 'down' } }), replyWith(200, chatReply('hello')));
    expect((await ask({ 'x-svc-config': 'pc-again' })).status).toBe(200);
    expect(calls).toHaveLength(2);
    expect((await ask({ 'x-svc-provider': '@two' })).status).toBe(200);
    expect(errorOf(await ask()).code).toBe('integration_rate_limit');
  });

  it('admit requests while the ledger is away, unless set to deny', async () => {
    const open = start({ rateLimits: [perDay(1)] });
    open.ledger.isAway = true;
    expect((await open.ask()).status).toBe(200);
    const closed = start({ rateLimits: [{ ...perDay(1), on_unavailable: 'deny' }] });
    closed.ledger.isAway = true;
    const refused = await closed.ask();
    expect([refused.status, errorOf(refused).code]).toEqual([503, 'limit_unknown']);
  });

  it.each([perDay(3), perDay(45, 'tokens')])('count requests that were admitted during an outage ($type)', async (limit) => {
    const time = newFakeTime(1_800_000_000_000);
    const { ask, ledger, records } = start({ rateLimits: [limit] }, time.clock);
    ledger.isAway = true;
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    expect(records[0]?.reservations).toMatchObject([{ lease: expect.any(String), startMs: 1_799_971_200_000 }]);
    ledger.isAway = false;
    time.advance(500);
    const statuses: number[] = [];
    for (let i = 0; i < 20 && statuses.at(-1) !== 429; i++) statuses.push((await ask()).status);
    // Each request needs 15 tokens and uses 5 of them.
    expect(statuses).toEqual([...Array(limit.type === 'requests' ? 1 : 5).fill(200), 429]);
  });
});
