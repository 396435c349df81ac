import * as v from 'valibot';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { encodeProtobufFailure, encodeProtobufResponse } from '../../../core/telemetry/otlp/protobuf.ts';
import type { AdminError } from '../../http/errors.ts';
import { RawReply } from '../../http/reply/raw-reply.ts';
import { errorReply } from '../../http/reply/write-error.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { innermostCalls } from './innermost-calls.ts';
import { itemsOf, type OtlpItem } from './items.ts';
import { isProtobuf, readOtlpBody } from './read-otlp-body.ts';
import { recordsOf } from './records-of.ts';

/** Spans are stored by the day of their start. Older ones would not be kept long, and later ones are wrong. */
const oldestMs = 7 * dayMs;
/** Clocks of clients may be ahead. */
const newestMs = dayMs / 24;

/** Messages may have members of later versions of the protocol. */
const message = (member: string) => v.looseObject({ [member]: v.optional(v.array(v.unknown())) });

const otlpReply = v.strictObject({
  partialSuccess: v.optional(
    v.strictObject({
      rejectedSpans: v.optional(v.string()),
      rejectedLogRecords: v.optional(v.string()),
      errorMessage: v.string(),
    }),
  ),
});

const signals = {
  traces: {
    summary: 'Store spans of calls to models as request records (OTLP)',
    member: 'resourceSpans',
    rejected: 'rejectedSpans',
  },
  logs: {
    summary: 'Store log records of calls to models as request records (OTLP)',
    member: 'resourceLogs',
    rejected: 'rejectedLogRecords',
  },
} as const;

const routeOf = (signal: 'traces' | 'logs', path: string) => {
  const { summary, member, rejected } = signals[signal];
  return defineRoute({
    method: 'POST',
    path,
    // A span is stored once.
    runsAgain: true,
    summary,
    tenant: 'workspace',
    resource: 'logs',
    action: 'create',
    scopes: ['completions.write', 'logs.write'],
    query: tenantQuery,
    body: message(member),
    readBody: readOtlpBody(signal),
    alsoProduces: 'application/x-protobuf',
    errorReply: failureIn,
    reply: otlpReply,
    async handle(call) {
      const { organisationId, workspaceId, actor, services } = call;
      const ingest = {
        ...{ organisationId, workspaceId: workspaceId ?? '', apiKeyId: actor.keyId ?? null, userId: actor.userId ?? null },
        path: `/v1/otel/v1/${signal}`,
      };
      const nowMs = services.clock.now();
      const inTime = (item: OtlpItem | null): item is OtlpItem =>
        item !== null && item.startMs >= nowMs - oldestMs && item.startMs <= nowMs + newestMs;
      const items = await itemsOf(signal, call.body);
      const valid = items.filter(inTime);
      const { refused } = await services.storeRecords(innermostCalls(await recordsOf(valid, ingest)));
      const count = items.length - valid.length + refused.length;
      const partial = {
        [rejected]: String(count),
        errorMessage:
          'rejected items have invalid ids or times, or started more than 7 days ago or more than an hour in the future',
      };
      const reply = count === 0 ? {} : { partialSuccess: partial };
      if (!isProtobuf(call.contentType)) return reply;
      const bytes = encodeProtobufResponse(count, count === 0 ? '' : partial.errorMessage);
      return new RawReply(bytes, { 'content-type': 'application/x-protobuf' });
    },
  });
};

/** Replies to protobuf with protobuf. The Collector logs the text of an error only from such a body. */
function failureIn(error: AdminError, headers: Record<string, string>, contentType: string): Response {
  const json = errorReply(error, headers);
  if (!isProtobuf(contentType)) return json;
  json.headers.set('content-type', 'application/x-protobuf');
  return new Response(encodeProtobufFailure(error.message), json);
}

/** Receives OTLP/HTTP. The second pair of paths is that of earlier versions of the reference. */
export const otelRoutes: readonly AdminRoute[] = [
  routeOf('traces', '/otel/v1/traces'),
  routeOf('logs', '/otel/v1/logs'),
  routeOf('traces', '/logs/otel/v1/traces'),
  routeOf('logs', '/logs/otel/v1/logs'),
];
