import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import { batchFileFields } from '../../contract/plugin/requests/batch-line.ts';
import { isSession } from '../../contract/plugin/requests/is-session.ts';
import { namesModelInMessages, startsSession } from '../../contract/plugin/requests/passed-traffic.ts';
import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { type FormPart, partText } from '../../contract/values/bodies/form.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject, objectsIn, parseObject } from '../../contract/values/json/json.ts';
import { isModelField } from '../../contract/values/models/nested-models.ts';
import {
  alternativeModels,
  furtherModels,
  hiddenModel,
  isSpelling,
  modelFields,
  notOneModel,
  requireReadableModel,
} from '../../contract/values/models/readable-models.ts';
import { percentDecoded } from '../../contract/values/text/percent-decoded.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import { shapeParams } from '../attempt/shape-params.ts';
import { paramsOfForm, parseForm } from '../request/form-data.ts';
import { isEncoded, jsonType, modelInPath } from '../request/passed-request.ts';
import type { ResolvedTarget } from './build-target.ts';

/**
 * Returns the target for the models that a request names. Throws `model_not_allowed`, or `bad_request` if the model cannot be
 * determined.
 */
export async function targetOfModel(ctx: RequestContext, target: Target, resolved: ResolvedTarget): Promise<ResolvedTarget> {
  const { ofModel } = resolved;
  if (!ofModel) return resolved;
  let chosen = resolved;
  const { adapter, restrictsModels = false } = resolved;
  if (restrictsModels) for (const model of inHeaders(ctx, adapter)) ofModel(model);
  for (const model of await namedModels(ctx, target, adapter, restrictsModels)) chosen = ofModel(model);
  return chosen;
}

/** Returns the values of the headers with which the provider chooses among several models. */
function inHeaders({ request: { headers } }: RequestContext, { modelHeaders = [] }: ProviderAdapter): string[] {
  return headers.flatMap((name, i) => (i % 2 === 0 && modelHeaders.includes(name) ? texts(headers[i + 1]) : []));
}

/**
 * Returns the models that a request names in its body, query or path. With `isRestricted`, a body must state the model that its
 * provider will read: exactly one string `model`. Providers accept different alternatives (`Model`, a list, a default of their
 * own), so everything else is refused with `bad_request`. JSON is written anew, so that the provider reads the checked value.
 */
async function namedModels(
  ctx: RequestContext,
  target: Target,
  adapter: ProviderAdapter,
  isRestricted: boolean,
): Promise<string[]> {
  if (ctx.endpoint?.operation) return inParams(ctx, target, isRestricted);
  const query = new URLSearchParams(ctx.query);
  if (isSession(ctx.endpoint, ctx.request)) {
    const asked = query.get('model');
    const shaped = texts(shapeParams(asked === null ? {} : { model: asked }, target).model);
    const beside = inQuery(query, (name) => name !== 'model');
    const names = [...shaped, ...beside, ...texts(modelInPath(ctx.endpoint?.proxyPath ?? ''))];
    if (isRestricted && namesModelInMessages(ctx.endpoint?.proxyPath ?? ''))
      throw hiddenModel(
        'model',
        'such a session names its model in its messages. Use /v1/realtime, or requests without a session',
      );
    if (isRestricted && (names.length === 0 || query.getAll('model').length > 1)) throw notOneModel('the query');
    return names;
  }
  const path = inPath(ctx, adapter);
  const elsewhere = [...inQuery(query), ...path];
  // The body must state the model of the call beside these.
  const further: string[] = [];
  const inside = await inBody(ctx, isRestricted, path.length > 0, further);
  if (isRestricted && inside.length === 0 && namesModelInBody(ctx)) throw notOneModel('the session of the body');
  const names = [...elsewhere, ...inside];
  if (isRestricted && names.length === 0 && hasBody(ctx) && !isModelFree(ctx.endpoint?.proxyPath ?? ''))
    throw notOneModel('the body');
  return [...names, ...further];
}

/** Returns the models in the query: `model`, `deployment`, `model_id`. */
function inQuery(query: URLSearchParams, isRead: (name: string) => boolean = () => true): string[] {
  return [...query].flatMap(([name, value]) => (isModelField(name) && isRead(name) ? texts(value) : []));
}

