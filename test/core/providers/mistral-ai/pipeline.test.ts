import { describe, expect, it } from 'vitest';
import { encodeForm } from '../../../../core/pipeline/request/form-data.ts';
import {
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';

function harness(script: Script): Harness {
  const gateway = createHarness();
  gateway.documents.set(`provider ${workspaceId}/m`, { ...providerDocument('m', 'mistral-ai'), secrets: '{"api_key":"k"}' });
  gateway.script(script);
  return gateway;
}

const events =
  (list: readonly object[]): Script =>
  (_call, handler) => {
    handler.onHead(200, ['content-type', 'text/event-stream']);
    for (const data of list) handler.onData(Buffer.from(`data: ${JSON.stringify(data)}\n\n`));
    handler.onEnd();
  };
const sent = (gateway: Harness) => JSON.parse(Buffer.from(gateway.calls[0]?.body as Uint8Array).toString());
const viaM = { 'x-svc-provider': '@m' };

describe('mistral-ai through the pipeline', () => {
  it('returns speech as audio, from base64 in JSON', async () => {
    const audio = Buffer.from([0xff, 0xfb, 0x90, 0x00]);
    const gateway = harness(replyWith(200, { audio_data: audio.toString('base64') }));
    const body = { model: 'voxtral-mini-tts-3-0', input: 'Grüße', voice: 'v1' };
    const reply = await gateway.send({ path: '/v1/audio/speech', headers: viaM, body });
    expect([reply.status, reply.header('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(Buffer.concat(reply.chunks).equals(audio)).toBe(true);
    expect(gateway.calls[0]?.path).toBe('/v1/audio/speech');
    expect(sent(gateway)).toEqual({ model: 'voxtral-mini-tts-3-0', input: 'Grüße', voice_id: 'v1' });
    expect(gateway.records[0]?.media?.units).toEqual({ characters: 5 });
  });

  it('streams speech in OpenAI’s events, and counts the usage of the last one', async () => {
    const gateway = harness(
      events([
        { type: 'speech.audio.delta', audio_data: 'AAAA' },
        { type: 'speech.audio.done', usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 } },
      ]),
    );
    const body = { model: 'voxtral-mini-tts-3-0', input: 'Hi', voice: 'v1', stream_format: 'sse' };
    const reply = await gateway.send({ path: '/v1/audio/speech', headers: viaM, body });
    expect(sent(gateway)).toMatchObject({ stream: true });
    expect(reply.text).toContain('{"type":"speech.audio.delta","audio":"AAAA"}');
    expect(reply.text).toContain('"input_tokens":5');
    expect(gateway.records[0]).toMatchObject({ outcome: 'success', inputTokens: 5, outputTokens: 9 });
  });

  it('transcribes in OpenAI’s events, and counts seconds in addition to tokens', async () => {
    const usage = { prompt_audio_seconds: 3, prompt_tokens: 4, completion_tokens: 27, total_tokens: 31 };
    const gateway = harness(
      events([
        { type: 'transcription.language', audio_language: 'en' },
        { type: 'transcription.text.delta', text: 'Good' },
        { type: 'transcription.done', model: 'voxtral', text: 'Good', language: 'en', usage },
      ]),
    );
    const field = (name: string, value: string) => ({ name, filename: null, contentType: null, body: Buffer.from(value) });
    const form = encodeForm([
      field('model', 'voxtral-mini-latest'),
      field('stream', 'true'),
      { name: 'file', filename: 'a.wav', contentType: 'audio/wav', body: Buffer.alloc(64) },
    ]);
    const reply = await gateway.send({
      path: '/v1/audio/transcriptions',
      headers: { ...viaM, 'content-type': form.contentType },
      body: form.body,
    });
    expect(reply.text).toContain('{"type":"transcript.text.delta","delta":"Good"}');
    expect(reply.text).toContain('"type":"transcript.text.done"');
    expect(gateway.records[0]).toMatchObject({
      outcome: 'success',
      inputTokens: 4,
      outputTokens: 27,
      media: { units: { audio_seconds: 3 } },
    });
  });

  it('serves fill-in-the-middle as text completion and, with a header, as chat', async () => {
    const chat = {
      id: 'f',
      object: 'chat.completion',
      choices: [{ index: 0, message: { content: 'mid' }, finish_reason: 'stop' }],
    };
    const body = { model: 'codestral-latest', prompt: 'a', suffix: 'c' };
    const text = harness(replyWith(200, chat));
    const completion = await text.send({ path: '/v1/completions', headers: viaM, body });
    expect(completion.json).toMatchObject({ object: 'text_completion', choices: [{ text: 'mid', finish_reason: 'stop' }] });
    const asChat = harness(replyWith(200, chat));
    const headers = { ...viaM, 'x-svc-mistral-fim-completion': 'true' };
    const reply = await asChat.send({ headers, body });
    expect(reply.json).toMatchObject({ choices: [{ message: { content: 'mid' } }] });
    expect([text, asChat].map((gateway) => gateway.calls[0]?.path)).toEqual(['/v1/fim/completions', '/v1/fim/completions']);
  });

  it('runs OCR and counts pages', async () => {
    const gateway = harness(replyWith(200, { pages: [{ index: 0, markdown: 'x' }], usage_info: { pages_processed: 1 } }));
    const body = { model: 'mistral-ocr-latest', document: { type: 'document_url', document_url: 'https://example.com/a.pdf' } };
    const reply = await gateway.send({ path: '/v1/ocr', headers: viaM, body });
    expect(reply.status).toBe(200);
    expect(gateway.calls[0]?.path).toBe('/v1/ocr');
    expect(gateway.records[0]?.media?.units).toEqual({ pages: 1 });
  });

  it('lists its models', async () => {
    const model = { id: 'mistral-small-latest', object: 'model', created: 1, owned_by: 'mistralai', max_context_length: 131072 };
    const gateway = harness(replyWith(200, { object: 'list', data: [model] }));
    const reply = await gateway.send({ method: 'GET', path: '/v1/models', headers: viaM });
    expect(gateway.calls[0]?.path).toBe('/v1/models');
    expect(reply.json).toMatchObject({ data: [{ id: 'mistral-small-latest', max_context_length: 131072 }] });
  });
});
