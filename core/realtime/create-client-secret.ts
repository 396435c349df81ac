import * as v from 'valibot';
import { RequestContext } from '../contract/plugin/context.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { invalidBody } from '../contract/values/errors/invalid-body.ts';
import { credentialHeaders } from '../contract/values/http/credential-headers.ts';
import { findHeader, type HeaderList, type InboundRequest } from '../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { maskPasswords } from '../contract/values/text/mask-credentials.ts';
import { chooseConfig } from '../pipeline/plan/choose-config.ts';
import { isGatewayHeader, readGatewayHeaders } from '../pipeline/request/gateway-headers.ts';
import { adoptPlan, type PipelineOptions } from '../pipeline/run.ts';

/** valibot accepts a list as a record of its indexes, so lists are rejected here. */
const object = v.custom<JsonObject>(isObject, 'must be an object');
const seconds = { default: 600, least: 10, most: 7200 } as const;
const expiry = v.nullish(
  v.strictObject({
    anchor: v.optional(v.literal('created_at')),
    seconds: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(seconds.least), v.maxValue(seconds.most)), seconds.default),
  }),
);
const question = v.strictObject({ expires_after: expiry, session: v.nullish(object) });
/** The older routes take the session itself. */
const olderQuestion = v.looseObject({ client_secret: v.nullish(v.strictObject({ expires_after: expiry })) });

/** Longer secrets do not fit into the header of a handshake. Its default limit is 64 KiB. */
const secretCharsMax = 32 * 1024;

interface Asked {
  readonly session: JsonObject;
  readonly lifeSeconds: number;
  readonly isTranscription: boolean;
  readonly isOlder: boolean;
}

/**
 * Serves `POST /v1/realtime/client_secrets` and its older names: returns a secret with which a browser opens sessions at `/v1/realtime`,
 * as if the caller did. Calls no provider. Throws the error that the config of such a session would cause.
 */
export async function createClientSecret(options: PipelineOptions, ctx: RequestContext): Promise<Reply> {
  const { clientSecrets, services } = options;
  if (!clientSecrets) throw new GatewayError('internal', { detail: 'there are no client secrets' });
  const asked = read(ctx);
  const headers = ownHeaders(options, ctx.request.headers);
  const query = queryOf(asked);
  await checkConfig(options, ctx, headers, query);
  const expiresAt = Math.floor(services.clock.now() / 1000) + asked.lifeSeconds;
  const value = clientSecrets.seal({ headers, query, firstMessage: firstMessageOf(asked), expiresAtMs: expiresAt * 1000 });
  if (value.length > secretCharsMax) {
    throw new GatewayError('bad_request', {
      message: `session: too long for a client secret, which would have ${value.length} characters of at most ${secretCharsMax}. Send the rest with session.update`,
      param: 'session',
    });
  }
  const shown = shownSession(ctx, asked);
  const body = asked.isOlder
    ? { ...shown, client_secret: { value, expires_at: expiresAt } }
    : { value, expires_at: expiresAt, session: shown };
  return { status: 200, headers: ['content-type', 'application/json', 'cache-control', 'no-store'], body: JSON.stringify(body) };
}

function read(ctx: RequestContext): Asked {
  const name = ctx.endpoint?.name;
  const isOlder = name !== 'createClientSecret';
  const { expires_after: life, session } = isOlder ? readOlder(ctx) : parse(question, ctx);
  const asked = session ?? {};
  const isTranscription = asked.type === 'transcription' || name === 'createTranscriptionSession';
  const { model } = asked;
  // A half of a surrogate pair cannot be part of an address.
  if (!isTranscription && (typeof model !== 'string' || model === '' || /\p{Surrogate}/u.test(model))) {
    const param = isOlder ? 'model' : 'session.model';
    throw new GatewayError('bad_request', {
      message: `${param}: expected the model of the session, because holders of the client secret cannot choose it`,
      param,
    });
  }
  return { session: asked, lifeSeconds: life?.seconds ?? seconds.default, isTranscription, isOlder };
}

