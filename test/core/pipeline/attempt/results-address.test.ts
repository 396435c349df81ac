import { describe, expect, it } from 'vitest';
import { createHarness, type FakeRequest, type Harness } from '../../../../core/test-kit/pipeline-harness.ts';

const own = 'https://gw.example.com';
const results = (id: string, origin = 'https://api.anthropic.com') => `${origin}/v1/messages/batches/${id}/results`;

/** Sends a request of a client of Anthropic. `body` is the provider's reply. */
async function ask(body: string | Uint8Array, request: Partial<FakeRequest>, head: string[] = [], status = 200) {
  const harness: Harness = createHarness();
  harness.script((_call, handler) => {
    handler.onHead(status, ['content-type', 'application/json', 'etag', '"1"', ...head]);
    handler.onData(Buffer.from(body as string));
    handler.onEnd();
  });
  const headers = { 'x-svc-provider': '@claude', 'accept-encoding': 'gzip' };
  const reply = await harness.send({ method: 'GET', ownAddress: own, body: '', headers, ...request });
  await harness.close();
  return { call: harness.calls[0], reply, text: Buffer.concat(reply.chunks).toString('latin1') };
}

describe('results_url of message batches', () => {
  it.each([
    ['GET', '/v1/messages/batches/a'],
    ['POST', '/v1/messages/batches/a/cancel'],
    ['POST', '/v1/messages/batches'],
    ['GET', '/v1/messages/batches?limit=2'],
    ['GET', '/v1/v1/messages/batches'],
  ])('is the address of the gateway in the reply to %s %s', async (method, path) => {
    const text = (origin: string) =>
      `{ "data": [{"id":"a","results_url" : "${results('a', origin)}"}, {"id":"ü","results_url":null,"x":"\\"results_url\\":\\"${results('a')}\\""}]}`;
    const { reply, call, text: sent } = await ask(text('https://api.anthropic.com'), { method, path });
    expect(sent).toBe(Buffer.from(text(own)).toString('latin1'));
    expect(reply.header('etag')).toBeUndefined();
    expect(call?.headers).not.toContain('accept-encoding');
  });

  it('is a path if the address of the gateway is unknown', async () => {
    const { text } = await ask(JSON.stringify({ results_url: results('a') }), {
      path: '/v1/messages/batches/a',
      ownAddress: '',
    });
    expect(JSON.parse(text)).toEqual({ results_url: '/v1/messages/batches/a/results' });
  });

  it.each([
    ['on the explicit pass-through route', '/v1/proxy/messages/batches/a', [], 200, results('a')],
    ['on another route', '/v1/other/a', [], 200, results('a')],
    ['in results', '/v1/messages/batches/a/results', [], 200, results('a')],
    ['in an error', '/v1/messages/batches/a', [], 404, results('a')],
    ['in encoded bytes', '/v1/messages/batches/a', ['content-encoding', 'br'], 200, results('a')],
    ['for a file elsewhere', '/v1/messages/batches/a', [], 200, 'https://storage.example.com/a.jsonl?sig=1'],
  ])('is unchanged %s', async (_title, path, head, status, url) => {
    const body = Buffer.concat([Buffer.from(`{"results_url":"${url}"}`), Buffer.from([0xff])]);
    const { reply, text } = await ask(body, { path }, head, status);
    expect(text).toBe(body.toString('latin1'));
    expect(reply.header('etag')).toBe('"1"');
  });
});
