import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import type { ListedModel, ModelList, ModelPage } from '../contract/provider/model-list.ts';
import type { OutgoingCall } from '../contract/provider/provider.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { hasTooManyValues } from '../contract/values/json/line-limits.ts';
import { hidingSender } from '../pipeline/attempt/hide-credentials.ts';
import { addClientHeaders } from '../pipeline/attempt/outgoing-call.ts';
import { errorReply, type FailedReply } from '../pipeline/attempt/plain-reply.ts';
import { readWholeReply, type WholeReply } from '../pipeline/attempt/whole-reply.ts';
import type { Dispatcher } from '../pipeline/dispatch.ts';
import { isRefusal } from '../pipeline/target/refusal.ts';
import type { ResolvedTarget } from '../pipeline/target/resolve-target.ts';
import { senderOf } from '../pipeline/target/sender-of.ts';

/** One model of a provider's own list, in OpenAI's form, with all further fields of the provider. */
export interface ProviderModel extends JsonObject {
  readonly id: string;
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
  /** Type of the provider. */
  readonly provider: string;
}

/** Thrown for an error response of a provider. `reply` is the reply of the route. */
export class ProviderRefusal extends GatewayError {
  readonly reply: FailedReply;

  constructor(reply: FailedReply) {
    const { code, status, message, retryAfterMs } = reply.error;
    super(code, { status, message, retryAfterMs: retryAfterMs ?? undefined });
    this.reply = reply;
  }
}

const replyBytesMax = 16 * 1024 * 1024;
const pagesMax = 20;

/**
 * Reads all models of a target's provider, page by page. Records one attempt in the context. Throws GatewayError:
 * `ProviderRefusal`, `upstream_invalid`, and the errors of transport and target look-up.
 */
export async function readProviderModels(ctx: RequestContext, target: Target, dispatcher: Dispatcher): Promise<ProviderModel[]> {
  const { clock } = dispatcher.services;
  const resolved = await dispatcher.resolve(ctx, target);
  const beganMs = clock.elapsed();
  const attempt = {
    targetPath: target.path,
    targetIndex: target.index,
    provider: resolved.adapter.id,
    providerSlug: resolved.slug,
  };
  ctx.provider ??= resolved.adapter.id;
  ctx.providerSlug ??= resolved.slug;
  ctx.targetPath ??= target.path;
  const settle = (error: GatewayError | null): void => {
    const durationMs = Math.max(0, clock.elapsed() - beganMs);
    const status = error?.status ?? 200;
    const result = { status, errorCode: error?.code ?? null, durationMs, firstByteMs: durationMs, ok: error === null, error };
    ctx.attempts.push({ ...attempt, ...result, retryAfterMs: error?.retryAfterMs ?? null });
  };
  try {
    const models = await readPages(ctx, target, resolved, dispatcher);
    settle(null);
    return models.map((model) => toProviderModel(model, resolved.adapter.id));
  } catch (thrown) {
    const error = toGatewayError(thrown);
    settle(error);
    if (isRefusal(error.status)) void resolved.renew?.();
    throw error;
  }
}

async function readPages(
  ctx: RequestContext,
  target: Target,
  resolved: ResolvedTarget,
  dispatcher: Dispatcher,
): Promise<ListedModel[]> {
  const list = resolved.adapter.models ?? openAiModels(resolved);
  const models: ListedModel[] = [];
  let path: string | null = list.path(resolved.settings);
  for (let page = 0; path !== null && page < pagesMax; page++) {
    const reply = await ask(ctx, target, resolved, path, dispatcher);
    if (ctx.aborted) throw new GatewayError('client_closed');
    const { models: found, nextPath }: ModelPage = list.read(parse(ctx, reply, resolved));
    models.push(...found);
    path = nextPath ?? null;
  }
  return models;
}

async function ask(
  ctx: RequestContext,
  target: Target,
  resolved: ResolvedTarget,
  path: string,
  dispatcher: Dispatcher,
): Promise<WholeReply> {
  const headers = ['accept', 'application/json', ...resolved.headers];
  addClientHeaders(ctx, target, resolved, headers, dispatcher.outgoing.prefixes);
  const call: OutgoingCall = { method: 'GET', origin: resolved.origin, path: resolved.basePath + path, headers, body: null };
  const services = resolved.slug === null ? dispatcher.sign : (dispatcher.signStored ?? dispatcher.sign);
  await resolved.adapter.sign?.(call, resolved.settings, resolved.credentials, services);
  const { connectMs, idleMs, requestMs } = dispatcher.outgoing.timeouts;
  const totalMs = ctx.requestTarget?.timeoutMs ?? target.timeoutMs ?? requestMs;
  return readWholeReply(
    hidingSender(senderOf(resolved, dispatcher.transport), resolved),
    { ...call, tenant: ctx.identity?.organisationId ?? '', timeouts: { connectMs, firstByteMs: totalMs, idleMs, totalMs } },
    replyBytesMax,
    () => new GatewayError('upstream_invalid', { message: `The list of models of ${resolved.adapter.id} is too long` }),
  );
}

function parse(ctx: RequestContext, reply: WholeReply, { adapter }: ResolvedTarget): JsonObject {
  if (reply.status < 200 || reply.status >= 300) throw new ProviderRefusal(errorReply(ctx, adapter, null, reply));
  let body: unknown = null;
  try {
    const text = Buffer.from(reply.body).toString('utf8');
    if (!hasTooManyValues(text)) body = JSON.parse(text);
  } catch {
    // Reported below.
  }
  if (isObject(body)) return body;
  // A few compatible servers (for example Together's) reply with the list alone.
  if (Array.isArray(body)) return { data: body };
  throw new GatewayError('upstream_invalid', { message: `Invalid response received from ${adapter.id}: no list of models` });
}

/** The default: `/models` with OpenAI's list. */
function openAiModels(resolved: ResolvedTarget): ModelList {
  return {
    path: (settings) => resolved.adapter.proxyPath?.('/models', settings) ?? '/models',
    read: ({ data }) => ({ models: Array.isArray(data) ? data.flatMap(openAiModel) : [] }),
  };
}

function openAiModel(item: unknown): ListedModel[] {
  if (!isObject(item) || typeof item.id !== 'string') return [];
  const created = [item.created, item.created_at].find((value) => typeof value === 'number');
  const ownedBy = [item.owned_by, item.organization].find((value) => typeof value === 'string');
  return [{ id: item.id, created: Number(created ?? 0), ownedBy: String(ownedBy ?? ''), more: item }];
}

function toProviderModel({ id, created, ownedBy, more }: ListedModel, provider: string): ProviderModel {
  return { ...more, id, object: 'model', created, owned_by: ownedBy === '' ? provider : ownedBy, provider };
}
