import * as v from 'valibot';
import { isFromControlPlane } from '../contract/cluster-key.ts';
import type { InboundRequest, ReplySink } from '../contract/http.ts';

export interface ControlPlaneQuestions<Question> {
  readonly clusterKey: string;
  readonly question: v.GenericSchema<unknown, Question>;
  /** Answered at a time; more are told 503. */
  readonly atOnceMax: number;
  /** Rejecting is 500: what is wrong with a provider belongs into the answer. */
  answer(question: Question): Promise<object>;
}

const requestBytesMax = 1024 * 1024;

/** Serves one kind of question of the control plane: JSON with the cluster key, 404 to everybody else. */
export function answerControlPlane<Question>(
  options: ControlPlaneQuestions<Question>,
): (request: InboundRequest, sink: ReplySink) => void {
  let running = 0;
  return (request, sink) => {
    const reply = (status: number, body: object) =>
      sink.send(status, ['content-type', 'application/json', 'cache-control', 'no-store'], JSON.stringify(body));
    if (!isFromControlPlane(request, options.clusterKey)) return reply(404, { error: 'not found' });
    if (running >= options.atOnceMax) return reply(503, { error: 'busy' });
    running += 1;
    read(request, options.question)
      .then((question) => question && options.answer(question.value))
      .then((answer) => (answer === null ? reply(400, { error: 'malformed' }) : reply(200, answer)))
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
