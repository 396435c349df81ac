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

it('the usage of a response counts searches in stores of files and runs of code, in plain replies, streams and batches', () => {
  const types = ['file_search_call', 'web_search_call', 'code_interpreter_call', 'file_search_call', 'message'];
  const output = types.map((type) => ({ type }));
  const searched = { object: 'response', output, usage };
  const operation = responses('openai', () => '/responses');
  const reader = operation.streamReader?.();
  reader?.push({ event: 'response.completed', data: { type: 'response.completed', response: searched } });
  for (const counts of [operation.usage?.(searched), reader?.usage(), usageOfLine(searched)])
    expect(counts).toMatchObject({ inputTokens: 20, units: { file_search: 2, code_interpreter: 1 }, raw: usage });
});

it('a response without calls of tools has its own usage object', () => {
  const { tool_usage: _, ...plain } = response;
  expect(usageOfLine(plain)?.raw).toBe(usage);
});
