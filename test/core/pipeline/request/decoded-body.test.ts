import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { InboundRequest, RequestBody } from '../../../../core/contract/values/http/http.ts';
import { decodedRequest } from '../../../../core/pipeline/request/decoded-body.ts';
import { fakeRequest } from '../../../../core/test-kit/fake-exchange.ts';
import { chatReply, createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';

const question = { model: '@one/m', messages: [{ role: 'user', content: 'Grüezi 🎉 '.repeat(30_000) }] };
const json = Buffer.from(JSON.stringify(question));
const codings = [
  ['gzip', gzipSync(json)],
  ['X-Gzip', gzipSync(json)],
  ['deflate', deflateSync(json)],
  ['br', brotliCompressSync(json)],
  ['zstd', zstdCompressSync(json)],
  ['identity', json],
] as const;

const requestOf = (body: Uint8Array, coding: string): InboundRequest =>
  decodedRequest(fakeRequest({ body, headers: { 'content-encoding': coding, 'content-length': String(body.length) } }, 'k'));

/** A request whose encoded body comes from `pipe`. */
const decodedFrom = (pipe: RequestBody['pipe']): InboundRequest => {
  const request = fakeRequest({ headers: { 'content-encoding': 'gzip' } }, 'k');
  return decodedRequest({ ...request, body: { ...request.body, length: -1, pipe } });
};

describe('request bodies with a content coding', () => {
  it.each(codings)('%s: the provider gets the decoded body without the header', async (coding, body) => {
    const { send, calls, script } = createHarness();
    script(replyWith(200, chatReply('hi')));
    const reply = await send({ headers: { 'content-encoding': coding }, body });
    expect(reply.status).toBe(200);
    expect(JSON.parse(String(calls[0]?.body))).toEqual({ ...question, model: 'm' });
    expect(calls[0]?.headers).not.toContain('content-encoding');
  });

  it('pass-through requests keep their coding', async () => {
    const { send, calls, script, key } = createHarness();
    script(replyWith(200, {}));
    const headers = { 'x-svc-api-key': key, 'x-svc-provider': 'openai', authorization: 'Bearer k', 'content-encoding': 'gzip' };
    await send({ path: '/v1/other/route', headers, body: gzipSync(json) });
    expect(calls[0]?.headers).toContain('content-encoding');
  });

  it.each([
    ['gzip', Buffer.from('no gzip'), 'content-encoding: the body is not valid gzip'],
    ['zstd', Buffer.from('no zstd'), 'content-encoding: the body is not valid zstd'],
    ['gzip', gzipSync(json).subarray(0, 200), 'content-encoding: the body is not valid gzip'],
    ['compress', json, 'content-encoding: compress is not supported. Send gzip, x-gzip, deflate, br, zstd or no coding'],
    ['gzip, br', json, 'content-encoding: gzip, br is not supported. Send gzip, x-gzip, deflate, br, zstd or no coding'],
  ])('%s: a body that cannot be decoded is rejected (%#)', async (coding, body, message) => {
    const { send, calls } = createHarness();
    const reply = await send({ headers: { 'content-encoding': coding }, body });
    expect([reply.status, reply.json]).toMatchObject([400, { error: { message, param: 'content-encoding' } }]);
    expect(calls).toEqual([]);
  });

  it('limits apply to the decoded bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    await expect(requestOf(bomb, 'gzip').body.bytes(1024 * 1024)).rejects.toMatchObject({ code: 'body_too_large' });
    let grown = 0;
    const refusal = new Error('no memory');
    const bytes = requestOf(bomb, 'gzip').body.bytes(16 * 1024 * 1024, (length) => {
      grown += length;
      if (grown > 500_000) throw refusal;
    });
    await expect(bytes).rejects.toBe(refusal);
    expect(grown).toBeLessThan(700_000);
  });

  it('limits of JSON apply to the decoded values', async () => {
    const { send, calls } = createHarness();
    const body = gzipSync(`{"model":"@one/m","messages":[],"x":[${'{},'.repeat(120_000)}{}]}`);
    const reply = await send({ headers: { 'content-encoding': 'gzip' }, body });
    expect([reply.status, reply.json]).toMatchObject([413, { error: { code: 'body_too_large' } }]);
    expect(calls).toEqual([]);
  });

  it('a consumer that pauses makes the client wait', async () => {
    const encoded = gzipSync(randomBytes(4 * 1024 * 1024));
    let [at, pauses] = [0, 0];
    const { body } = decodedFrom((to) => {
      const push = (): void => {
        while (at < encoded.length) {
          at += 65_536;
          if (!to.onData(encoded.subarray(at - 65_536, at))) return void pauses++;
        }
        to.onEnd();
      };
      setImmediate(push);
      return { resume: push, discard: () => {} };
    });
    expect(await body.bytes(8 * 1024 * 1024)).toHaveLength(4 * 1024 * 1024);
    expect(pauses).toBeGreaterThan(60);
  });

  it('a body that its client cuts is rejected with that error', async () => {
    const { body } = decodedFrom((to) => {
      setImmediate(() => to.onError(new GatewayError('client_closed')));
      return { resume: () => {}, discard: () => {} };
    });
    await expect(body.bytes(1_000)).rejects.toMatchObject({ code: 'client_closed' });
  });

  it('a zstd frame with a window of over 8 MiB is rejected', async () => {
    const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 };
    const body = zstdCompressSync(Buffer.alloc(16 * 1024 * 1024), { params });
    await expect(requestOf(body, 'zstd').body.bytes(64 * 1024 * 1024)).rejects.toMatchObject({ code: 'bad_request' });
  });

  it('the request has neither the coding nor the length of the encoded body', () => {
    const request = requestOf(gzipSync(json), 'gzip');
    expect([request.header('content-encoding'), request.header('content-length'), request.body.length]).toEqual([
      undefined,
      undefined,
      -1,
    ]);
    expect(request.headers).not.toContain('content-encoding');
    expect(request.header('content-type')).toBe('application/json');
  });
});
