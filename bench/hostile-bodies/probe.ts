import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** Input of a probe: the address for small chat calls, and their interval. */
export interface ProbeInput {
  readonly origin: string;
  readonly key: string;
  readonly everyMs: number;
}

/** Latencies in milliseconds and statuses of the calls between two `take` messages. */
export interface ProbeResult {
  readonly latenciesMs: readonly number[];
  readonly statuses: Readonly<Record<number, number>>;
}

const { origin, key, everyMs } = workerData as ProbeInput;
// The gateway closes connections that are idle for 10 s.
const agent = new Agent({ keepAlive: true, timeout: 5000 });
const body = JSON.stringify({ model: '@mock/echo', messages: [{ role: 'user', content: 'hello' }] });
const headers = { 'x-svc-api-key': key, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
let latenciesMs: number[] = [];
let statuses: Record<number, number> = {};

/** Sends one call. A connection that breaks counts as status 0. */
function call(): void {
  const begunMs = performance.now();
  const done = (status: number): void => {
    latenciesMs.push(performance.now() - begunMs);
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  request(`${origin}/v1/chat/completions`, { method: 'POST', agent, headers }, (response) => {
    response.resume().once('end', () => done(response.statusCode ?? 0));
  })
    .once('error', (error: NodeJS.ErrnoException) => {
      console.error(`a small call failed: ${error.code ?? error.message}`);
      done(0);
    })
    .end(body);
}

parentPort?.on('message', () => {
  parentPort?.postMessage({ latenciesMs, statuses } satisfies ProbeResult);
  latenciesMs = [];
  statuses = {};
});

// Calls begin on time even if earlier ones have not ended: a blocked gateway must not slow the probe.
for (;;) {
  call();
  await pause(everyMs);
}
