import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { budgetOf, leasesOnLedger } from '../../../plugins/limits/limits-harness.ts';

const usage = {
  total_input_tokens: 1_000,
  total_cached_tokens: 100,
  total_tool_use_tokens: 30,
  total_output_tokens: 500,
  total_thought_tokens: 200,
  total_tokens: 1_730,
  input_tokens_by_modality: [{ modality: 'audio', tokens: 40 }],
  output_tokens_by_modality: [{ modality: 'image', tokens: 60 }],
};
const interaction = { id: 'i', object: 'interaction', model: 'gemini-3-flash', status: 'completed', usage };

async function ask(reply: string | JsonObject, contentType = 'application/json') {
  const { send, script, records } = createHarness();
  script(replyWith(200, reply, ['content-type', contentType]));
  const body = { agent: 'deep-research', input: 'hello' };
  await send({ path: '/v1/v1beta/interactions', headers: { 'x-svc-provider': '@one' }, body });
  return records[0];
}

const counted = {
  model: 'gemini-3-flash',
  usageEstimated: false,
  inputTokens: 930,
  cacheReadTokens: 100,
  outputTokens: 700,
  reasoningTokens: 200,
  media: { audioInputTokens: 40, imageOutputTokens: 60 },
};

describe("usage of Gemini's Interactions API", () => {
  it('is read from a plain reply', async () => {
    expect(await ask(interaction)).toMatchObject(counted);
  });

  it('is read from the last event of a stream', async () => {
    const events = [
      { event_type: 'interaction.created', interaction: { id: 'i' } },
      {
        event_type: 'step.delta',
        index: 0,
        delta: { type: 'text', text: 'hi' },
        metadata: { total_usage: { total_output_tokens: 1 } },
      },
      { event_type: 'interaction.completed', interaction },
    ];
    const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    expect(await ask(stream, 'text/event-stream')).toMatchObject(counted);
  });

  it('is reserved up to the maximum of the request', async () => {
    const { leases } = leasesOnLedger();
    const { send, calls } = createHarness({ leases, key: { usageLimits: budgetOf(100, 'tokens') } });
    const body = { model: 'gemini-3-flash', input: 'hello', generation_config: { max_output_tokens: 200 } };
    const { status } = await send({ path: '/v1/v1beta/interactions', headers: { 'x-svc-provider': '@one' }, body });
    expect([status, calls.length]).toEqual([412, 0]);
  });
});