/** Returns the model of a pass-through path. Hugging Face and Replicate run the model at `/models/<owner>/<name>`, whatever the body names. */
function inPath({ endpoint, request }: RequestContext, adapter: ProviderAdapter): string[] {
  const path = endpoint?.proxyPath ?? '';
  const known = modelInPath(path) ?? (request.method === 'POST' ? (adapter.modelInPath?.(path) ?? null) : null);
  if (known !== null || request.method !== 'POST') return texts(known);
  const match = /\/models\/+(.+?)(?:\/(?:v1|pipeline|predictions)(?:\/.*)?)?$/i.exec(path);
  return match === null ? [] : texts(percentDecoded(match[1] as string));
}

/**
 * True for requests that start sessions beside the gateway. Their providers ignore a model in the address, unless the body is the offer of a
 * WebRTC call alone.
 */
function namesModelInBody({ endpoint, request }: RequestContext): boolean {
  if (endpoint?.traffic !== 'deferred' || !startsSession(endpoint.proxyPath)) return false;
  return !/^application\/sdp\b/i.test(request.header('content-type') ?? '');
}

function hasBody(ctx: RequestContext): boolean {
  return ctx.body !== null && ctx.body.length > 0;
}

/**
 * Returns true for paths whose bodies name no model and call none. Runs of a thread are not among them: their assistant has a
 * model.
 */
function isModelFree(path: string): boolean {
  return storagePath.test(path) || threadPath.test(path);
}

const storagePath = /^\/(?:files|uploads|vector_stores|containers|conversations)(?:\/|$)/;
const threadPath = /^\/threads(?:\/(?!runs$)[^/]+(?:\/messages(?:\/[^/]+)?)?)?$/;

/** Handles a shaped route. Batches are checked by the lines of their file, and bodies that are never parsed name no model. */
function inParams(ctx: RequestContext, target: Target, isRestricted: boolean): string[] {
  ctx.bodyChanged = true;
  const parts = (ctx.form ?? []).filter((part) => part.name.toLowerCase() === 'model');
  if (parts.length > 1) throw new GatewayError('bad_request', { message: 'model: given twice', param: 'model' });
  const params = shapeParams(ctx.params ?? {}, target);
  const kind = ctx.endpoint?.body ?? 'json';
  if (isRestricted && kind !== 'none' && kind !== 'stream' && !ctx.endpoint?.hasModelsInFile) {
    if (ctx.streamedForm !== null) throw hiddenModel('model', 'send a form of at most FORM_BUFFER_MAX bytes');
    if (parts.some((part) => part.filename !== null)) throw notOneModel('the form');
    requireOne(params, ['model'], 'the body');
    return [...furtherModels(params), ...namedIn(ctx, params)];
  }
  return namedIn(ctx, params);
}

function namedIn(ctx: RequestContext, params: JsonObject): string[] {
  return [...texts(params.model), ...(ctx.query === '' ? [] : inQuery(new URLSearchParams(ctx.query)))];
}

/**
 * Returns the models of a pass-through body: JSON, or a form. Adds to `further` the models that its other fields name. Throws `bad_request` if a
 * model may be hidden.
 */
