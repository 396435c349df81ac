import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import { modelsInHeaders } from '../../core/contract/plugin/requests/models-in-headers.ts';
import { metadataPrefix } from '../../core/contract/protocol/limits/policies.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../../core/contract/values/json/json.ts';
import { storableText } from '../../core/contract/values/json/storable-json.ts';
import { furtherModels, hiddenModel, modelsNamed } from '../../core/contract/values/models/readable-models.ts';

/** A call of a target, of an MCP tool or of an agent, as far as policies look at it. */
export interface PolicyCall {
  readonly ctx: RequestContext;
  /** Null for tools and agents. */
  readonly target: Target | null;
  /** Row id of the stored provider; null if the request brings the provider with its credentials. */
  readonly providerId: string | null;
  /** A model that the provider may call besides that of the target. Absent: the target's. */
  readonly model?: string;
}

/** Reads the value of one key of conditions and groups. */
export interface KeyReader {
  /** The value in counters; null if the call has none. */
  read(call: PolicyCall): string | null;
  /** A second name of the same value that conditions may use: a slug beside the id. */
  alias?(call: PolicyCall): string | null;
  /** True if conditions whose value ends in `/*` match by their beginning. */
  readonly hasPrefixes?: true;
}

/** Readers by key. A key that is absent here has no value in any call, so policies that name it match nothing. */
const readers: Readonly<Record<string, KeyReader>> = {
  api_key: { read: ({ ctx }) => ctx.identity?.keyId ?? null },
  virtual_key: { read: ({ providerId }) => providerId, alias: ({ ctx }) => ctx.providerSlug },
  provider: { read: ({ ctx }) => ctx.provider },
  config: { read: ({ ctx }) => ctx.configSlug, alias: ({ ctx }) => ctx.configChoice?.document?.id ?? null },
  prompt: { read: (call) => promptIn(call)?.slug ?? null, alias: (call) => promptIn(call)?.id ?? null },
  model: { read: modelIn, hasPrefixes: true },
  endpoint_type: { read: ({ ctx }) => ctx.endpoint?.name ?? null },
  workspace_id: { read: ({ ctx }) => ctx.identity?.workspaceId ?? null, alias: ({ ctx }) => ctx.workspace?.slug ?? null },
  mcp_server: { read: ({ ctx }) => ctx.mcp?.serverId ?? null, alias: ({ ctx }) => ctx.mcp?.server ?? null },
  mcp_tool: { read: ({ ctx }) => ctx.mcp?.name ?? null },
  agent_server: { read: ({ ctx }) => ctx.agent?.serverId ?? null, alias: ({ ctx }) => ctx.agent?.server ?? null },
  organisation_id: { read: ({ ctx }) => ctx.identity?.organisationId ?? null },
};

const absent: KeyReader = { read: () => null };

/**
 * Returns the reader of a key; `metadata.<name>` reads the metadata of the request. The ledger cannot hold every text that callers send: one such
 * counter would fail all leases that are asked for with it.
 */
export function readerOf(key: string): KeyReader {
  const name = metadataNameOf(key);
  const reader = name === null ? (readers[key] ?? absent) : metadataReader(name);
  return {
    ...reader,
    read(call) {
      const value = reader.read(call);
      return value === null ? null : storableText(value);
    },
  };
}

function metadataReader(name: string): KeyReader {
  return { read: ({ ctx }) => (Object.hasOwn(ctx.metadata, name) ? (ctx.metadata[name] ?? null) : null) };
}

/** Returns `<name>` of `metadata.<name>`; null for other keys. */
export function metadataNameOf(key: string): string | null {
  return key.startsWith(metadataPrefix) ? key.slice(metadataPrefix.length) : null;
}

/** Returns the model that the target will be asked for: its own override, else the model of the request. */
export function modelOf(ctx: RequestContext, target: Target): string | null {
  // Overrides do not change pass-through bytes.
  const forced = ctx.passed === null ? target.overrideParams?.model : null;
  if (typeof forced === 'string') return forced;
  // `ctx.model` is that of the last attempt.
  const sent = ctx.params?.model;
  return typeof sent === 'string' ? sent : ctx.model;
}

/** Places of models that only some providers read. */
export type ModelLocations = Pick<CoreServices, 'modelHeaders' | 'modelsInBody'>;

/**
 * Returns the models that the provider may call besides that of the target. Throws `bad_request` if they cannot be read, and `body_too_large`
 * for a pass-through body that is too long to be read.
 */
export function modelsBeside(ctx: RequestContext, { modelHeaders, modelsInBody }: ModelLocations): string[] {
  const { params } = ctx;
  const selected = modelsInHeaders(ctx.request, modelHeaders);
  // A model that the target sets replaces this `model`, but no other spelling of it.
  if (params) {
    const isOne = typeof params.model === 'string';
    return [...selected, ...furtherModels(params), ...modelsNamed(params, (name) => name !== 'model' || !isOne)];
  }
  const passed = ctx.passed && passedBody(ctx);
  if (!passed) return selected;
  const ofOneProvider = modelsInBody(ctx.endpoint?.proxyPath ?? '', passed);
  return [...selected, ...ofOneProvider, ...furtherModels(passed), ...modelsNamed(passed)];
}

function passedBody({ request, body }: RequestContext): JsonObject | null {
  if (request.body.length === 0) return null;
  const encoding = request.header('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw hiddenModel('content-encoding', 'send the body uncompressed');
  if (body !== null) return parseObject(body);
  if (textTypes.test(request.header('content-type') ?? 'application/json')) throw new GatewayError('body_too_large');
  return null;
}

const textTypes = /^(?:text\/|application\/([\w.+-]+\+)?json\b)/i;

/** Returns the prompt of the target, else that of the path; null for requests without a prompt. */
function promptIn({ ctx: { prompt }, target }: PolicyCall): { readonly id: string; readonly slug: string } | null {
  if (prompt === null) return null;
  return (target && prompt.byTarget?.get(target.index)) ?? prompt.used;
}

/** `@<provider type>/<model>`, as conditions name models. */
function modelIn({ ctx, target, model: beside }: PolicyCall): string | null {
  if (target === null) return null;
  const model = beside ?? modelOf(ctx, target);
  return model === null || ctx.provider === null ? null : `@${ctx.provider}/${model}`;
}
