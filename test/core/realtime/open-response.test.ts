import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { closeCodes, type FrameListener, type FrameSocket } from '../../../core/contract/plugin/sessions/web-socket.ts';
import { realtimeUsage } from '../../../core/formats/openai/realtime.ts';
import { Session } from '../../../core/realtime/session.ts';

function socket() {
  const listeners: FrameListener[] = [];
  const peer: FrameSocket = {
    bufferedBytes: 0,
    listen: (listener) => void listeners.push(listener),
    send: () => true,
    ...{ ping() {}, pause() {}, resume() {}, close() {}, terminate() {} },
  };
  const send = (...events: readonly object[]) => {
    for (const event of events) listeners[0]?.onMessage(Buffer.from(JSON.stringify(event)), false);
  };
  return { peer, send, leave: () => listeners[0]?.onClose(closeCodes.cut, '', false) };
}

function start() {
  const [client, provider] = [socket(), socket()];
  const ctx = { plan: { onChunk: [] }, usage: null } as unknown as RequestContext;
  const given = {
    ...{ ctx, client: client.peer, provider: provider.peer, inspect: null, readUsage: realtimeUsage, firstMessage: null },
    ...{ readsBinary: false, isEstimated: false, counted: () => null, looked: () => null, checkpoint() {}, end() {} },
  };
  const limits = { idleMs: 0, totalMs: 0, recordMs: 0, jsonValuesMax: 500_000, bufferedBytesMax: 1_000_000 };
  new Session(given, limits, { now: () => 0, elapsed: () => 0 }, () => {}).start();
  return { client, provider, ctx };
}

const ask = (text: string) => ({ type: 'response.create', response: { input: [{ role: 'user', content: text }] } });
const word = { type: 'response.output_text.delta', delta: 'word' };
const done = { type: 'response.done', response: { usage: { input_tokens: 30, output_tokens: 7 } } };

describe('a session that ends before the counts of a response have come', () => {
  it('has an estimate of it', () => {
    const { client, provider, ctx } = start();
    client.send(ask('x'.repeat(40)));
    provider.send({ type: 'response.created' }, word, word, word);
    client.leave();
    expect(ctx.usage).toMatchObject({ inputTokens: 10, outputTokens: 3, estimated: true });
  });

  it('has it beside the counts of earlier responses', () => {
    const { client, provider, ctx } = start();
    client.send(ask('x'.repeat(400)));
    provider.send(word, done);
    client.send(ask('x'.repeat(40)));
    provider.send(word, word);
    client.leave();
    const raw = { input_tokens: 30, output_tokens: 7 };
    expect(ctx.usage).toMatchObject({ inputTokens: 40, outputTokens: 9, estimated: true, raw });
  });

  it('has the length of sound in both directions, and at most 1,000 tokens of an image', () => {
    const { client, provider, ctx } = start();
    client.send({ type: 'input_audio_buffer.append', audio: 'A'.repeat(64_000) });
    client.send({ type: 'conversation.item.create', item: { content: [{ image_url: 'A'.repeat(500_000) }] } });
    provider.send({ type: 'response.output_audio.delta', delta: 'A'.repeat(32_000) });
    client.leave();
    expect(ctx.usage).toMatchObject({ inputTokens: 1_011, outputTokens: 11, audioInputTokens: 11, audioOutputTokens: 11 });
  });
});

it('a session that ends behind the counts of its last response has no estimate', () => {
  const { client, provider, ctx } = start();
  client.send(ask('x'.repeat(40)));
  provider.send(word, word, done);
  client.send(ask('never read'));
  client.leave();
  expect(ctx.usage).toMatchObject({ inputTokens: 30, outputTokens: 7, estimated: false });
});
