import * as v from 'valibot';
import { isFromControlPlane } from '../contract/protocol/credentials/cluster-key.ts';
import type { InboundRequest, ReplySink } from '../contract/values/http/http.ts';

export interface ControlPlaneQuestions<Question> {
  readonly clusterKey: string;
  readonly question: v.GenericSchema<unknown, Question>;
  /** Maximum number of concurrent requests. Further ones get 503. */
  readonly atOnceMax: number;
  /** Maximum number of concurrent requests about one owner; absent: no separate limit. */
  readonly owner?: { readonly of: (question: Question) => string; readonly max: number };
  /**
   * A rejection becomes 500; errors of a provider belong in the reply. `signal` is aborted when the caller has disconnected: a
   * provider that never ends its response must not block a slot.
   */
  reply(question: Question, signal: AbortSignal): Promise<object>;
}

const requestBytesMax = 1024 * 1024;
const busy = [503, { error: 'busy' }] as const;

/** Serves one kind of request of the control plane: JSON with the cluster key. Other requests get 404. */
export function replyToControlPlane<Question>(
  options: ControlPlaneQuestions<Question>,
): (request: InboundRequest, sink: ReplySink) => void {
  let running = 0;
  const runningOf = new Map<string, number>();

  async function sendReply(request: InboundRequest, signal: AbortSignal): Promise<readonly [number, object]> {
    const question = await read(request, options.question);
    if (question === null) return [400, { error: 'malformed' }];
    const name = options.owner?.of(question.value) ?? '';
    const count = runningOf.get(name) ?? 0;
    if (options.owner && count >= options.owner.max) return busy;
    runningOf.set(name, count + 1);
    try {
      return [200, await options.reply(question.value, signal)];
    } finally {
      const left = (runningOf.get(name) ?? 1) - 1;
      if (left === 0) runningOf.delete(name);
      else runningOf.set(name, left);
    }
  }

  return (request, sink) => {
    const reply = (status: number, body: object) =>
      sink.send(status, ['content-type', 'application/json', 'cache-control', 'no-store'], JSON.stringify(body));
    if (!isFromControlPlane(request, options.clusterKey)) return reply(404, { error: 'not found' });
    if (running >= options.atOnceMax) return reply(...busy);
    running += 1;
    const left = new AbortController();
    sink.onAbort(() => left.abort());
    sendReply(request, left.signal)
      .then(([status, body]) => reply(status, body))
      .catch(() => reply(500, { error: 'internal' }))
      .finally(() => {
        running -= 1;
      });
  };
}

async function read<Question>(
  request: InboundRequest,
  schema: v.GenericSchema<unknown, Question>,
): Promise<{ readonly value: Question } | null> {
  try {
    const bytes = await request.body.bytes(requestBytesMax);
    const parsed = v.safeParse(schema, JSON.parse(Buffer.from(bytes).toString('utf8')));
    return parsed.success ? { value: parsed.output } : null;
  } catch {
    return null;
  }
}
