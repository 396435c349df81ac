/**
 * A child process of the forced-short-writes test: an edge whose replies are derived from the path, so that the parent can
 * compute them. `/<framing>/<bytes>/<part bytes>`. Framing is `once`, `length`, `chunks` or `hold` (chunks, with the end sent
 * only when another connection requests `/release`). Prints its port.
 */
import type { InboundRequest, ReplySink } from '../../../core/contract/values/http/http.ts';
import { patternBytes } from '../samples/pattern-bytes.ts';
import { startEdge } from './edge-server.ts';

const held: ReplySink[] = [];
/** By size. Computing ten megabytes takes longer than sending them. */
const bodies = new Map<number, Buffer>();

function handle(request: InboundRequest, sink: ReplySink): void {
  const [, framing, size, part] = request.path.split('/');
  if (framing === 'release') {
    for (const waiting of held.splice(0)) waiting.end();
    return sink.send(200, [], 'released');
  }
  if (framing === 'echo') return void request.body.bytes(1e9).then((bytes) => sink.send(200, [], bytes));
  const body = bodies.get(Number(size)) ?? patternBytes(Number(size));
  bodies.set(body.length, body);
  if (framing === 'once') return sink.send(200, ['x-a', 'b'.repeat(300)], body);
  if (framing === 'heads') return sink.send(200, longHeaders(), body);
  sink.start(200, ['x-a', 'b'.repeat(300)], framing === 'length' ? body.length : undefined);
  let at = 0;
  const more = (): void => {
    while (at < body.length) {
      const piece = body.subarray(at, at + Number(part));
      at += piece.length;
      if (!sink.write(piece) && at < body.length) return;
    }
    if (framing === 'hold') held.push(sink);
    else sink.end();
  };
  sink.onDrain(more);
  // Deferred, like data from a provider's socket: not in the turn of the request.
  setImmediate(() => setImmediate(more));
}

function longHeaders(): string[] {
  const headers: string[] = [];
  for (let i = 0; i < 40; i++) headers.push(`x-${i}`, String(i % 10).repeat(i === 7 ? 20_000 : 500));
  return headers;
}

const edge = await startEdge(process.argv[2] as 'uwsjs' | 'uws-pack', handle);
process.on('SIGTERM', () => process.exit(0));
process.stdout.write(`${edge.port}\n`);
