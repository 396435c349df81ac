import type {
  UpstreamCall,
  UpstreamExchange,
  UpstreamHandler,
  UpstreamSender,
} from '../../../../core/contract/provider/upstream.ts';
import type { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { HeaderList } from '../../../../core/contract/values/http/http.ts';
import type { MockClock } from '../../../../core/providers/mock/clock.ts';

/** A clock that only tests advance. Timers fire in the order in which they are due. */
export function heldClock(): MockClock & { advance(ms: number): void; pending(): number } {
  let time = 1_763_683_200_000;
  let timers: { due: number; callback: () => void }[] = [];
  return {
    now: () => time,
    after(delayMs, callback) {
      const timer = { due: time + delayMs, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const until = time + ms;
      for (;;) {
        const due = timers.filter((timer) => timer.due <= until).sort((a, b) => a.due - b.due)[0];
        if (!due) break;
        timers = timers.filter((other) => other !== due);
        time = due.due;
        due.callback();
      }
      time = until;
    },
    pending: () => timers.length,
  };
}

export interface Recording {
  status: number | null;
  headers: HeaderList;
  chunks: string[];
  ended: boolean;
  error: GatewayError | null;
  /** Set to false to ask for a pause at every chunk. */
  accepts: boolean;
  exchange: UpstreamExchange;
  text(): string;
  json(): Record<string, unknown>;
  /** Resolves once the exchange has ended or failed. */
  readonly over: Promise<void>;
}

/** Sends a call and records every call of the handler. */
export function record(sender: UpstreamSender, call: UpstreamCall): Recording {
  let resolve = (): void => {};
  const over = new Promise<void>((done) => {
    resolve = done;
  });
  const recording = {
    status: null,
    headers: [],
    chunks: [],
    ended: false,
    error: null,
    accepts: true,
    text: () => recording.chunks.join(''),
    json: () => JSON.parse(recording.chunks.join('')),
    over,
  } as unknown as Recording;
  const handler: UpstreamHandler = {
    onHead(status, headers) {
      recording.status = status;
      recording.headers = headers;
    },
    onData(chunk) {
      recording.chunks.push(Buffer.from(chunk).toString());
      return recording.accepts;
    },
    onEnd() {
      recording.ended = true;
      resolve();
    },
    onError(error) {
      recording.error = error;
      resolve();
    },
  };
  recording.exchange = sender.send(call, handler);
  return recording;
}

/** A call to the mock with this body, as the pipeline sends it. */
export function mockCall(body: unknown, extra: Partial<UpstreamCall> = {}): UpstreamCall {
  return {
    tenant: 'tests',
    origin: 'mock://local',
    path: '/v1/chat/completions',
    method: 'POST',
    headers: ['content-type', 'application/json'],
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    timeouts: { connectMs: 0, firstByteMs: 0, idleMs: 0, totalMs: 0 },
    ...extra,
  };
}
