import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import { EventFrames } from '../../../../core/contract/values/text/event-frames.ts';
import { WholeEvents } from '../../../../core/pipeline/attempt/whole-events.ts';
import { createHarness } from '../../../../core/test-kit/pipeline-harness.ts';

describe.each([
  ['LF', '\n'],
  ['CR LF', '\r\n'],
  ['CR', '\r'],
])('the bytes of whole events, with %s', (_, line) => {
  const events = ['event: a\ndata: é\ndata: 2\n\n', ': ping\n\n', 'data: {}\n\n'].map((event) => event.replaceAll('\n', line));
  const bytes = Buffer.from(events.join(''));
  const ends = events.map((_, last) => Buffer.byteLength(events.slice(0, last + 1).join('')));

  it.each([1, 2, 3, 5, 8, 100])('leave as soon as the last byte of an event is here, in chunks of %i', (size) => {
    const [frames, whole] = [new EventFrames(), new WholeEvents()];
    const passed: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      const chunk = bytes.subarray(at, at + size);
      frames.push(chunk);
      passed.push(whole.push(chunk, frames.isEmpty) ?? new Uint8Array());
      const sent = Buffer.concat(passed).length;
      expect(sent).toBeGreaterThanOrEqual(ends.findLast((end) => end <= at + chunk.length) ?? 0);
      // A CR ends an event, also if the LF of its CR LF follows.
      expect([0, ...ends, ...ends.map((end) => end - 1)]).toContain(sent);
    }
    expect(Buffer.concat(passed)).toEqual(bytes);
    expect(whole.rest()).toHaveLength(0);
  });
});

/** A stream that ends within an event, as after a reset or a time limit. */
it.each([
  ['/v1/chat/completions', 'openai', 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'],
  ['/v1/messages', 'anthropic', 'event: message_start\ndata: {"type":"message_start","message":{"usage":{}}}\n\n'],
  ['/v1/responses', 'openai', 'event: response.created\ndata: {"type":"response.created","response":{}}\n\n'],
])(
  'a stream of %s that breaks off within an event: whole events and the error reach the client',
  async (path, provider, event) => {
    const begun = [Buffer.from(event.slice(0, -20)), Buffer.from('\ufeff').subarray(0, 1)];
    for (const [error, part] of begun.flatMap((bytes) =>
      [new GatewayError('upstream_reset'), null].map((error) => [error, bytes] as const),
    )) {
      const gateway = createHarness({ providers: { one: provider } });
      gateway.script((_call, handler) => {
        handler.onHead(200, ['content-type', 'text/event-stream']);
        handler.onData(Buffer.concat([Buffer.from(event), part]));
        if (error === null) handler.onEnd();
        else handler.onError(error);
      });
      const body = { model: 'm', stream: true, stream_options: { include_usage: true }, messages: [], input: '', max_tokens: 9 };
      const { text } = await gateway.send({ path, headers: { 'x-svc-provider': '@one' }, body });
      expect(text.startsWith(event)).toBe(true);
      const last = text.slice(event.length);
      expect(last).toMatch(/^(event: error\n)?data: \{.*\}\n\n$/);
      expect(last).toContain(error === null ? 'stream_incomplete' : 'upstream_reset');
    }
  },
);
