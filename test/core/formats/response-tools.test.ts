import { expect, it } from 'vitest';
import { responses } from '../../../core/formats/openai/responses.ts';
import { usageOfLine } from '../../../core/formats/stored/usage-of-line.ts';

const usage = { input_tokens: 20, output_tokens: 10, total_tokens: 30 };
const tool_usage = { web_search: { num_requests: 2 } };
const response = { object: 'response', output: [], usage, tool_usage, service_tier: 'flex' };
const counted = { inputTokens: 20, outputTokens: 10, serviceTier: 'flex', raw: { ...usage, tool_usage } };

it('the usage of a response has the billed calls of tools, in plain replies, streams and batches', () => {
  const operation = responses('openai', () => '/responses');
  expect(operation.usage?.(response)).toMatchObject(counted);
  const reader = operation.streamReader?.();
  reader?.push({ event: 'response.completed', data: { type: 'response.completed', response } });
  expect(reader?.usage()).toMatchObject(counted);
  expect(usageOfLine(response)).toMatchObject(counted);
});

it('a response without calls of tools has its own usage object', () => {
  const { tool_usage: _, ...plain } = response;
  expect(usageOfLine(plain)?.raw).toBe(usage);
});
