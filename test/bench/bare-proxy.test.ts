import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { end, startServer } from '../../bench/processes.ts';
import {
  cutMidStream,
  eventStream,
  type FakeUpstream,
  stallMidStream,
  startFakeUpstream,
} from '../support/upstream/fake-upstream.ts';

let upstream: FakeUpstream;
let stopProxy: () => Promise<void>;
afterEach(async () => {
  await stopProxy();
  await upstream.close();
});

async function startProxy(): Promise<string> {
  upstream = await startFakeUpstream();
  const { child, port } = await startServer([], new URL('../../bench/bare-proxy.ts', import.meta.url), [upstream.origin]);
  stopProxy = () => end(child);
  return `http://127.0.0.1:${port}`;
}

test('bare proxy: bodies of any size pass in both directions unchanged', async () => {
  const origin = await startProxy();
  for (const size of [0, 1, 13_999, 14_000, 14_001, 100_000, 3_000_000]) {
    const body = randomBytes(size);
    const response = await fetch(`${origin}/echo/${size}?a=%2F`, { method: 'POST', body });
    expect(Buffer.from(await response.arrayBuffer()).equals(body), `${size} bytes`).toBe(true);
    expect(upstream.last.url).toBe(`/echo/${size}?a=%2F`);
  }
});

test('bare proxy: streams pass chunk by chunk, cuts look cut, and disconnects are forwarded', async () => {
  const origin = await startProxy();
  upstream.once('/events', eventStream(['data: 1\n\n', 'data: 2\n\n']));
  expect(await (await fetch(`${origin}/events`)).text()).toBe('data: 1\n\ndata: 2\n\n');
  upstream.once('/cut', cutMidStream(['data: 1\n\n']));
  await expect(fetch(`${origin}/cut`).then((response) => response.text())).rejects.toThrow();
  const stall = stallMidStream(['data: 1\n\n'], []);
  upstream.once('/leave', stall);
  const abort = new AbortController();
  const response = await fetch(`${origin}/leave`, { signal: abort.signal });
  await response.body?.getReader().read();
  abort.abort();
  expect(await upstream.last.closed).toBe('client-left');
  stall.release();
});