function readOlder(ctx: RequestContext): v.InferOutput<typeof question> {
  const { client_secret: secret, ...session } = parse(olderQuestion, ctx);
  return { expires_after: secret?.expires_after, session };
}

function parse<Schema extends v.GenericSchema>(schema: Schema, { params }: RequestContext): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, params);
  if (parsed.success) return parsed.output;
  throw invalidBody(parsed.issues, schema);
}

/**
 * Returns the headers that decide about the session: those of the gateway, credentials, those of OpenAI, and those that become metadata. The
 * holder of the secret may not read the route of the config, which `debug-route` would add to the reply.
 */
function ownHeaders({ prefixes, services }: PipelineOptions, sent: HeaderList): HeaderList {
  const metadata = services.headersToMetadata?.names ?? [];
  const isOwn = (name: string): boolean =>
    (isGatewayHeader(name, prefixes) && !prefixes.some((prefix) => name === `${prefix}debug-route`)) ||
    credentialHeaders.has(name) ||
    name === 'x-goog-api-key' ||
    name.startsWith('openai-') ||
    metadata.includes(name);
  const headers: HeaderList = [];
  for (let i = 0; i < sent.length; i += 2) if (isOwn(sent[i] as string)) headers.push(sent[i] as string, sent[i + 1] as string);
  return headers;
}

function queryOf({ session, isTranscription }: Asked): string {
  return isTranscription ? 'intent=transcription' : `model=${encodeURIComponent(String(session.model))}`;
}

/** Chooses the config of the session that the secret opens, because a browser does not show the error of a handshake. */
async function checkConfig(options: PipelineOptions, ctx: RequestContext, headers: HeaderList, query: string): Promise<void> {
  const endpoint = options.match('GET', '/v1/realtime');
  const { values, prefix } = readGatewayHeaders(headers, options.prefixes);
  const { body, remoteAddress, country = null } = ctx.request;
  const request: InboundRequest = {
    ...{ method: 'GET', path: '/v1/realtime', query, headers, remoteAddress, country, body },
    header: (name) => findHeader(headers, name),
  };
  const session = new RequestContext({
    ...{ id: ctx.id, receivedAtMs: ctx.receivedAtMs, request, gatewayHeaders: values, headerPrefix: prefix },
    ...{ endpoint: typeof endpoint === 'string' ? null : endpoint, plan: options.plans.base, traceId: ctx.traceId },
  });
  session.identity = ctx.identity;
  session.keyHeader = ctx.keyHeader;
  session.token = ctx.token;
  await chooseConfig(options, session);
  await adoptPlan(session, options);
}

/** Returns the event that applies the settings, in the format of the route that took them. Providers take the model from the address. */
function firstMessageOf({ session, isTranscription, isOlder }: Asked): string | null {
  const { model, ...others } = session;
  const settings = isTranscription ? session : others;
  if (Object.keys(settings).every((name) => name === 'type')) return null;
  return JSON.stringify({
    type: isTranscription && isOlder ? 'transcription_session.update' : 'session.update',
    session: settings,
  });
}

/** Returns the session as the caller has described it. Callers pass it on to browsers, so credentials of tools are left out. */
function shownSession({ id }: RequestContext, { session, isTranscription, isOlder }: Asked): JsonObject {
  const type = isTranscription ? 'transcription' : 'realtime';
  const { tools } = session;
  return {
    ...{ id: `sess_${id}`, object: isTranscription ? 'realtime.transcription_session' : 'realtime.session' },
    ...(isOlder ? {} : { type }),
    ...session,
    ...(Array.isArray(tools) ? { tools: tools.map(withoutCredentials) } : {}),
  };
}

function withoutCredentials(tool: unknown): unknown {
  if (!isObject(tool)) return tool;
  const { authorization: _, headers: __, ...shown } = tool;
  const { server_url: url } = shown;
  return typeof url === 'string' ? { ...shown, server_url: maskPasswords(url) } : shown;
}
