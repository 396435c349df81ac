import { expect, it } from 'vitest';
import { toChatUsage, usageOfReply } from '../../../../core/providers/cohere/usage.ts';

it.each([
  [
    'more cached than billed tokens',
    { billed_units: { input_tokens: 12 }, tokens: { input_tokens: 500 }, cached_tokens: 448 },
    500,
    448,
  ],
  ['billed tokens alone', { billed_units: { input_tokens: 12 }, cached_tokens: 3 }, 12, 3],
  ['more cached tokens than there are', { tokens: { input_tokens: 5 }, cached_tokens: 9 }, 5, 5],
])('cohere: counts cached tokens as part of all input tokens, given %s', (_, usage, prompt, cached) => {
  const counted = usageOfReply({ usage });
  expect(counted).toMatchObject({ inputTokens: prompt - cached, cacheReadTokens: cached });
  expect(counted && toChatUsage(counted)).toMatchObject({
    prompt_tokens: prompt,
    prompt_tokens_details: { cached_tokens: cached },
  });
});
