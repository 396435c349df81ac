import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { budgetOf, limitProvider, start } from './limits-harness.ts';

const usage = { prompt_tokens: 3, completion_tokens: 40 };
const dear = replyWith(200, { ...chatReply('hello'), usage });
const fallback = (...targets: JsonObject[]) => ({
  'x-svc-config': JSON.stringify({ strategy: { mode: 'fallback', on_status_codes: [200, 503, 412] }, targets }),
});
const first = { provider: '@one', override_params: { model: 'gpt-4' } };
const discarded = [{ providerSlug: 'one', model: 'gpt-4', inputTokens: 3, outputTokens: 40 }];

describe('a response that another target replaces', () => {
  it.each<[string, JsonObject[]]>([
    ['replies', [{ provider: '@two', override_params: { model: 'gpt-5-nano' } }]],
    ['is unknown, before one that replies', [{ provider: '@none' }, { provider: '@two' }]],
  ])('is recorded with its own model if the other target %s', async (_what, others) => {
    const { ask, script, records } = start();
    script(dear);
    await ask(fallback(first, ...others));
    expect(records[0]).toMatchObject({ discarded });
    expect(records[0]?.outputTokens).toBeGreaterThanOrEqual(40);
  });

  it('is recorded if the other target fails', async () => {
    const { ask, script, records } = start();
    script(dear, replyWith(503, {}));
    await ask(fallback(first, { provider: '@two' }));
    expect(records[0]).toMatchObject({ discarded, outputTokens: 40 });
  });

  it('counts in the budget of its own provider, and in that of the key', async () => {
    const usageLimits = budgetOf(1_000, 'tokens');
    const ofProvider = budgetOf(1_000, 'tokens');
    const { harness, ask, script, records } = start({ usageLimits });
    limitProvider(harness, 'one', { usageLimits: ofProvider });
    script(dear, replyWith(503, {}));
    await ask(fallback(first, { provider: '@two' }));
    const reservations = [ofProvider, usageLimits].map(({ id }) => expect.objectContaining({ key: `budget:${id}`, units: 43 }));
    expect(records[0]?.reservations).toEqual(expect.arrayContaining(reservations));
  });

  it('is delivered if every other target is unknown', async () => {
    const { ask, script, records } = start();
    script(dear);
    const { status, text } = await ask(fallback(first, { provider: '@none' }));
    expect([status, JSON.parse(text).usage.completion_tokens]).toEqual([200, 40]);
    expect(records[0]).toMatchObject({ discarded: undefined, model: 'gpt-4', outputTokens: 40, usageEstimated: false });
  });

  it('is absent from records of requests with one accepted response', async () => {
    const { ask, script, records } = start();
    script(replyWith(503, {}), dear);
    await ask(fallback({ provider: '@one' }, { provider: '@two' }));
    expect(records[0]?.discarded).toBeUndefined();
  });
});
