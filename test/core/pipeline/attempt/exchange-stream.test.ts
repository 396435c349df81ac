import { expect, test } from 'vitest';
import type { UpstreamCall, UpstreamHandler } from '../../../../core/contract/provider/upstream.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import { type ExchangeStream, exchangeStream } from '../../../../core/pipeline/attempt/exchange-stream.ts';

interface Opened {
  readonly stream: ExchangeStream;
  readonly server: UpstreamHandler;
  /** Calls of the exchange, in their order. */
  readonly done: string[];
}

function open(): Opened {
  const done: string[] = [];
  let server: UpstreamHandler | null = null;
  const sender = {
    send(_: UpstreamCall, handler: UpstreamHandler) {
      server = handler;
      return { resume: () => void done.push('resume'), abort: () => void done.push('abort') };
    },
  };
  const stream = exchangeStream(sender, {} as UpstreamCall);
  return { stream, server: server as unknown as UpstreamHandler, done };
}

const bytes = (text: string) => Buffer.from(text);

test('whole: returns a body that has arrived, without a promise', () => {
  const { stream, server } = open();
  server.onData(bytes('ab'));
  server.onData(bytes('c'));
  server.onEnd();
  expect(String(stream.whole(3))).toBe('abc');
});

test('whole: waits for the end of a body', async () => {
  const { stream, server } = open();
  server.onData(bytes('ab'));
  const body = stream.whole(3);
  server.onData(bytes('c'));
  server.onEnd();
  expect(String(await body)).toBe('abc');
});

test('whole: an empty body has no bytes', () => {
  const { stream, server } = open();
  server.onEnd();
  expect(stream.whole(3)).toHaveLength(0);
});

test('whole: a body that is too long ends the exchange at the chunk that exceeds the limit', async () => {
  for (const isEarly of [true, false]) {
    const { stream, server, done } = open();
    if (isEarly) server.onData(bytes('abcd'));
    const body = stream.whole(3);
    if (!isEarly) server.onData(bytes('abcd'));
    expect(await body).toBeNull();
    expect(done).toEqual(['abort']);
  }
});

test('whole: fails with the error of the exchange', async () => {
  const late = open();
  const body = late.stream.whole(3);
  late.server.onError(new GatewayError('upstream_reset'));
  await expect(body).rejects.toMatchObject({ code: 'upstream_reset' });
  const early = open();
  early.server.onError(new GatewayError('upstream_reset'));
  expect(() => early.stream.whole(3)).toThrow(GatewayError);
});

test('whole: resumes a paused server, and does not pause it again', async () => {
  const { stream, server, done } = open();
  const megabyte = Buffer.alloc(1024 * 1024);
  expect(server.onData(megabyte)).toBe(true);
  expect(server.onData(megabyte)).toBe(false);
  const body = stream.whole(4 * megabyte.length);
  expect(done).toEqual(['resume']);
  expect(server.onData(megabyte)).toBe(true);
  server.onEnd();
  expect(await body).toHaveLength(3 * megabyte.length);
});
