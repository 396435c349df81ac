import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { WorkspaceModelsDocument } from '../contract/protocol/documents.ts';
import { defaultPrefix } from '../contract/protocol/header-names.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import type { Maybe } from '../contract/values/maybe.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import type { Dispatcher } from '../pipeline/dispatch.ts';
import { anthropicList, anthropicModel } from './anthropic-list.ts';
import { type CatalogueModel, catalogueModels } from './catalogue.ts';
import { pickModels } from './catalogue-query.ts';
import { readModel } from './one-model.ts';
import { type ProviderModel, ProviderRefusal, readProviderModels } from './provider-models.ts';

/**
 * Serves `GET /models`, and `GET /models/@<slug>/<model>` with one model. Returns the workspace's catalogue if neither headers nor
 * config name a provider, or if `fetch_integrated_models` is set. Otherwise returns the lists of the named providers, in OpenAI's
 * form. With the header `anthropic-version` the reply has Anthropic's form. An error response of a provider is the reply. Throws all other errors
 * of look-ups and providers.
 */
export async function listModels(ctx: RequestContext, dispatcher: Dispatcher): Promise<AttemptReply> {
  try {
    return { kind: 'replaced', reply: await listReply(ctx, dispatcher) };
  } catch (thrown) {
    if (thrown instanceof ProviderRefusal) return thrown.reply;
    throw thrown;
  }
}

async function listReply(ctx: RequestContext, dispatcher: Dispatcher): Promise<Reply> {
  const isAnthropic = ctx.request.header('anthropic-version') !== undefined;
  const id = ctx.endpoint?.pathParams?.model;
  if (id !== undefined) {
    const model = await readModel(ctx, id, await catalogueOf(ctx, dispatcher), dispatcher);
    return jsonReply(isAnthropic ? anthropicModel(model) : { ...model });
  }
  const named = targetsByProvider(ctx);
  const fromCatalogue = named.size === 0 || asksForCatalogue(ctx);
  const list = fromCatalogue
    ? await readCatalogue(ctx, named, dispatcher, isAnthropic)
    : await readUpstream(ctx, named, dispatcher);
  return jsonReply(isAnthropic ? anthropicList(list.models, new URLSearchParams(ctx.query)) : openAiList(list));
}

function jsonReply(body: JsonObject): Reply {
  return { status: 200, headers: ['content-type', 'application/json'], body: JSON.stringify(body) };
}

interface ModelList {
  readonly models: readonly (CatalogueModel | ProviderModel)[];
  /** Number of all matches, before `limit` and `offset`. */
  readonly total: number;
}

/** The first target of each named provider. A target without a provider counts if the request names one. */
function targetsByProvider(ctx: RequestContext): Map<string, Target> {
  const named = new Map<string, Target>();
  for (const target of ctx.plan.targets) {
    const provider = target.provider ?? ctx.requestTarget?.provider ?? null;
    if (provider !== null && !named.has(provider)) named.set(provider, target);
  }
  return named;
}

function asksForCatalogue(ctx: RequestContext): boolean {
  for (const name of ['fetch-integrated-models', 'models-endpoint']) {
    const value = ctx.gatewayHeaders.get(name);
    if (value === undefined || value === '') continue;
    if (value === 'true' || value === 'false') return value === 'true';
    const param = defaultPrefix + name;
    throw new GatewayError('bad_request', { message: `${param}: expected true or false`, param });
  }
  return ctx.plan.config.fetch_integrated_models === true;
}

async function readCatalogue(
  ctx: RequestContext,
  named: ReadonlyMap<string, Target>,
  dispatcher: Dispatcher,
  isAnthropic: boolean,
): Promise<ModelList> {
  // A provider named by its type has no catalogue in the workspace.
  const isOpen = [...named.keys()].some((name) => !name.startsWith('@'));
  const slugs = isOpen || named.size === 0 ? null : new Set([...named.keys()].map((name) => name.slice(1)));
  const query = new URLSearchParams(ctx.query);
  // `anthropicList` applies this limit, because it also depends on `after_id` and `before_id`.
  if (isAnthropic) query.delete('limit');
  return pickModels(catalogueModels(await catalogueOf(ctx, dispatcher), slugs), query);
}

function catalogueOf(ctx: RequestContext, dispatcher: Dispatcher): Maybe<WorkspaceModelsDocument | null> {
  return dispatcher.services.documents.get('workspace-models', ctx.identity?.workspaceId ?? '');
}

/** Reads all lists at the same time. A failed one is left out if another succeeds. If all fail, the first error is thrown. */
async function readUpstream(ctx: RequestContext, named: ReadonlyMap<string, Target>, dispatcher: Dispatcher): Promise<ModelList> {
  const replies = await Promise.allSettled([...named.values()].map((target) => readProviderModels(ctx, target, dispatcher)));
  const models: ProviderModel[] = [];
  let failure: unknown = null;
  for (const reply of replies) {
    if (reply.status === 'fulfilled') models.push(...reply.value);
    else failure ??= reply.reason;
  }
  if (failure !== null && replies.every((reply) => reply.status === 'rejected')) throw failure;
  if (failure !== null) ctx.replyHeaders.push(`${ctx.headerPrefix}incomplete`, 'true');
  return { models, total: models.length };
}

function openAiList({ models, total }: ModelList): JsonObject {
  return { object: 'list', total_count: total, data: models };
}
