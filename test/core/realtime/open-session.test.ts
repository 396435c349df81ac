import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RealtimeGateway, shareRealtimeGateway } from '../../support/product/realtime-gateway.ts';
import { until, within } from '../../support/until.ts';

let realtime: RealtimeGateway;
let { open, logOf, provider } = {} as RealtimeGateway;
beforeAll(async () => {
  realtime = await shareRealtimeGateway();
  ({ open, logOf, provider } = realtime);
});
afterAll(() => realtime?.close());

describe('an open session', () => {
  it('forwards text, binary and fragmented messages in both directions, byte for byte', async () => {
    const { client, session } = await open();
    const sent = [
      '',
      '{"type":"ü€😀"}',
      Buffer.from([0, 1, 255, 254]),
      Buffer.alloc(0),
      'x'.repeat(300_000),
      Buffer.alloc(200_000, 7),
    ];
    for (const from of [client.socket, session.socket]) {
      for (const message of sent) from.send(message);
      for (const part of ['one ', 'message ', 'in parts']) from.send(part, { fin: part === 'in parts' });
    }
    const all = [...sent, 'one message in parts'];
    await until(() => session.messages.length === all.length && client.messages.length === all.length);
    expect(session.messages).toEqual(all);
    expect(client.messages).toEqual(all);
    client.socket.close(1000);
    const log = await logOf(client);
    const bytes = all.reduce((sum, message) => sum + Buffer.byteLength(message), 0);
    expect(log.session).toEqual({
      messages_from_client: all.length,
      messages_from_provider: all.length,
      bytes_from_client: bytes,
      bytes_from_provider: bytes,
      close_code: 1000,
      closed_by: 'client',
    });
    expect(log).toMatchObject({ outcome: 'success', response: { status: 101 }, error: null });
  });

  it('delivers messages that the provider sends together with its 101', async () => {
    provider.onSession = (session) => session.socket.send('{"type":"session.created"}');
    const { client } = await open();
    provider.onSession = () => {};
    await client.received(1);
    expect(client.messages).toEqual(['{"type":"session.created"}']);
    client.socket.terminate();
  });

  it('replies to pings at both ends', async () => {
    const { client, session } = await open();
    for (const end of [client.socket, session.socket]) {
      const replied = new Promise<string>((resolve) => end.once('pong', (data) => resolve(String(data))));
      end.ping('are you there');
      expect(await within(replied, 'a pong')).toBe('are you there');
    }
    client.socket.terminate();
  });

  it('adds up the tokens of all its responses and transcriptions', async () => {
    const { client, session } = await open();
    const usage = {
      total_tokens: 150,
      input_tokens: 100,
      output_tokens: 50,
      input_token_details: {
        cached_tokens: 40,
        text_tokens: 30,
        audio_tokens: 70,
        cached_tokens_details: { text_tokens: 40, audio_tokens: 0 },
      },
      output_token_details: { text_tokens: 10, audio_tokens: 40 },
    };
    const transcribed = {
      type: 'tokens',
      total_tokens: 12,
      input_tokens: 10,
      output_tokens: 2,
      input_token_details: { audio_tokens: 10 },
    };
    const events = [
      { type: 'response.created', response: { usage: null } },
      { type: 'response.output_audio.delta', delta: 'A'.repeat(50_000) },
      { type: 'response.output_text.delta', delta: '{"usage":{"input_tokens":999}}' },
      { event_id: 'e1', response: { usage }, type: 'response.done' },
      { type: 'response.done', response: { usage } },
      { type: 'conversation.item.input_audio_transcription.completed', transcript: 'hi', usage: transcribed },
    ];
    for (const event of events) session.socket.send(JSON.stringify(event));
    session.socket.send('{"usage": not json');
    session.socket.send(Buffer.from(JSON.stringify({ type: 'response.done', response: { usage } })));
    await client.received(events.length + 2);
    client.socket.close(1000);
    const log = await logOf(client);
    expect(log.metrics).toMatchObject({
      req_units: 210,
      res_units: 102,
      ai_model: 'gpt-realtime',
      mode: 'realtime',
      stream_mode: 1,
    });
  });

  it('is recorded with the model that the session states if it joins a call, not with that of the address', async () => {
    const { client, session } = await open('/realtime?call_id=rtc_1&model=@oai/gpt-cheap');
    expect(session.handshake.path).toBe('/v1/realtime?call_id=rtc_1&model=gpt-cheap');
    session.socket.send('{"type":"session.created","session":{"type":"realtime","model":"gpt-realtime"}}');
    session.socket.send(JSON.stringify({ type: 'response.done', response: { usage: { input_tokens: 3, output_tokens: 4 } } }));
    await client.received(2);
    client.socket.close(1000);
    const log = await logOf(client);
    expect(log.metrics).toMatchObject({ ai_model: 'gpt-realtime', req_units: 3, res_units: 4 });
  });

  it('passes WebSockets of other paths to providers that support them', async () => {
    const { client, session } = await open('/responses?x=%2F', { 'x-svc-provider': '@oai' });
    expect(session.handshake.path).toBe('/v1/responses?x=%2F');
    session.socket.send(
      JSON.stringify({ type: 'response.completed', response: { usage: { input_tokens: 3, output_tokens: 4 } } }),
    );
    await client.received(1);
    client.socket.close(1000);
    const log = await logOf(client);
    expect(log.metrics).toMatchObject({ mode: 'proxy', req_units: 3, res_units: 4 });
  });
});
