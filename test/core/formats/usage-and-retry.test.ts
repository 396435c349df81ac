import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../core/contract/values/http/retry-after.ts';
import { emptyUsage, totalTokens } from '../../../core/contract/values/models/usage.ts';
import { chatUsage } from '../../../core/formats/openai/chat-usage.ts';
import { passedUsage } from '../../../core/providers/passed-usage.ts';

describe('chat token counts', () => {
  it('are never negative, and never count a token twice if the provider contradicts itself', () => {
    const usage = chatUsage({
      prompt_tokens: 10,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: 14, cache_write_tokens: 3 },
    });
    expect(usage).toMatchObject({ inputTokens: 0, cacheReadTokens: 10, cacheWriteTokens: 0, outputTokens: 2 });
    expect(totalTokens(usage)).toBe(12);
  });

  it('ignore values that are not positive numbers', () => {
    const raw = { prompt_tokens: 'twelve', completion_tokens: -4, total_tokens: Number.NaN, prompt_tokens_details: 'none' };
    expect(chatUsage(raw)).toEqual({ ...emptyUsage(), raw });
  });

  it('may be the texts of numbers', () => {
    const details = { cached_tokens: '4' };
    const usage = chatUsage({ prompt_tokens: '12', completion_tokens: '5', total_tokens: '17', prompt_tokens_details: details });
    expect(usage).toMatchObject({ inputTokens: 8, cacheReadTokens: 4, outputTokens: 5 });
    for (const value of ['', ' 12', '1e9', '0x10', '-4', true, ['12']])
      expect(chatUsage({ prompt_tokens: value })).toMatchObject({ inputTokens: 0 });
  });

  it('may be texts on pass-through paths too', () => {
    expect(passedUsage.read({ prompt_tokens: '12', completion_tokens: '5' }, null)).toMatchObject({
      inputTokens: 12,
      outputTokens: 5,
    });
    expect(passedUsage.read({ pages_processed: '3' }, null)).toMatchObject({ units: { pages: 3 } });
    expect(passedUsage.read({ billed_units: { search_units: '2' } }, null)).toMatchObject({ units: { search_units: 2 } });
  });

  it('are limited to what budgets can hold', () => {
    const usage = chatUsage({
      prompt_tokens: 1e300,
      completion_tokens: 1.7e308,
      completion_tokens_details: { reasoning_tokens: 1e308 },
    });
    expect(usage).toMatchObject({ inputTokens: 1e11, outputTokens: 1e11, reasoningTokens: 1e11 });
  });

  it('add reasoning only if the total shows that it is separate from the output', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 5 } };
    expect(chatUsage({ prompt_tokens: 1, completion_tokens: 7, total_tokens: 13, ...details }).outputTokens).toBe(12);
    expect(chatUsage({ prompt_tokens: 1, completion_tokens: 7, total_tokens: 8, ...details }).outputTokens).toBe(7);
    expect(chatUsage({ prompt_tokens: 1, completion_tokens: 7, ...details }).outputTokens).toBe(7);
  });

  it('read cache hits under the names that providers use', () => {
    expect(chatUsage({ prompt_tokens: 10, prompt_cache_hit_tokens: 4, completion_tokens: 0 })).toMatchObject({
      inputTokens: 6,
      cacheReadTokens: 4,
    });
  });
});

describe('retry-after delay', () => {
  it.each([
    [['retry-after-ms', '250', 'retry-after', '9'], 250],
    [['x-ms-retry-after-ms', '300', 'retry-after', '9'], 300],
    [['retry-after', '1.5'], 1500],
    [['retry-after', '0'], 0],
    [['retry-after', 'Fri, 21 Nov 2025 00:00:30 GMT', 'date', 'Fri, 21 Nov 2025 00:00:00 GMT'], 30_000],
    [['retry-after', 'Fri, 21 Nov 2025 00:00:00 GMT', 'date', 'Fri, 21 Nov 2025 00:00:30 GMT'], 0],
    [['retry-after', 'soon'], null],
    [['retry-after-ms', 'NaN', 'retry-after', '2'], 2000],
    [[], null],
  ])('%j is %j ms', (headers, expected) => {
    expect(retryAfterMs(headers as string[])).toBe(expected);
  });
});
