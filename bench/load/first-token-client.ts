/**
 * Opens many streams at the same time and measures when their frames arrive. A process of its own, started by `first-token.ts`
 * with its plan as one JSON argument. Prints its results as one JSON line. `burst`: every stream begins at the same moment, once.
 * `steady`: the starts are spread over the length of a stream and each connection continues with the next stream, so that all are
 * open all the time and the starts do not queue behind each other.
 */
import { HttpConnection, postBytes } from './http-connection.ts';

export interface StreamPlan {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly streams: number;
  readonly frames: number;
  readonly cadenceMs: number;
  readonly mode: 'burst' | 'steady';
  /** Streams per connection in `steady` mode. */
  readonly rounds: number;
}

export interface StreamFindings {
  readonly completed: number;
  readonly framesLost: number;
  readonly failures: number;
  /** From sending the request to its first frame. */
  readonly firstP50Micros: number;
  readonly firstP99Micros: number;
  /** From the upstream's write of a frame to its arrival, all frames. */
  readonly frameP50Micros: number;
  readonly frameP99Micros: number;
}

const plan = JSON.parse(process.argv[2] as string) as StreamPlan;
const { hostname, port } = new URL(plan.url);
const bytes = postBytes(plan.url, plan.headers, plan.body);
const streamMs = plan.frames * plan.cadenceMs;
const firstMicros: number[] = [];
const frameMicros: number[] = [];
let completed = 0;
let framesLost = 0;
let failures = 0;
let firstReason = '';

const connections = Array.from({ length: plan.streams }, () => new HttpConnection(hostname, Number(port)));
for (const connection of connections) await connection.open();
await Promise.all(connections.map((connection, index) => drive(connection, index)));
firstMicros.sort((a, b) => a - b);
frameMicros.sort((a, b) => a - b);
const findings: StreamFindings = {
  completed,
  framesLost,
  failures,
  firstP50Micros: quantile(firstMicros, 0.5),
  firstP99Micros: quantile(firstMicros, 0.99),
  frameP50Micros: quantile(frameMicros, 0.5),
  frameP99Micros: quantile(frameMicros, 0.99),
};
if (failures > 0) process.stderr.write(`${failures} streams failed, the first with: ${firstReason}\n`);
process.stdout.write(`${JSON.stringify(findings)}\n`);

async function drive(connection: HttpConnection, index: number): Promise<void> {
  const rounds = plan.mode === 'burst' ? 1 : plan.rounds;
  if (plan.mode === 'steady') await new Promise((resolve) => setTimeout(resolve, (index * streamMs) / plan.streams));
  // The first stream of a steady connection is a warm-up.
  for (let round = 0; round < rounds; round++) await stream(connection, plan.mode === 'burst' || round > 0);
  connection.close();
}

async function stream(connection: HttpConnection, counts: boolean): Promise<void> {
  let frames = 0;
  let rest = '';
  const sentAt = nowMicros();
  connection.onChunk = (chunk) => {
    const at = nowMicros();
    const text = rest + chunk.toString('latin1');
    let from = 0;
    for (const match of text.matchAll(/"content": ?"t(\d+)"/g)) {
      if (frames++ === 0 && counts) firstMicros.push(at - sentAt);
      if (counts) frameMicros.push(at - Number(match[1]));
      from = match.index + match[0].length;
    }
    // A mark that is split between two packets is found when its other half arrives.
    rest = text.slice(Math.max(from, text.length - 40));
  };
  const result = await connection.call(bytes);
  if (result.kind !== 'reply' || result.reply.status !== 200 || !result.reply.text.includes('data: [DONE]')) {
    failures++;
    firstReason ||= result.kind === 'reply' ? result.reply.text.slice(0, 500) : `${result.kind}: ${result.reason}`;
    return;
  }
  completed++;
  framesLost += plan.frames - frames;
}

function nowMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
