import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { body, budgetOf, start } from './limits-harness.ts';

const usualRates = { input: 10, output: 100, cacheRead: 1 };

const clientFunction = { type: 'function', function: { name: 'google_search', parameters: { type: 'object', properties: {} } } };

describe('a budget of cost', () => {
  it.each([
    ['the usual price', 2_900, 200],
    ['the price of long calls', 3_100, 412],
  ])('reserves %s for a call of its size', async (_what, characters, status) => {
    // 967 or 1,034 tokens of input for 10 or 20 micro-USD each, and 10 of output for 100 or 200 each.
    const { ask, ledger } = start({ usageLimits: budgetOf(0.015, 'cost') });
    ledger.rates.set('gpt-5', { ...usualRates, sizes: [{ above: 1_000, input: 20, output: 200, cacheRead: 2 }] });
    expect((await ask({}, { ...body, messages: [{ role: 'user', content: 'x'.repeat(characters) }] })).status).toBe(status);
  });

  it('reserves the price of long calls in the service tier that is asked for', async () => {
    const long = { ...body, service_tier: 'priority', messages: [{ role: 'user', content: 'x'.repeat(3_100) }] };
    const statuses = [0.04, 0.05].map(async (limit) => {
      const { ask, ledger } = start({ usageLimits: budgetOf(limit, 'cost') });
      const tiers = { priority: { input: 20, output: 200, cacheRead: 2 } };
      ledger.rates.set('gpt-5', { ...usualRates, tiers, sizes: [{ above: 1_000, input: 20, output: 200, cacheRead: 2 }] });
      return (await ask({}, long)).status;
    });
    // About 1,040 × 40 + 10 × 400 micro-USD.
    expect(await Promise.all(statuses)).toEqual([412, 200]);
  });

  it('is charged with the price of long calls until their record is settled', async () => {
    const { ask, ledger, records, script } = start({ usageLimits: budgetOf(1, 'cost') });
    ledger.rates.set('gpt-5', { ...usualRates, sizes: [{ above: 1_000, input: 20, output: 200, cacheRead: 2 }] });
    const usage = { prompt_tokens: 2_000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 500 } };
    script(replyWith(200, { ...chatReply('hello'), usage }));
    await ask();
    expect(records[0]?.reservations).toMatchObject([{ units: 1_500 * 20 + 500 * 2 + 5 * 200 }]);
  });

  it.each<[string, JsonObject, number]>([
    ['no tools', {}, 200],
    ['a search of OpenAI', { tools: [{ type: 'web_search_preview' }] }, 412],
    ['a search of a chat model', { web_search_options: {} }, 412],
    ['a search of Gemini', { tools: [{ google_search: {} }] }, 412],
    ['a search of Gemini that a function names', { tools: [{ type: 'function', function: { name: 'googleSearch' } }] }, 412],
    ['one search in files, which costs less', { tools: [{ type: 'file_search' }] }, 200],
    ['two searches in files', { tools: [{ type: 'file_search' }, { type: 'file_search' }] }, 412],
    ['runs of code', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, 412],
    ['places of Google Maps', { tools: [{ googleMaps: {} }] }, 412],
    ['a function of the client that has the name of one', { tools: [clientFunction] }, 200],
    ['a function of the client', { tools: [{ type: 'function', function: { name: 'web_search' } }] }, 200],
  ])('reserves calls of tools that a provider may run: %s', async (_what, members, status) => {
    const { ask, ledger } = start({ usageLimits: budgetOf(0.01, 'cost') });
    const searches = { web_search: 10_000, file_search: 6_000, code_interpreter: 30_000, maps_prompts: 25_000 };
    ledger.rates.set('gpt-5', { input: 1, output: 1, cacheRead: 0, searches });
    expect((await ask({}, { ...body, ...members })).status).toBe(status);
  });

  it.each([
    [3, 200],
    [4, 412],
  ])('reserves as many searches as a tool states: %i', async (max_uses, status) => {
    const { ask, ledger } = start({ usageLimits: budgetOf(0.035, 'cost') });
    ledger.rates.set('gpt-5', { input: 1, output: 1, cacheRead: 0, searches: { web_search: 10_000 } });
    expect((await ask({}, { ...body, tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses }] })).status).toBe(
      status,
    );
  });
});
