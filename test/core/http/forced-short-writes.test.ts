import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRawClient, sha256 } from '../../support/clients/raw-client.ts';
import { uwsBinaries } from '../../support/edge/edge-server.ts';
import { patternBytes } from '../../support/samples/pattern-bytes.ts';

const support = fileURLToPath(new URL('../../support/edge', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'short-send-'));
const shim = buildShim();
if (shim === null) console.warn('Skipped: forced short writes need gcc, which is not on the PATH');

/** Framing and sizes. The handler writes one part at a time. */
const cases: [framing: string, bytes: number, partBytes: number][] = [
  ...[1, 100, 13_900, 14_001, 65_536, 1_000_000, 10_485_760].map((bytes): [string, number, number] => ['once', bytes, 0]),
  ...[1, 100, 14_001, 65_536, 1_000_000, 10_485_760].map((bytes): [string, number, number] => ['length', bytes, 16_384]),
  ...[1, 100, 14_001, 65_536, 1_000_000, 10_485_760].map((bytes): [string, number, number] => ['chunks', bytes, 16_384]),
  ['chunks', 100_000, 37],
  ['chunks', 2_600_000, 4_096],
  ['chunks', 2_600_000, 65_536],
  ['length', 2_600_000, 1_000],
  ['heads', 100_000, 0],
];

/** The digest of the body of each size, computed once. */
const digests = new Map<number, string>();
function digestOf(bytes: number): string {
  const digest = digests.get(bytes) ?? sha256(patternBytes(bytes));
  digests.set(bytes, digest);
  return digest;
}

describe.skipIf(shim === null).each(uwsBinaries)('with send() forced short, on %s', (binary) => {
  const countFile = join(folder, `${binary}.json`);
  let child: ChildProcess;
  let port: number;
  beforeAll(async () => {
    child = spawn(process.execPath, [join(support, 'short-send-server.ts'), binary], {
      env: { ...process.env, LD_PRELOAD: shim as string, SHORT_SEND_SEED: '7', SHORT_SEND_COUNT: countFile },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    port = Number(String(line));
  });
  afterAll(async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
    const counts = JSON.parse(readFileSync(countFile, 'utf8'));
    // Without this check the suite would pass even if no write was short.
    expect(counts.again).toBeGreaterThan(50);
    expect(counts.halves).toBeGreaterThan(50);
  });

  it.each(cases)('delivers every byte: %s, %i bytes in parts of %i', async (framing, bytes, partBytes) => {
    const client = await openRawClient(port);
    const rounds = bytes > 1_000_000 ? 2 : 10;
    const expected = digestOf(bytes);
    for (let round = 0; round < rounds; round++) {
      client.send(`GET /${framing}/${bytes}/${partBytes} HTTP/1.1\r\nHost: a\r\n\r\n`);
      const reply = await client.reply();
      expect(reply.status).toBe(200);
      expect(reply.body.length).toBe(bytes);
      expect(sha256(reply.body)).toBe(expected);
      if (framing === 'heads') expect(reply.headers['x-7']).toBe('7'.repeat(20_000));
    }
    client.destroy();
  });

  it('delivers every byte to slow readers of 20 streams at once', async () => {
    const expected = digestOf(500_000);
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const client = await openRawClient(port);
        client.socket.pause();
        client.send(`GET /${index % 2 === 0 ? 'chunks' : 'length'}/500000/${1_000 * (index + 1)} HTTP/1.1\r\nHost: a\r\n\r\n`);
        for (let part = 1; part <= 4; part++) {
          client.socket.resume();
          await client.receive(part * 100_000);
          client.socket.pause();
        }
        client.socket.resume();
        expect(sha256((await client.reply()).body)).toBe(expected);
        client.destroy();
      }),
    );
  });

  it('delivers the last bytes of a chunk without waiting for the next one', async () => {
    for (let round = 0; round < 40; round++) {
      const client = await openRawClient(port);
      const body = patternBytes(1_000 + round);
      client.send(`GET /hold/${body.length}/300 HTTP/1.1\r\nHost: a\r\n\r\n`);
      let received = await client.receive(1);
      // The stream has not ended, so the whole body must arrive without its end.
      while (!received.includes(body.subarray(-50))) received = await client.receive(received.length + 1);
      const other = await openRawClient(port);
      other.send('GET /release HTTP/1.1\r\nHost: a\r\n\r\n');
      await other.reply();
      expect(sha256((await client.reply()).body)).toBe(sha256(body));
      client.destroy();
      other.destroy();
    }
  });

  it('delivers every byte of a reply to a chunked upload, and then reads no further from its connection', async () => {
    for (const bytes of [10, 20_000, 500_000]) {
      for (let round = 0; round < 5; round++) {
        const client = await openRawClient(port);
        const body = patternBytes(bytes);
        client.send(`POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`);
        client.send(body);
        client.send('\r\n0\r\n\r\n');
        const reply = await client.reply();
        expect(reply.headers.connection).toBe('close');
        expect(sha256(reply.body)).toBe(sha256(body));
        client.destroy();
      }
    }
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Path of the compiled shim; null without a compiler. */
function buildShim(): string | null {
  const library = join(folder, 'short-send.so');
  try {
    execFileSync('gcc', ['--version'], { stdio: 'ignore' });
  } catch {
    return null;
  }
  execFileSync('gcc', ['-O1', '-Wall', '-Werror', '-shared', '-fPIC', '-o', library, join(support, 'short-send.c'), '-ldl']);
  return library;
}
