import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { openSession } from '../../support/clients/session-client.ts';
import { uwsBinaries } from '../../support/edge/edge-server.ts';
import { type FakeRealtime, startFakeRealtime } from '../../support/fakes/fake-realtime.ts';
import { until, within } from '../../support/until.ts';

const script = fileURLToPath(new URL('../../support/edge/session-relay.ts', import.meta.url));
/** Every other frame is small, because the addon handles small frames differently. */
const frames = 2000;
/** Enough for tests of order and completeness. The first test and that of backpressure fill the buffers on the way. */
const fewFrames = 400;
const frameBytes = 64 * 1024;
/** Maximum growth of the gateway while about 70 MB pass in each direction. Most of it is garbage that is not yet collected. */
const growthBytesMax = 100 * 1024 * 1024;

/** The frame with this number: the number, then bytes derived from it. */
function frame(number: number): Buffer {
  const bytes = Buffer.alloc(number % 2 === 0 ? frameBytes : 4 + ((number * 37) % 16_000), number % 251);
  bytes.writeUInt32BE(number);
  return bytes;
}

const rssBytes = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

/** Sends all frames as fast as the socket takes them into its own buffer. */
function sendAll(socket: WebSocket, count: number): void {
  for (let i = 0; i < count; i++) socket.send(frame(i));
}

/** Sends the frames one after the other, and waits while the other end is slow. */
async function sendPaced(socket: WebSocket): Promise<void> {
  for (let i = 0; i < frames; i++) {
    socket.send(frame(i));
    if (i % 4 === 3) await until(() => socket.bufferedAmount < 1_000_000, { deadlineMs: 60_000 });
    if (i % 4 === 3) await nextTurn();
  }
}

/** Reads with a pause after every few frames. Resolves with the number and bytes of each frame. */
function readSlowly(socket: WebSocket, count: number, onFrame: () => void): Promise<{ numbers: number[]; digest: string }> {
  const numbers: number[] = [];
  const hash = createHash('sha256');
  return new Promise((resolve) => {
    socket.on('message', (data: Buffer) => {
      numbers.push(data.readUInt32BE());
      hash.update(data);
      onFrame();
      if (numbers.length === count) resolve({ numbers, digest: hash.digest('hex') });
      if (numbers.length % 20 !== 0) return;
      socket.pause();
      setTimeout(() => socket.resume(), 10);
    });
  });
}

/** The result of reading this number of frames. */
function expectedOf(count: number): { numbers: number[]; digest: string } {
  const hash = createHash('sha256');
  for (let i = 0; i < count; i++) hash.update(frame(i));
  return { numbers: Array.from({ length: count }, (_, i) => i), digest: hash.digest('hex') };
}

/** The build that the product prefers. The other one, whose sockets other tests check, takes as long again. */
const binaries = process.env.LONG_TESTS ? uwsBinaries : uwsBinaries.slice(0, 1);

describe.each(binaries)('sessions with slow readers on %s', (binary) => {
  let provider: FakeRealtime;
  let relay: ChildProcess;
  let port: number;
  const open = async () => {
    const client = await openSession(`ws://127.0.0.1:${port}/v1/realtime`, {});
    return { client, session: await provider.nextSession() };
  };

  beforeAll(async () => {
    provider = await startFakeRealtime();
    relay = spawn(process.execPath, [script, binary, provider.origin], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(relay.stdout as NodeJS.ReadableStream, 'data');
    port = Number(String(line));
  });
  afterAll(async () => {
    relay?.kill('SIGTERM');
    await provider?.close();
  });

  it(`${frames} frames in each direction reach slow readers on both sides, in order and complete, in bounded memory`, async () => {
    const { client, session } = await open();
    const pid = relay.pid as number;
    const before = rssBytes(pid);
    let highest = before;
    const watch = () => {
      highest = Math.max(highest, rssBytes(pid));
    };
    const read = Promise.all([readSlowly(client.socket, frames, watch), readSlowly(session.socket, frames, watch)]);
    await Promise.all([sendPaced(client.socket), sendPaced(session.socket)]);
    const [atClient, atProvider] = await within(read, 'all frames', 60_000);
    const expected = expectedOf(frames);
    expect(atClient).toEqual(expected);
    expect(atProvider).toEqual(expected);
    expect(highest - before).toBeLessThan(growthBytesMax);
    client.socket.close(1000);
    expect((await session.closed).code).toBe(1000);
  }, 90_000);

  it('frames sent all at once from both sides arrive too', async () => {
    const { client, session } = await open();
    const read = Promise.all([readSlowly(client.socket, fewFrames, () => {}), readSlowly(session.socket, fewFrames, () => {})]);
    sendAll(client.socket, fewFrames);
    sendAll(session.socket, fewFrames);
    const [atClient, atProvider] = await within(read, 'all frames', 60_000);
    const expected = expectedOf(fewFrames);
    expect(atClient).toEqual(expected);
    expect(atProvider).toEqual(expected);
    client.socket.close(1000);
    expect((await session.closed).code).toBe(1000);
  }, 90_000);

  it('backpressure: a side that reads nothing stops the other, until it reads again', async () => {
    for (const which of ['client', 'provider'] as const) {
      const { client, session } = await open();
      const [reader, writer] = which === 'client' ? [client, session] : [session, client];
      reader.socket.pause();
      sendAll(writer.socket, frames);
      // The unsent amount no longer changes: the other side has stopped reading.
      let last = -1;
      let same = 0;
      await until(() => {
        const left = writer.socket.bufferedAmount;
        same = left === last ? same + 1 : 0;
        last = left;
        return same > 120;
      });
      expect(last).toBeGreaterThan((frames * frameBytes) / 4);
      reader.socket.resume();
      await until(() => reader.messages.length === frames);
      expect((reader.messages as Buffer[]).map((bytes) => bytes.readUInt32BE())).toEqual(
        Array.from({ length: frames }, (_, i) => i),
      );
      client.socket.terminate();
    }
  });

  it('messages sent right before a close arrive before it', async () => {
    const { client, session } = await open();
    session.socket.pause();
    sendAll(client.socket, fewFrames);
    client.socket.close(1000, 'all sent');
    session.socket.resume();
    expect(await within(session.closed, 'the close', 30_000)).toEqual({ code: 1000, reason: 'all sent' });
    expect(session.messages.length).toBe(fewFrames);
    const other = await open();
    other.client.socket.pause();
    sendAll(other.session.socket, fewFrames);
    other.session.socket.close(1000, 'all sent');
    other.client.socket.resume();
    expect(await within(other.client.closed, 'the close', 30_000)).toEqual({ code: 1000, reason: 'all sent' });
    expect(other.client.messages.length).toBe(fewFrames);
  });
});
