import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { patternBytes } from '../support/samples/pattern-bytes.ts';
import { type Behaviour, readBodyLate } from '../support/upstream/fake-upstream.ts';

/** 200 MB each way through one gateway process whose memory is watched from outside. */
let gateway: GatewayWithUpstream;
beforeAll(async () => {
  gateway = await startGatewayWithUpstream();
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const pieces = 200;
const piece = patternBytes(1_000_000);
const total = pieces * piece.length;
const digest = (() => {
  const hash = createHash('sha256');
  for (let i = 0; i < pieces; i++) hash.update(piece);
  return hash.digest('hex');
})();
/** Maximum growth of the process: a quarter of a body, and enough for its garbage. */
const growthBytesMax = 50e6;

/** Resident memory of the gateway process, from Linux's `/proc`. */
function residentBytes(): number {
  const [pid] = gateway.pidsOf('gateway');
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!match) throw new Error(`no memory figure for process ${pid}`);
  return Number(match[1]) * 1024;
}

/** Takes the body in and says nothing of it but its length. */
const swallow: Behaviour = {
  when: 'body',
  run: ({ request, response }) =>
    void response.writeHead(200, { 'content-length': 9 }).end(String(request.bodyBytes).padStart(9)),
};

/** A call through the gateway process: its event loop has turned. */
async function turn(): Promise<void> {
  await (await fetch(`${gateway.origin}/health`)).arrayBuffer();
}

/** Waits until a count no longer moves: every buffer on the way is full. */
async function standstillOf(count: () => number): Promise<void> {
  for (let stillFor = 0, seen = -1; stillFor < 50; ) {
    await turn();
    const now = count();
    stillFor = now === seen ? stillFor + 1 : 0;
    seen = now;
  }
}

/**
 * One piece per turn of the gateway's loop. A client on the same machine would otherwise send as fast as the addon reads, which goes on
 * reading while its buffer of 512 KiB fills, even if paused: 140 MB in one turn were measured.
 */
async function upload(
  headers: Record<string, string>,
  count: number,
  sampled: (bytes: number) => void,
  behaviour = swallow,
): Promise<string> {
  gateway.upstream.once('/v1/files', behaviour);
  const options = { method: 'POST', path: '/v1/files', headers: { ...headers, ...credentials() } };
  const outgoing = httpRequest(gateway.origin, options);
  const replied = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  // A broken connection is reported by the body, which is awaited first.
  replied.catch(() => {});
  async function* source() {
    for (let i = 0; i < count; i++) {
      await turn();
      sampled(residentBytes());
      yield piece;
    }
  }
  await pipeline(Readable.from(source(), { objectMode: true, highWaterMark: 1 }), outgoing);
  const [message] = await replied;
  let text = '';
  for await (const chunk of message) text += chunk;
  return `${message.statusCode} ${text}`;
}

const credentials = () => ({ 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': '@oai' });

it.each([
  ['of known length', { 'content-length': String(total) }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('large bodies: an upload of 200 MB %s is streamed with flat memory', async (_, headers) => {
  await upload({ 'transfer-encoding': 'chunked' }, 10, () => undefined);
  const before = residentBytes();
  let peak = 0;
  const reply = await upload(headers, pieces, (bytes) => {
    peak = Math.max(peak, bytes);
  });
  expect(reply).toBe(`200 ${total}`);
  expect(gateway.upstream.last.sha256).toBe(digest);
  expect(peak - before).toBeLessThan(growthBytesMax);
});

it('large bodies: the client’s upload waits while the provider does not read', async () => {
  const before = residentBytes();
  let peak = 0;
  let taken = 0;
  const late = readBodyLate(swallow);
  const sampled = (bytes: number) => {
    peak = Math.max(peak, bytes);
    taken++;
  };
  const reply = upload({ 'content-length': String(total) }, pieces, sampled, late);
  // Awaited below; what fails before that is the test's own word.
  reply.catch(() => {});
  await late.reached;
  await standstillOf(() => {
    peak = Math.max(peak, residentBytes());
    return taken;
  });
  // The kernel buffers up to tcp_rmem's maximum (often 32 MiB) on each of the two connections. The gateway's own share is checked below.
  expect(taken).toBeLessThan(pieces * 0.8);
  late.release();
  expect(await reply).toBe(`200 ${total}`);
  expect(gateway.upstream.last.sha256).toBe(digest);
  expect(peak - before).toBeLessThan(growthBytesMax);
});

it('large bodies: a download of 200 MB is streamed with flat memory, and waits while the client does not read', async () => {
  let written = 0;
  const flood: Behaviour = {
    when: 'head',
    async run({ response }) {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': total });
      for (let i = 0; i < pieces && !response.destroyed; i++) {
        written += piece.length;
        if (!response.write(piece)) await once(response, 'drain');
      }
      response.end();
    },
  };
  gateway.upstream.on('/v1/files/content', flood);
  const before = residentBytes();
  let peak = 0;
  const outgoing = httpRequest(gateway.origin, { path: '/v1/files/content', headers: credentials() }).end();
  const [message] = (await once(outgoing, 'response')) as [IncomingMessage];

  // The client reads nothing yet.
  await standstillOf(() => {
    peak = Math.max(peak, residentBytes());
    return written;
  });
  expect(written).toBeLessThan(total / 2);

  const hash = createHash('sha256');
  for await (const chunk of message) {
    hash.update(chunk);
    peak = Math.max(peak, residentBytes());
  }
  expect(hash.digest('hex')).toBe(digest);
  expect(peak - before).toBeLessThan(growthBytesMax);
});
