import { describe, expect, it } from 'vitest';
import { priceRecord } from '../../../admin/pricing/price-record.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

const text = 'Good morning. '.repeat(10);

async function recordOf(path: string, model: string, type: string, reply: string): Promise<RequestRecord> {
  const harness = createHarness();
  harness.script((_call, handler) => {
    handler.onHead(200, ['content-type', type]);
    handler.onData(Buffer.from(reply));
    handler.onEnd();
  });
  const body = { model, input: text, voice: 'alloy', ...(type === 'audio/mpeg' ? {} : { stream_format: 'sse' }) };
  await harness.send({ method: 'POST', path, body, headers: { 'x-svc-provider': '@one' } });
  return harness.records[0] as RequestRecord;
}

describe.each(['/v1/audio/speech', '/v1/proxy/audio/speech'])('%s', (path) => {
  it('speech of a model with a price of tokens has estimated tokens', async () => {
    const record = await recordOf(path, 'gpt-4o-mini-tts', 'audio/mpeg', 'audio');
    expect(record).toMatchObject({ inputTokens: 35, outputTokens: 182, usageEstimated: true });
    expect(record.media).toMatchObject({ audioOutputTokens: 182, units: { characters: 140 } });
    const price = priceRecord({ ...record, provider: 'openai', model: 'gpt-4o-mini-tts' }, null);
    expect(price).toEqual({ costNanoUsd: 35 * 600 + 182 * 12_000, source: 'public' });
  });

  it('speech of a model with a price of characters has no tokens', async () => {
    const record = await recordOf(path, 'tts-1', 'audio/mpeg', 'audio');
    expect(record).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
      usageEstimated: false,
      media: { units: { characters: 140 } },
    });
  });

  it('speech in events has the tokens that they state', async () => {
    const done = { type: 'speech.audio.done', usage: { input_tokens: 30, output_tokens: 200, total_tokens: 230 } };
    const record = await recordOf(path, 'gpt-4o-mini-tts', 'text/event-stream', `data: ${JSON.stringify(done)}\n\n`);
    expect(record).toMatchObject({ inputTokens: 30, outputTokens: 200, usageEstimated: false });
  });
});
