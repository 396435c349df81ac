import type { RequestContext } from '../../contract/plugin/context.ts';
import type { ProviderErrorReply } from '../../contract/plugin/core-plugin.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';
import { messagesErrorType } from '../../contract/values/errors/messages-errors.ts';
import { type HeaderList, withoutHeader } from '../../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';
import type { AttemptReply } from '../attempt-reply.ts';

/** Errors that quote the provider. */
const quoting: ReadonlySet<string> = new Set(['upstream_status', 'upstream_invalid']);

/**
 * Runs the `onProviderError` hooks of the plan on the error of an attempt. Returns the reply with the text that they leave. Its status stays, so that
 * retries, fallback and clients see the error of the provider.
 */
export function judgeError(ctx: RequestContext, target: Target, given: AttemptReply, at = 0): Maybe<AttemptReply> {
  const hook = ctx.plan.onProviderError[at];
  if (!hook || ctx.aborted || given.kind === 'upgraded' || given.kind === 'replaced') return given;
  const { error } = given;
  if (error === null || !quoting.has(error.code) || (given.kind === 'streamed' && given.errorSent)) return given;
  const next = (body: JsonObject | null | undefined): Maybe<AttemptReply> => {
    const judged = body === undefined ? given : withBody(ctx, given, error, body ?? withheld(ctx, error));
    return judgeError(ctx, target, judged, at + 1);
  };
  const outcome = hook(ctx, shown(given, error), target);
  return isPromise(outcome) ? outcome.then(next) : next(outcome);
}

/** The error as a reply; errors that are no reply of the provider have their message in the form of one. */
function shown(given: AttemptReply, error: GatewayError): ProviderErrorReply {
  if (given.kind === 'plain') return { status: given.status, headers: given.headers, body: given.body };
  const body = Buffer.from(JSON.stringify({ error: { message: error.message } }));
  return { status: error.status, headers: ['content-type', 'application/json'], body };
}

function withheld({ endpoint }: RequestContext, { status }: GatewayError): JsonObject {
  const message = `The provider replied with an error (${status}). A guardrail withholds its text`;
  if (endpoint?.format === 'messages') return { type: 'error', error: { type: messagesErrorType(status, null), message } };
  return { error: { message, type: 'upstream_error', param: null, code: null } };
}

function withBody(ctx: RequestContext, given: AttemptReply, error: GatewayError, body: JsonObject): AttemptReply {
  const message = isObject(body.error) && typeof body.error.message === 'string' ? body.error.message : null;
  const judged = error.renamed(message ?? String((withheld(ctx, error).error as JsonObject).message), error.param);
  if (given.kind !== 'plain') return { ...given, error: judged } as AttemptReply;
  const headers: HeaderList = ['content-length', 'content-encoding', 'content-type'].reduce(withoutHeader, given.headers);
  headers.push('content-type', 'application/json');
  return { ...given, headers, body: Buffer.from(JSON.stringify(body)), json: null, error: judged };
}
