import { safeParse } from 'valibot';
import { describe, expect, it } from 'vitest';
import { requestRecord } from '../../core/contract/plugin/record/record.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { writtenTranscript } from '../../core/formats/media/transcript.ts';
import { withMappedFinishReasons } from '../../core/formats/openai/chat-finish-reason.ts';
import { isModelField } from '../../core/providers/bedrock/converse/model-fields.ts';
import { createHarness, replyWith } from '../../core/test-kit/pipeline-harness.ts';

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

describe('a client that names a member of every object', () => {
  const messages = (content: JsonObject) => [{ role: 'user', content: [content] }];
  const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'constructor' } };
  const tool = { name: 'a', parameters: { type: 'object', properties: { a: { type: 'constructor' } } } };

  it.each<[string, string, string, JsonObject, string]>([
    [
      'a field of an image',
      '/v1/images/generations',
      '@router',
      { model: 'gpt-image-1', prompt: 'a', constructor: 1 },
      '"constructor":1',
    ],
    [
      'a field of an image',
      '/v1/images/generations',
      '@google',
      { model: 'gemini-3-pro-image', prompt: 'a', constructor: 1 },
      '"constructor":1',
    ],
    [
      'the format of a sound',
      '/v1/chat/completions',
      '@google',
      { model: 'gemini-2.5-pro', messages: messages(audio) },
      'audio/constructor',
    ],
    [
      'an effort',
      '/v1/chat/completions',
      '@claude',
      { model: 'claude-haiku-4-5', reasoning_effort: 'constructor', messages: messages({ type: 'text', text: 'a' }) },
      '"budget_tokens":1024',
    ],
    [
      'the type of a value',
      '/v1/chat/completions',
      '@google',
      {
        model: 'gemini-2.5-pro',
        messages: messages({ type: 'text', text: 'a' }),
        tools: [{ type: 'function', function: tool }],
      },
      '"a":{"type":"STRING"}',
    ],
  ])('has it sent as any other name: %s of %s to %s', async (_, path, provider, body, sent) => {
    const gateway = createHarness({ providers: { router: 'openrouter', google: 'google', claude: 'anthropic' } });
    gateway.script(replyWith(400, {}));
    await gateway.send({ path, headers: { 'x-svc-provider': provider }, body });
    expect(String(gateway.calls[0]?.body)).toContain(sent);
  });

  it('gets the transcript as JSON for an unknown format', () => {
    const transcript = { text: 'a', language: null, segments: [], words: [] };
    expect(writtenTranscript(transcript, 'constructor')).toBeNull();
  });

  it('gets the fields of no maker for a model of an unknown one', () => {
    expect(['top_k', 'seed'].map((name) => isModelField(name, 'constructor.a'))).toEqual([true, false]);
  });

  it('gets a finish reason that exists', () => {
    const choices = [{ index: 0, finish_reason: 'constructor' }];
    expect(withMappedFinishReasons({ choices })).toEqual({ choices: [{ index: 0, finish_reason: 'stop' }] });
  });
});
