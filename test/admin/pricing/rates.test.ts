import { describe, expect, it } from 'vitest';
import { priceSteps, publicRates } from '../../../admin/pricing/rates.ts';

const at = new Date('2026-11-30T12:00:10Z');
const sameMinute = new Date('2026-11-30T12:00:50Z');

describe('public rates', () => {
  it.each([
    ['openai', 'gpt-5', 100],
    ['google', 'gemini-2.5-flash', 100],
    ['google', 'gemini-2.5-pro', 100],
    ['google', 'gemini-2.5-pro', 300_000],
    ['openai', 'ft:gpt-4.1:acme::1', 100],
  ])('are computed once for %s/%s with %i input tokens, not for every record', (provider, model, tokens) => {
    const rates = publicRates(provider, model, tokens, at);
    expect(rates).not.toBeNull();
    expect(publicRates(provider, model, tokens + 1, sameMinute)).toBe(rates);
  });

  it('differ by the size of the request', () => {
    const [short, long] = [200_000, 200_001].map((tokens) => publicRates('google', 'gemini-2.5-pro', tokens, at)?.tokens);
    expect([short?.request_token, long?.request_token]).toEqual([1.25, 2.5]);
  });

  it('include the searches of the provider for a fine-tuned model', () => {
    expect(publicRates('openai', 'ft:gpt-4.1:acme::1', 100, at)?.units).toMatchObject({ file_search: 2_500 });
  });

  it('do not exist for names that are longer than those of records', () => {
    const name = `gemini-2.5-pro${'-latest'.repeat(50)}`;
    expect([publicRates('google', name, 100, at), priceSteps('google', name, at)]).toEqual([null, []]);
  });
});
