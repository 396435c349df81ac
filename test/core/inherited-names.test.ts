import { safeParse } from 'valibot';
import { describe, expect, it } from 'vitest';
import { requestRecord } from '../../core/contract/plugin/record/record.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { createHarness } from '../../core/test-kit/pipeline-harness.ts';

describe('a provider that names a member of every object', () => {
  const messages = [{ role: 'user', content: 'hi' }];
  const error = { type: 'error', error: { type: 'constructor', message: 'no' } };
  const preview = { type: 'image_generation.partial_image', b64_json: 'AAAA', quality: 'constructor', size: '1024x1024' };

  it.each<[string, string, string, JsonObject, JsonObject]>([
    [
      'the type of an error',
      '/v1/messages',
      '@claude',
      { model: 'claude-opus-4-6', max_tokens: 9, messages, stream: true },
      error,
    ],
    ['the quality of a preview', '/v1/images/generations', '@one', { model: 'gpt-image-1', prompt: 'a', stream: true }, preview],
  ])('has a valid record: %s', async (_, path, provider, body, event) => {
    const gateway = createHarness();
    gateway.script((_call, handler) => {
      handler.onHead(200, ['content-type', 'text/event-stream']);
      handler.onData(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
      handler.onEnd();
    });
    await gateway.send({ path, headers: { 'x-svc-provider': provider }, body });
    const { issues } = safeParse(requestRecord, JSON.parse(JSON.stringify(gateway.records[0])));
    expect(issues).toBeUndefined();
  });
});
