import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { EarlierRecord } from '../../../core/contract/plugin/record/record.ts';
import { messageOf } from '../../../core/contract/values/errors/message-of.ts';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { AdminError, conflict, forbidden } from '../../http/errors.ts';
import { isUnsent, keyHeader, modelTimeoutMs, sendToGateway } from '../../http/gateways/send-to-gateway.ts';
import { tenantEntries } from '../../http/request/schemas.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { forRequest, readContents } from './contents.ts';
import type { StoredRecord } from './entity.ts';

/** Paths of the operations whose requests can be sent again. */
const replayedPaths: Readonly<Record<string, string>> = {
  chatComplete: '/v1/chat/completions',
  complete: '/v1/completions',
  embed: '/v1/embeddings',
};

const name = v.nullish(v.pipe(v.string(), v.minLength(1, 'at least 1 character'), v.maxLength(255, 'at most 255 characters')));

/** Replacements for the config, the provider and the model of the request. */
export const replayBody = v.strictObject({ ...tenantEntries, config: name, provider: name, model: name });
type Replacements = v.InferOutput<typeof replayBody>;

export const replayReply = v.strictObject({
  object: v.literal('replay'),
  /** Trace id of the new request; finds its log. */
  trace_id: v.string(),
  /** Status and body of the gateway's reply. */
  status: v.number(),
  body: v.unknown(),
});

/** Gateway headers of the first request that are sent again. */
const repeatedHeaders = ['config', 'provider', 'virtual-key', 'strict-open-ai-compliance'] as const;

/**
 * Sends the stored request of a log again, as a request of the caller's own key: with its limits, guardrails and budget. Throws AB07 if the
 * request cannot be sent again, AB03 for a caller without an API key, and AB10 if no gateway replies.
 */
export async function replayLog(
  { em, services, actor, body: replacements, claim, release }: AdminCall<unknown, Replacements>,
  row: StoredRecord,
): Promise<v.InferOutput<typeof replayReply>> {
  const { organisationId } = actor;
  const key = await em.findOne(apiKeys, { id: actor.keyId, organisationId }, { fields: ['publicId'] });
  if (!key) throw forbidden('A replay needs an API key of the workspace; sessions and JWTs cannot replay');
  const path = replayedPaths[row.record.endpoint ?? ''];
  if (path === undefined) {
    throw conflict(`endpoint: only ${Object.keys(replayedPaths).join(', ')} can be replayed; this is ${row.record.endpoint}`);
  }
  const content = (await readContents(em, forRequest(services), organisationId, [row])).get(row.id);
  if (!content) throw conflict('request.body: no body of this request is stored (LOG_BODIES)');
  const { body, headers, omitted } = content.request;
  if (omitted !== null || !isObject(body))
    throw conflict('request.body: the stored body is not whole, so it cannot be sent again');
  const traceId = randomUUID();
  const sent = {
    [`${services.settings.headerPrefix}trace-id`]: traceId,
    ...keyHeader(services, key.publicId),
    ...routingOf(services.settings.headerPrefix, headers, row.record, replacements),
  };
  // Before the call, because a repeated request must not pay for another one, even if the first reply is lost.
  await em.transactional(claim);
  const { settings, log } = services;
  const signal = AbortSignal.timeout(modelTimeoutMs(settings));
  const text = toUnstreamed(body, replacements.model);
  const reply = await sendToGateway(settings, path, sent, text, signal).catch(async (thrown: unknown) => {
    log.warn({ reason: messageOf(thrown), traceId }, 'no gateway could replay a request');
    if (!isUnsent(thrown))
      throw new AdminError('AB10', `the gateway sent no complete reply. Log ${traceId} shows whether a provider was called`);
    await release();
    throw new AdminError('AB10', 'no gateway could replay the request. Check GATEWAY_URL and try again');
  });
  return { object: 'replay', trace_id: traceId, status: reply.status, body: reply.body };
}

/** Returns the headers that choose config and provider. A named config or provider replaces those of the first request. */
function routingOf(
  prefix: string,
  headers: Readonly<Record<string, string>>,
  { source, provider: recorded }: EarlierRecord,
  { config, provider }: Replacements,
): Record<string, string> {
  if (config || provider) {
    return { ...(config ? { [`${prefix}config`]: config } : {}), ...(provider ? { [`${prefix}provider`]: provider } : {}) };
  }
  // Clients that inserted the log called the provider themselves.
  if (source !== undefined) return recorded === null ? {} : { [`${prefix}provider`]: recorded };
  const repeated = repeatedHeaders.flatMap((each) => {
    const value = headers[prefix + each];
    return value === undefined ? [] : [[prefix + each, value] as const];
  });
  const masked = repeated.find(([, value]) => value.includes('***'));
  if (masked) throw conflict(`request.headers.${masked[0]}: contains a masked credential. Name a config or a provider`);
  return Object.fromEntries(repeated);
}

/** Replays reply with one JSON body. */
function toUnstreamed({ stream, stream_options, ...body }: JsonObject, model: string | null | undefined): string {
  return JSON.stringify(model ? { ...body, model } : body);
}
