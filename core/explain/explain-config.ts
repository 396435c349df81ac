import * as v from 'valibot';
import { RequestContext } from '../contract/plugin/context.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { Endpoint } from '../contract/plugin/requests/endpoint.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { invalidBody } from '../contract/values/errors/invalid-body.ts';
import { findHeader, type HeaderList, type InboundRequest } from '../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { encode } from '../pipeline/attempt/outgoing-body.ts';
import { chooseConfig } from '../pipeline/plan/choose-config.ts';
import { asksForStream } from '../pipeline/request/asks-for-stream.ts';
import { readGatewayHeaders } from '../pipeline/request/gateway-headers.ts';
import { adoptPlan, type PipelineOptions } from '../pipeline/run.ts';
import { explainRoute } from './explain-route.ts';

const text = (most: number) => v.pipe(v.string(), v.maxLength(most));

/** valibot accepts a list as a record of its indexes, so lists are rejected here. */
const object = v.custom<JsonObject>(isObject, 'must be an object');

const question = v.strictObject({
  /** Slug of a saved config, or a config. Absent: the config for requests of this key without the config header. */
  config: v.optional(v.union([v.pipe(text(255), v.minLength(1)), object], 'the slug of a config or a config is expected')),
  request: v.optional(
    v.strictObject({
      method: v.optional(v.pipe(v.string(), v.regex(/^[A-Z]{3,7}$/)), 'POST'),
      /** With its query. */
      path: v.optional(v.pipe(text(2048), v.regex(/^\/v1\/[!-~]+$/, 'must begin with /v1/')), '/v1/chat/completions'),
      headers: v.optional(v.record(v.pipe(text(128), v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)), text(8192)), {}),
      metadata: v.optional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]))),
      /** Parameters as they are sent; text fields if the route takes a form. */
      body: v.optional(object, {}),
    }),
    {},
  ),
});

/**
 * Serves `POST /v1/configs/explain`: builds the described request, resolves its config as for a sent request, and returns its
 * route. Calls no provider. Throws the error that such a request would get, and `forbidden` if the key may not see saved configs.
 */
export async function explainConfig(options: PipelineOptions, asking: RequestContext): Promise<Reply> {
  if (asking.requestBytes > questionBytesMax) {
    const message = `Payload size exceeds the limit: at most ${questionBytesMax} bytes. Send a shorter prompt; it takes the same route`;
    throw new GatewayError('body_too_large', { message });
  }
  const parsed = v.safeParse(question, asking.params);
  if (!parsed.success) throw invalidBody(parsed.issues, question);
  const ctx = contextOf(options, asking, parsed.output);
  await chooseConfig(options, ctx);
  await adoptPlan(ctx, options);
  if (ctx.plan.slug !== null && !asking.identity?.scopes.has('configs.read')) {
    throw new GatewayError('forbidden', {
      message: 'Forbidden! The API key requires the scope configs.read to read a saved config',
    });
  }
  const body = JSON.stringify(await explainRoute(ctx, options.dispatcher));
  return { status: 200, headers: ['content-type', 'application/json'], body };
}

/**
 * Maximum size of an explain request. It is below that of a normal request, because parameters are shaped once for each target.
 */
const questionBytesMax = 1024 * 1024;

type Question = v.InferOutput<typeof question>;

function contextOf(options: PipelineOptions, asking: RequestContext, { config, request }: Question): RequestContext {
  const [path, query = ''] = request.path.split(/\?(.*)/s) as [string, string?];
  const endpoint = options.match(request.method, path);
  if (typeof endpoint === 'string' || endpoint.routing !== undefined || endpoint.isPrompt) {
    throw new GatewayError('bad_request', {
      message: `request.path: ${request.method} ${path.slice(0, 200)} is not sent to a provider by a config`,
      param: 'request.path',
    });
  }
  const inbound = inboundOf(options, request, path, query, config);
  const { values, prefix } = readGatewayHeaders(inbound.headers, options.prefixes);
  const ctx = new RequestContext({
    id: asking.id,
    receivedAtMs: asking.receivedAtMs,
    request: inbound,
    gatewayHeaders: values,
    headerPrefix: prefix,
    endpoint,
    plan: options.plans.base,
    traceId: asking.traceId,
  });
  ctx.startedAtMs = asking.startedAtMs;
  ctx.identity = asking.identity;
  if (endpoint.operation) takeParams(ctx, endpoint, request.body);
  else ctx.passedParams = request.body;
  return ctx;
}

function takeParams(ctx: RequestContext, endpoint: Endpoint, body: JsonObject): void {
  const hasBody = endpoint.body !== 'none' && endpoint.body !== 'stream';
  const params = hasBody ? body : {};
  ctx.setParams(params);
  ctx.body = encode(params);
  ctx.stream = asksForStream(params, false);
}

function inboundOf(
  options: PipelineOptions,
  request: Question['request'],
  path: string,
  query: string,
  config: Question['config'],
): InboundRequest {
  const prefix = options.prefixes[0] as string;
  const headers: HeaderList = [];
  // These come first, because the first of repeated headers counts: the described headers cannot override them.
  if (config !== undefined) headers.push(`${prefix}config`, wire(typeof config === 'string' ? config : JSON.stringify(config)));
  if (request.metadata) headers.push(`${prefix}metadata`, wire(JSON.stringify(request.metadata)));
  for (const [name, value] of Object.entries(request.headers)) headers.push(name.toLowerCase(), wire(value));
  return {
    method: request.method,
    path,
    query,
    headers,
    header: (name) => findHeader(headers, name),
    remoteAddress: '127.0.0.1',
    body: {
      length: 0,
      bytes: async () => new Uint8Array(0),
      pipe: () => {
        throw new GatewayError('internal', { detail: 'the body of an explained request cannot be piped' });
      },
    },
  };
}

/** Returns the UTF-8 bytes of a text as latin1, which is the form of header values at the edge. */
function wire(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}
