import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { UpstreamHandler, UpstreamSender } from '../../../core/contract/provider/upstream.ts';
import { createOpenStreams } from '../../../core/json-rpc/open-streams.ts';
import { relayStream } from '../../../core/json-rpc/relay-reply.ts';
import { exchangeStream } from '../../../core/pipeline/attempt/exchange-stream.ts';
import { FakeSink } from '../../../core/test-kit/fake-exchange.ts';

describe('streams of notices', () => {
  const begin = () => {
    let server: UpstreamHandler | undefined;
    let isAborted = false;
    const abort = () => {
      isAborted = true;
    };
    const sender: UpstreamSender = {
      send(_, handler) {
        server = handler;
        return { resume: () => {}, abort };
      },
    };
    const sink = new FakeSink();
    const request = { method: 'GET' };
    const ctx = { request, replyHeaders: [], headerPrefix: 'x-svc-', content: null, replyBytes: 0 } as unknown as RequestContext;
    const exchange = exchangeStream(sender, {} as never);
    const clock = { now: () => 0, elapsed: () => 0 };
    const listening = createOpenStreams();
    const reply = relayStream({
      ctx,
      sink,
      status: 200,
      headers: [],
      exchange,
      reader: null,
      clock,
      listening: { streams: listening, find: () => undefined },
    });
    return { server: server as unknown as UpstreamHandler, sink, listening, reply, isAborted: () => isAborted };
  };

  it('end without an error when the process stops', async () => {
    const { sink, listening, reply, isAborted } = begin();
    // The stream begins before the server sends anything.
    expect(sink.text).toBe(': open\n\n');
    listening.close();
    expect(await reply).toEqual({ kind: 'streamed', status: 200, error: null, errorSent: false, raw: true });
    expect(isAborted()).toBe(true);
  });

  it('end at once if they begin while the process stops', async () => {
    const { listening } = begin();
    listening.close();
    let ended = 0;
    listening.add(() => ended++);
    expect(ended).toBe(1);
  });

  it('are reported as cut if the server cuts them', async () => {
    const { server, reply } = begin();
    server.onError(Object.assign(new Error('reset'), {}) as never);
    expect((await reply) as object).toMatchObject({ kind: 'streamed', error: { code: 'internal' } });
  });
});
