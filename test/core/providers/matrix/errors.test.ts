import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { providers } from '../../../../core/providers/index.ts';
import { callOf } from '../contract-suite.ts';
import { providerCases } from './provider-cases.ts';
import { eventsIn, providerFetch } from './provider-fetch.ts';
import { readByClient } from './read-by-client.ts';
import { type Format, scenarios } from './scenarios.ts';

const formats: readonly Format[] = ['chat', 'messages', 'responses'];
const text = scenarios.find(({ name }) => name === 'text') as (typeof scenarios)[number];

describe.each(providerCases.map((provider) => [provider.name, provider] as const))('%s', (_name, provider) => {
  it.each(formats)('keeps the message of an error in the format of %s', (format) => {
    const { id } = provider;
    const error = providers.get(id)?.error(429, provider.wires[format].limited, ['retry-after', '7']);
    expect(error?.message).toMatch(new RegExp(`^${id} error: .*(limit|exhausted|many requests)`, 'i'));
    expect(error?.retryAfterMs).toBe(7_000);
  });

  it.each(formats)('reports a broken stream as failed in the format of %s', async (format) => {
    const made = providerFetch(provider, format, [text.reply], { faultAfter: 3 });
    const read = readByClient(format, made, { model: provider.model, ...text.asked[format] }, true);
    const outcome = await read.catch((error: unknown) => error);
    if (format === 'responses' && !(outcome instanceof Error)) {
      expect(outcome).toMatchObject({ status: 'failed' });
      expect(eventsIn(made.replies[0] as string).at(-1)).toMatchObject({
        type: 'response.failed',
        response: { status: 'failed', error: { message: expect.stringMatching(/\w/) } },
      });
    } else {
      expect(outcome).toBeInstanceOf(Error);
      if (format === 'messages') expect(outcome).toBeInstanceOf(Anthropic.APIError);
      else expect(outcome).toBeInstanceOf(OpenAI.APIError);
    }
    expect(made.replies[0]).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
  });

  it.each(formats)('sends nothing in the format of %s for a stream that fails at its first event', async (format) => {
    const made = providerFetch(provider, format, [text.reply], { faultAfter: 0 });
    await readByClient(format, made, { model: provider.model, ...text.asked[format] }, true).catch(() => undefined);
    const native = made.replies[0]?.includes(JSON.stringify(provider.wires[format].fault.data)) ?? false;
    // The pipeline holds back bytes that pass through unchanged. A translator must not add a first event.
    if (!native) expect(made.replies[0]).toBe('');
  });
});

it.each([
  ['anthropic', 'claude-opus-4-5'],
  ['bedrock', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
] as const)('reasoning: %s gets none in a tool loop if a strict client dropped it', (id, model) => {
  const loop = scenarios.find(({ name }) => name === 'tool-results')?.asked.chat ?? {};
  const params = { ...loop, model, reasoning_effort: 'high', max_completion_tokens: 20_000 };
  const operation = providers.get(id)?.operations.chatComplete;
  const call = callOf(params, {}, { aws_region: 'eu-central-1' });
  expect(JSON.stringify(operation?.toProvider?.(params, call))).not.toContain('budget_tokens');
  expect(call.dropped).toEqual(['reasoning_effort']);
  const asked = { ...params, messages: (params as unknown as { messages: object[] }).messages.slice(0, 1) };
  const first = callOf(asked, {}, { aws_region: 'eu-central-1' });
  expect(JSON.stringify(operation?.toProvider?.(asked, first))).toContain('budget_tokens');
  expect(first.dropped).toEqual([]);
});
