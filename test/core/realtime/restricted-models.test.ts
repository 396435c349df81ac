import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { openSession } from '../../support/clients/session-client.ts';
import { type RealtimeGateway, realtimePath, shareRealtimeGateway } from '../../support/product/realtime-gateway.ts';
import { until, within } from '../../support/until.ts';

let realtime: RealtimeGateway;
let slug: string;
beforeAll(async () => {
  realtime = await shareRealtimeGateway();
  const { admin } = realtime.gateway;
  slug = await admin.createUpstream('two-models', `${realtime.provider.origin}/v1`);
  const models = ['gpt-realtime', 'whisper-1'].map((model) => ({ slug: model, enabled: true }));
  await admin.put(`/integrations/${admin.integrationOf('two-models')}/models`, { allow_all_models: false, models });
});
afterAll(() => realtime?.close());

const open = (config: JsonObject = {}) =>
  realtime.open(realtimePath.replace('@oai/', ''), { 'x-svc-config': JSON.stringify({ provider: slug, ...config }) });
const withTranscription = (model: string) => ({
  ...{ type: 'session.update', event_id: 'e1' },
  session: { type: 'realtime', audio: { input: { transcription: { model } } } },
});
const parsed = (messages: readonly (string | Buffer)[]) => messages.map((message) => JSON.parse(String(message)) as JsonObject);

describe('a session of an integration with restricted models', () => {
  it.each<[string, string | Buffer | JsonObject, string]>([
    ['a transcription', withTranscription('gpt-4o-transcribe'), 'model_not_allowed'],
    [
      'an older transcription',
      { type: 'session.update', session: { input_audio_transcription: { model: 'bad' } } },
      'model_not_allowed',
    ],
    ['the session itself', { type: 'session.update', session: { model: 'gpt-realtime-mini' } }, 'model_not_allowed'],
    ['another spelling', '{"type":"session.update","session":{"\\u004dodel":"bad"}}', 'model_not_allowed'],
    ['a binary message', Buffer.from(` ${JSON.stringify(withTranscription('bad'))}`), 'model_not_allowed'],
    ['a text that is not JSON', '{"type":"session.update","session":{"model":"bad"}}}', 'bad_request'],
  ])('does not forward another model of %s, and continues', async (_what, event, code) => {
    const { client, session } = await open();
    client.socket.send(typeof event === 'string' || event instanceof Buffer ? event : JSON.stringify(event));
    client.socket.send(JSON.stringify(withTranscription('whisper-1')));
    await until(() => session.messages.length === 1 && client.messages.length === 1);
    expect(parsed(session.messages)).toEqual([withTranscription('whisper-1')]);
    expect(parsed(client.messages)).toMatchObject([{ type: 'error', error: { code, type: 'invalid_request_error' } }]);
    client.socket.close(1000);
    expect((await realtime.logOf(client)).outcome).toBe('success');
  });

  it('names the event of the client in the error', async () => {
    const { client } = await open();
    client.socket.send(JSON.stringify(withTranscription('bad')));
    await client.received(1);
    expect(parsed(client.messages)).toMatchObject([{ error: { event_id: 'e1', param: 'model' } }]);
    client.socket.terminate();
  });

  it('sends the provider the values that were checked', async () => {
    const { client, session } = await open();
    client.socket.send('{"type":"session.update","session":{"model":"bad"},"session":{"instructions":"x"}}');
    await until(() => session.messages.length === 1);
    expect(String(session.messages[0])).toBe('{"type":"session.update","session":{"instructions":"x"}}');
    client.socket.terminate();
  });

  it('forwards audio and texts that mention a model', async () => {
    const { client, session } = await open();
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: '{"model":"bad"}' }] };
    const events = [
      { type: 'input_audio_buffer.append', audio: 'AAAA' },
      { type: 'conversation.item.create', item },
    ];
    for (const event of events) client.socket.send(JSON.stringify(event));
    const audio = [Buffer.from([1, 2, 3]), Buffer.from('{\u0001'), Buffer.from([0x20, 0x7b, 0xff])];
    for (const samples of audio) client.socket.send(samples);
    await until(() => session.messages.length === 5);
    expect(parsed(session.messages.slice(0, 2))).toEqual(events);
    expect(session.messages.slice(2)).toEqual(audio);
    client.socket.terminate();
  });

  it('has its guardrails check what passes', async () => {
    const guardrail = { id: 'g', 'default.contains': { words: ['secret'], operator: 'none' }, deny: true };
    const { client, session } = await open({ input_guardrails: [guardrail] });
    const item = (text: string) => ({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
    for (const event of [withTranscription('bad'), item('a secret'), item('hello')]) client.socket.send(JSON.stringify(event));
    await until(() => session.messages.length === 1 && client.messages.length === 2);
    expect(parsed(client.messages).map(({ error }) => (error as JsonObject).code)).toEqual(['model_not_allowed', 'hooks_failed']);
    expect(parsed(session.messages)).toEqual([item('hello')]);
    client.socket.terminate();
  });

  it('is closed if the settings of its client secret name another model', async () => {
    const { gateway } = realtime;
    const session = { type: 'realtime', model: `${slug}/gpt-realtime`, audio: { input: { transcription: { model: 'bad' } } } };
    const made = await fetch(`http://127.0.0.1:${gateway.port}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { 'x-svc-api-key': gateway.workspaceKey, 'content-type': 'application/json' },
      body: JSON.stringify({ session }),
    });
    expect(made.status).toBe(200);
    const { value } = (await made.json()) as { value: string };
    const client = await openSession(realtime.at('/realtime'), { authorization: `Bearer ${value}` });
    expect((await within(client.closed, 'the end of the session')).code).toBe(1008);
    expect(parsed(client.messages)).toMatchObject([{ error: { code: 'model_not_allowed' } }]);
  });
});
