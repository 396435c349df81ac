import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { parseTrustedHosts } from '../core/contract/values/addresses/outbound-url.ts';
import { createTransport } from '../core/upstream/transport.ts';

/**
 * CPU time per request of the upstream transport alone against a bare undici `Pool` with a bare handler, at 8 requests at once,
 * with other streams open meanwhile: `node bench/transport.ts [open streams] [rounds]`. The provider is a process of its own;
 * the transport has all its deadlines set, the bare pool has none.
 */
type Send = (path: string, onEnd: () => void) => void;

const headers = [
  'content-type',
  'application/json',
  'accept',
  'application/json',
  'authorization',
  'Bearer key',
  'user-agent',
  'bench',
];
const body = Buffer.alloc(66, 'a');
const concurrency = 8;

if (process.argv[2] === 'provider') await provide();
else await compare(Number(process.argv[2] ?? 0), Number(process.argv[3] ?? 5));

async function compare(openStreams: number, rounds: number): Promise<void> {
  const provider = fork(import.meta.filename, ['provider'], { execArgv: [] });
  const [port] = await once(provider, 'message');
  const origin = `http://127.0.0.1:${port}`;
  const contenders = { 'undici Pool': barePool(origin), transport: ourTransport(origin) };
  for (const send of Object.values(contenders)) {
    for (let i = 0; i < openStreams; i++) send('/stays-open', () => {});
  }
  await pause(2000);
  const seen: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, send] of Object.entries(contenders)) {
      const micros = await measure(send, 2000);
      // The first round is a warm-up.
      if (round > 0) seen[name] = [...(seen[name] ?? []), micros];
    }
  }
  for (const [name, all] of Object.entries(seen)) {
    const sorted = all.toSorted((a, b) => a - b);
    const [least, middle, most] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)].map((micros) => micros?.toFixed(1));
    console.log(`${name}, ${openStreams} streams open: ${middle} µs CPU per request (${least} to ${most})`);
  }
  provider.kill();
  process.exit();
}

async function measure(send: Send, spanMs: number): Promise<number> {
  let ended = 0;
  let running = true;
  let left = concurrency;
  const before = process.cpuUsage();
  await new Promise<void>((resolve) => {
    const next = () => {
      ended++;
      if (running) send('/', next);
      else if (--left === 0) resolve();
    };
    for (let i = 0; i < concurrency; i++) send('/', next);
    setTimeout(() => {
      running = false;
    }, spanMs);
  });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / ended;
}

function ourTransport(origin: string): Send {
  const transport = createTransport({ trusted: parseTrustedHosts(['127.0.0.1']) });
  const timeouts = { connectMs: 10_000, firstByteMs: 600_000, idleMs: 120_000, totalMs: 600_000 };
  return (path, onEnd) => {
    transport.send(
      { tenant: 'bench', origin, path, method: 'POST', headers, body, timeouts },
      { onHead: () => {}, onData: () => true, onEnd, onError: fail },
    );
  };
}

function barePool(origin: string): Send {
  const pool = new Pool(origin, {
    connections: null,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return (path, onEnd) => void pool.dispatch({ path, method: 'POST', headers, body }, bareHandler(onEnd));
}

function bareHandler(onResponseEnd: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart: () => {},
    onResponseStart: () => {},
    onResponseData: () => {},
    onResponseEnd,
    onResponseError: (_controller, error) => fail(error),
  };
}

function fail(error: Error): never {
  throw error;
}

async function provide(): Promise<void> {
  const reply = Buffer.alloc(270, 'x');
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_0123456789', server: 'bench' });
    if (request.url === '/stays-open') response.write('data: {}\n\n');
    else request.resume().on('end', () => response.end(reply));
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.((server.address() as AddressInfo).port);
}