async function inBody(ctx: RequestContext, isRestricted: boolean, hasModelInPath: boolean, further: string[]): Promise<string[]> {
  if (ctx.body === null || ctx.body.length === 0) return [];
  if (isEncoded(ctx)) throw hiddenModel('content-encoding', 'send the body uncompressed');
  const text = textOf(ctx.body);
  const contentType = ctx.request.header('content-type') ?? 'application/json';
  // An encoded form may be JSON as well: `{"model":"good","x":"&model=other&"}`.
  if (formType.test(contentType)) return inForm(ctx, text, contentType, isRestricted);
  const parsed = parseObject(text);
  if (parsed === null) {
    // Some providers accept what the gateway does not: UTF-16, a byte order mark, NaN.
    const isHidden = jsonType.test(contentType) || (!hasModelInPath && !mediaType.test(contentType));
    if (isRestricted && isHidden) throw notOneModel('the body, which is no JSON object');
    return [];
  }
  const path = ctx.endpoint?.proxyPath ?? '';
  if (isRestricted && makesModel.test(path)) throw hiddenModel('model', 'make models at the provider itself');
  const field = batchFileFields.find((name) => name in parsed);
  if (field !== undefined) throw hiddenModel(field, 'create the batch with POST /v1/batches');
  if (isRestricted) requireReadableModel(parsed, 'the body');
  // An agent of Mistral has a model of its own.
  if (isRestricted && 'agent_id' in parsed) throw hiddenModel('agent_id', 'name the model instead');
  const { model, modelId, requests, version } = parsed;
  const alternatives = isRestricted ? alternativeModels(parsed) : [];
  if (isRestricted) further.push(...furtherModels(parsed));
  const names = [
    ...alternatives,
    ...texts(model),
    ...texts(modelId),
    // A prediction of Replicate runs this version of any model.
    ...(/\/predictions\/*$/.test(path) ? texts(version) : []),
    ...inSessions(ctx, sessionsIn(parsed), isRestricted),
  ];
  // Requests in a batch: `params` of Anthropic, `body` of Mistral.
  for (const request of objectsIn(requests)) {
    for (const inner of [request.params, request.body]) {
      if (!isObject(inner)) continue;
      if (isRestricted) {
        requireOne(inner, modelFields, 'a request of the batch');
        names.push(...alternativeModels(inner));
      }
      names.push(...texts(inner.model), ...texts(inner.modelId));
    }
  }
  if (names.length + further.length > 0) ctx.body = Buffer.from(JSON.stringify(parsed));
  return names;
}

/** Returns the models of sessions that the body of a request for a client secret or a call describes. */
function inSessions(ctx: RequestContext, sessions: readonly unknown[], isRestricted: boolean): string[] {
  if (sessions.length === 0 || !startsSession(ctx.endpoint?.proxyPath ?? '')) return [];
  if (isRestricted && sessions.length > 1) throw notOneModel('the session of the body');
  return sessions.flatMap((session) => {
    const fields = isObject(session) ? session : {};
    if (isRestricted) requireOne(fields, ['model'], 'the session of the body');
    return texts(fields.model);
  });
}

function sessionsIn(body: JsonObject): unknown[] {
  return Object.keys(body).flatMap((name) => (isSpelling(name, ['session']) ? [body[name]] : []));
}

async function inForm(ctx: RequestContext, text: string, contentType: string, isRestricted: boolean): Promise<string[]> {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) {
    const fields = [...new URLSearchParams(text)].filter(([name]) => isModelField(name));
    if (isRestricted && (fields.length > 1 || fields.some(([name]) => name !== 'model'))) throw notOneModel('the form');
    return fields.filter(([name]) => isSpelling(name, modelFields)).map(([, value]) => value);
  }
  let parts: FormPart[] = [];
  try {
    parts = await parseForm(ctx.body as Uint8Array, contentType);
  } catch {
    throw notOneModel('the form');
  }
  const given = parts.filter((part) => isModelField(part.name));
  if (isRestricted && (given.length > 1 || given.some((part) => part.name !== 'model' || part.filename !== null))) {
    throw notOneModel('the form');
  }
  const sessions = parts.filter(({ name }) => isSpelling(name, ['session'])).map((part) => parseObject(partText(part)));
  const inside = inSessions(ctx, sessions, isRestricted);
  if (isRestricted) inside.push(...sessions.flatMap((session) => furtherModels(session ?? {})));
  const models = given.filter((part) => isSpelling(part.name.replace(/\[\]$/, ''), modelFields));
  const beside = Object.values(paramsOfForm(models)).flatMap((value) =>
    Array.isArray(value) ? value.flatMap(texts) : texts(value),
  );
  return [...beside, ...inside];
}

const formType = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const mediaType = /^(?:audio\/|video\/|image\/|application\/(?:octet-stream|sdp|pdf)\b)/i;
/** Paths of Ollama that give a model a second name. */
const makesModel = /\/api\/(?:copy|create)\/*$/;

/** Throws unless exactly one of these fields is present, as a string and in no other spelling. */
function requireOne(params: JsonObject, fields: readonly string[], where: string): void {
  requireReadableModel(params, where);
  if (!fields.some((field) => params[field] !== undefined)) throw notOneModel(where);
}

function texts(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [value] : [];
}
