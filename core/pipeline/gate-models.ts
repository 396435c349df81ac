import type { RequestContext } from '../contract/context.ts';
import type { ProviderDocument } from '../contract/documents.ts';
import { GatewayError } from '../contract/errors.ts';
import { isObject, type JsonObject } from '../contract/json.ts';
import type { Target } from '../contract/plan.ts';
import type { ResolvedTarget } from './build-target.ts';
import { modelInPath } from './passed-request.ts';
import { shapeParams } from './shape-params.ts';
import { isSession } from './socket-call.ts';

type Models = NonNullable<ProviderDocument['models']>;

interface Places {
  /** Headers by model; asked for once. */
  headers(): Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The target at another host (null: its own) with these headers. */
  at(host: string | null, headers: Readonly<Record<string, string>>): ResolvedTarget;
}

/** What `ResolvedTarget.ofModel` is for an integration whose models are restricted or have hosts and headers of their own. */
export function gateModels(made: ResolvedTarget, models: Models, places: Places): (model: string) => ResolvedTarget {
  const bySlug = new Map(models.list.map((model) => [model.slug, model]));
  const variants = new Map<string, ResolvedTarget>();
  let headers: ReturnType<Places['headers']> | null = null;
  return (model) => {
    const entry = bySlug.get(model);
    if (!(entry?.enabled ?? models.allowAll)) {
      throw new GatewayError('model_not_allowed', {
        message: `Model ${model.slice(0, 255)} is not allowed for this integration`,
        param: 'model',
      });
    }
    if (!entry) return made;
    const known = variants.get(model);
    if (known) return known;
    headers ??= places.headers();
    const own = Object.hasOwn(headers, model) ? headers[model] : undefined;
    const place = entry.customHost === null && own === undefined ? made : places.at(entry.customHost, own ?? {});
    variants.set(model, place);
    return place;
  };
}

/**
 * The place of the model that a request names: in its body, its query or its path. Throws `model_not_allowed`. A body that is JSON is
 * written anew on the way out, so that what was judged is what the provider reads.
 */
export function placeOfModel(ctx: RequestContext, target: Target, resolved: ResolvedTarget): ResolvedTarget {
  const { ofModel } = resolved;
  if (!ofModel) return resolved;
  let place = resolved;
  for (const model of namedModels(ctx, target)) place = ofModel(model);
  return place;
}

function namedModels(ctx: RequestContext, target: Target): string[] {
  if (ctx.endpoint?.operation) {
    ctx.bodyChanged = true;
    if ((ctx.form ?? []).filter((part) => part.name === 'model').length > 1) {
      throw new GatewayError('bad_request', { message: 'model: given twice', param: 'model' });
    }
    return texts(shapeParams(ctx.params ?? {}, target).model);
  }
  const query = new URLSearchParams(ctx.query);
  if (isSession(ctx)) {
    const asked = query.get('model');
    return [...texts(shapeParams(asked === null ? {} : { model: asked }, target).model), ...texts(query.get('deployment'))];
  }
  return [...texts(query.get('model')), ...texts(modelInPath(ctx.endpoint?.proxyPath ?? '')), ...inBody(ctx)];
}

/** Fields of a pass-through body that make a batch of a file, in the words of one provider or another. */
const batchFields = ['input_file_id', 'input_files', 'input_blob', 'input_dataset_id', 'inputDataConfig', 'inputConfig'] as const;

/** The models of a pass-through body that is at hand: JSON, or a form. Throws `bad_request` for what hides them. */
function inBody(ctx: RequestContext): string[] {
  if (ctx.body === null || ctx.body.length === 0) return [];
  const encoding = ctx.request.header('content-encoding');
  if (encoding !== undefined && encoding !== 'identity') throw hidden('content-encoding', 'send the body as it is');
  const text = Buffer.from(ctx.body.buffer, ctx.body.byteOffset, ctx.body.byteLength).toString('utf8');
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [...text.matchAll(/name="?model"?\r?\n(?:[^\r\n]+\r?\n)*\r?\n([^\r\n]+)/g)].map((match) => match[1] as string);
  }
  if (!isObject(parsed)) return [];
  const field = batchFields.find((name) => name in (parsed as JsonObject));
  if (field !== undefined) throw hidden(field, 'make the batch at POST /v1/batches');
  const { model, modelId, requests } = parsed as JsonObject;
  const names = [...texts(model), ...texts(modelId)];
  // Batches that hold their requests: `params` of Anthropic, `body` of Mistral.
  for (const request of Array.isArray(requests) ? requests.filter(isObject) : []) {
    for (const inner of [request.params, request.body]) if (isObject(inner)) names.push(...texts(inner.model));
  }
  if (names.length > 0) ctx.body = Buffer.from(JSON.stringify(parsed));
  return names;
}

function hidden(param: string, remedy: string): GatewayError {
  return new GatewayError('bad_request', {
    message: `${param}: models are restricted here and cannot be checked in this request; ${remedy}`,
    param,
  });
}

function texts(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [value] : [];
}
