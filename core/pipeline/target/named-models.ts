import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Target } from '../../contract/plugin/plan.ts';
import { isSession } from '../../contract/plugin/requests/is-session.ts';
import { modelsInHeaders } from '../../contract/plugin/requests/models-in-headers.ts';
import { namesModelInMessages, startsSession } from '../../contract/plugin/requests/passed-traffic.ts';
import { shapeParams } from '../../contract/plugin/requests/shape-params.ts';
import type { ModelSources } from '../../contract/provider/model-sources.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { isModelField } from '../../contract/values/models/nested-models.ts';
import { furtherModels, hiddenModel, notOneModel } from '../../contract/values/models/readable-models.ts';
import type { InTurns } from '../request/form-data.ts';
import { modelInPath } from '../request/passed-model.ts';
import type { ResolvedTarget } from './build-target.ts';
import { modelsInBody, noModels, requireOne } from './models-in-body.ts';

/**
 * Returns the target for the models that a request names. Throws `model_not_allowed`, or `bad_request` if the model cannot be
 * determined.
 */
export async function targetOfModel(ctx: RequestContext, target: Target, resolved: ResolvedTarget): Promise<ResolvedTarget> {
  const { ofModel } = resolved;
  if (!ofModel) return resolved;
  let chosen = resolved;
  const { restrictsModels = false } = resolved;
  const { modelSources = {} } = resolved.adapter;
  if (restrictsModels) for (const model of modelsInHeaders(ctx.request, modelSources.headers ?? [])) ofModel(model);
  for (const model of await namedModels(ctx, target, modelSources, restrictsModels)) chosen = ofModel(model);
  return chosen;
}

/**
 * Returns the models that a request names in its body, query or path. With `isRestricted`, a body must state the model that its
 * provider will read: exactly one string `model`. Providers accept different alternatives (`Model`, a list, a default of their
 * own), so everything else is refused with `bad_request`.
 */
async function namedModels(ctx: RequestContext, target: Target, sources: ModelSources, isRestricted: boolean): Promise<string[]> {
  if (ctx.endpoint?.operation) return inParams(ctx, target, isRestricted);
  if (isSession(ctx.endpoint, ctx.request)) return ofSession(ctx, target, isRestricted);
  const inPath = modelOfPath(ctx, sources, isRestricted);
  const inAddress = [...inQuery(new URLSearchParams(ctx.query)), ...inPath];
  const { body: bytes, request } = ctx;
  const path = ctx.endpoint?.proxyPath ?? '';
  const hasBody = bytes !== null && bytes.length > 0;
  const inTurns: InTurns = (steps) => ctx.inTurns(steps);
  const passed = { request, path, hasModelInPath: inPath.length > 0, inTurns };
  const { called, further, json } = hasBody ? await modelsInBody({ ...passed, bytes }, sources, isRestricted) : noModels;
  // The provider then reads the checked value.
  if (json !== null && called.length + further.length > 0) ctx.body = Buffer.from(JSON.stringify(json));
  if (isRestricted && called.length === 0 && namesModelInBody(ctx)) throw notOneModel('the session of the body');
  const names = [...inAddress, ...called];
  if (isRestricted && names.length === 0 && hasBody && !isModelFree(path)) throw notOneModel('the body');
  return [...names, ...further];
}

/** Returns the models in the address of a WebSocket session. */
function ofSession(ctx: RequestContext, target: Target, isRestricted: boolean): string[] {
  const path = ctx.endpoint?.proxyPath ?? '';
  const query = new URLSearchParams(ctx.query);
  const asked = query.get('model');
  const shaped = texts(shapeParams(asked === null ? {} : { model: asked }, target).model);
  const beside = inQuery(query, (name) => name !== 'model');
  const names = [...shaped, ...beside, ...texts(modelInPath(path))];
  if (isRestricted && namesModelInMessages(path))
    throw hiddenModel('model', 'such a session names its model in its messages. Use /v1/realtime, or requests without a session');
  if (isRestricted && (names.length === 0 || query.getAll('model').length > 1)) throw notOneModel('the query');
  return names;
}

/** Returns the models in the query: `model`, `deployment`, `model_id`. */
function inQuery(query: URLSearchParams, isRead: (name: string) => boolean = () => true): string[] {
  return [...query].flatMap(([name, value]) => (isModelField(name) && isRead(name) ? texts(value) : []));
}

/** Returns the model of a pass-through path. Throws `bad_request` for a path of a model whose name and function cannot be told apart. */
function modelOfPath({ endpoint, request }: RequestContext, sources: ModelSources, isRestricted: boolean): string[] {
  const path = endpoint?.proxyPath ?? '';
  if (request.method !== 'POST') return texts(modelInPath(path));
  const model = sources.inPath?.(path) ?? modelInPath(path);
  if (model === null && isRestricted && /\/models\/+[^/]/i.test(path))
    throw hiddenModel('model', 'name the model in the body of another path');
  return texts(model);
}

/**
 * True for requests that start sessions beside the gateway. Their providers ignore a model in the address, unless the body is the offer of a
 * WebRTC call alone.
 */
function namesModelInBody({ endpoint, request }: RequestContext): boolean {
  if (endpoint?.traffic !== 'deferred' || !startsSession(endpoint.proxyPath)) return false;
  return !/^application\/sdp\b/i.test(request.header('content-type') ?? '');
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

function texts(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [value] : [];
}
