import { HttpConnection } from './http-connection.ts';
import type { Target } from './load.ts';

export interface CallFailure {
  /** `performance.now()` of the failure. */
  readonly atMs: number;
  /** Time at which its connection was opened. */
  readonly connectedAtMs: number;
  /** `cut`: the connection closed with the call in flight. `status`: a reply other than 200. `timeout`: no reply within 30 s. */
  readonly kind: 'cut' | 'status' | 'timeout';
  readonly traceId: string;
  readonly detail: string;
}

export interface ClosedLoopOptions {
  readonly target: Target;
  readonly connections: number;
  /** Calls after which a connection is closed and opened again, so that connections spread over processes that come later. */
  readonly callsPerConnection: number;
  /** Maximum calls per second of all connections together. Absent: no limit. */
  readonly callsPerSecond?: number;
  /** Beginning of every trace id. */
  readonly name: string;
}

/** Keeps every connection busy with one call at a time until stopped, and stores the result of each call. */
export class ClosedLoop {
  /** Trace ids of the calls with status 200. */
  readonly replied: string[] = [];
  readonly failures: CallFailure[] = [];
  /** Connections that failed to open or closed while idle. No call was in flight, so it was sent again. */
  notSent = 0;
  /** Called with every reply. */
  onReply: ((status: number, text: string) => void) | null = null;

  readonly #options: ClosedLoopOptions;
  readonly #head: string;
  readonly #tail: string;
  #running = true;
  #count = 0;
  #loops: Promise<void>[] = [];

  constructor(options: ClosedLoopOptions) {
    this.#options = options;
    const { target } = options;
    const { host, pathname } = new URL(target.url);
    const lines = Object.entries({ host, ...target.headers, 'content-length': String(Buffer.byteLength(target.body)) });
    this.#head = `POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}x-svc-trace-id: `;
    this.#tail = `\r\n\r\n${target.body}`;
  }

  start(): void {
    const { hostname, port } = new URL(this.#options.target.url);
    this.#loops = Array.from({ length: this.#options.connections }, () => this.#drive(hostname, Number(port)));
  }

  /** Waits for the calls in flight, then closes the connections. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#loops);
  }

  async #drive(host: string, port: number): Promise<void> {
    const connection = new HttpConnection(host, port);
    // At different calls, so that the connections are not all reopened at the same time.
    let left = 1 + Math.floor(Math.random() * this.#options.callsPerConnection);
    let startedAtMs = 0;
    let overdue = false;
    const watch = setInterval(() => {
      if (startedAtMs === 0 || performance.now() - startedAtMs < 30_000) return;
      overdue = true;
      connection.close();
    }, 1000);
    const { callsPerSecond, connections } = this.#options;
    const everyMs = callsPerSecond === undefined ? 0 : (1000 * connections) / callsPerSecond;
    let dueAtMs = performance.now() + Math.random() * everyMs;
    while (this.#running) {
      const waitMs = dueAtMs - performance.now();
      if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs));
      dueAtMs = Math.max(dueAtMs + everyMs, performance.now());
      const traceId = `${this.#options.name}-${++this.#count}`;
      startedAtMs = performance.now();
      const result = await connection.call(Buffer.from(this.#head + traceId + this.#tail));
      startedAtMs = 0;
      const failed = { atMs: performance.now(), connectedAtMs: connection.connectedAtMs, traceId };
      if (result.kind === 'reply') {
        const { status, text } = result.reply;
        this.onReply?.(status, text);
        if (status === 200) this.replied.push(traceId);
        else this.failures.push({ ...failed, kind: 'status', detail: text.slice(0, 600) });
      } else if (result.kind === 'cut') {
        this.failures.push({ ...failed, kind: overdue ? 'timeout' : 'cut', detail: result.reason });
        overdue = false;
      } else {
        this.notSent++;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      if (--left > 0) continue;
      left = this.#options.callsPerConnection;
      connection.close();
    }
    clearInterval(watch);
    connection.close();
  }
}
