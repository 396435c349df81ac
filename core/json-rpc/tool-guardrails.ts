import type { Identity, RequestContext } from '../contract/plugin/context.ts';
import { ruleOfSaved } from '../contract/plugin/guardrails/guardrail-config.ts';
import type { CompiledToolGuardrail, ToolGuard, ToolSide } from '../contract/plugin/guardrails/tool-guard.ts';
import type { GuardrailDocument, WorkspaceDocument } from '../contract/protocol/documents.ts';
import type { McpServerDocument } from '../contract/protocol/mcp/mcp.ts';
import { metaOfProtocol } from '../contract/protocol/mcp/mcp-meta.ts';
import { isEmptyObject, isObject, type JsonObject } from '../contract/values/json/json.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { loadToolGuardrails, type OpenGuardrail } from '../pipeline/plan/saved-guardrails.ts';
import type { PipelineOptions } from '../pipeline/run.ts';
import { type ClientMessage, guardrailDenied, RpcError, type RpcId } from './messages.ts';

/** The guardrails of one call of a tool. */
export interface ToolChecks {
  /** Returns the message with its changed arguments; the same message if they did not change. Throws RpcError -32446. */
  checkArguments(message: ClientMessage): Maybe<ClientMessage>;
  /** The same for replies to questions of the server, in `inputResponses`, without the checks that demand a form. */
  checkReplies(message: ClientMessage): Maybe<ClientMessage>;
  /** The same for a message that calls no tool: all its parameters but those of the protocol, without the checks that demand a form. */
  checkParams(message: ClientMessage): Maybe<ClientMessage>;
  /** Returns the result after all changes; null: results pass unread. The function throws RpcError -32446. */
  readonly checkResult: ((id: RpcId | null, result: JsonObject) => Maybe<JsonObject>) | null;
  /** The same for what is no result of a tool, without the checks that demand a form of it. */
  readonly checkOther: ToolChecks['checkResult'];
}

export interface ToolGuardrails {
  /** True if calls of some tools of the server have guardrails. */
  exist(ctx: RequestContext, server: McpServerDocument): boolean;
  /**
   * Returns the guardrails of a call, those of the workspace before those of the server; null: there are none. Throws GatewayError
   * `invalid_config` if one of them does not exist: a call never runs without one of its guardrails. `tool` null: those of all tools.
   */
  of(ctx: RequestContext, server: Pick<McpServerDocument, 'guardrails'>, tool: string | null): Maybe<ToolChecks | null>;
}

type ToolDefaults = WorkspaceDocument['toolGuardrails'];

type Documents = PipelineOptions['services']['documents'];

/** `defaultsOf` returns the guardrails that run on every call of a workspace. */
export function createToolGuardrails(
  guard: ToolGuard,
  openGuardrail: OpenGuardrail,
  documents: Documents,
  defaultsOf: (ctx: RequestContext) => ToolDefaults = ({ workspace }) => workspace?.toolGuardrails,
): ToolGuardrails {
  const compiled = { input: new Compiled(guard, openGuardrail, 'input'), output: new Compiled(guard, openGuardrail, 'output') };
  return {
    exist: (ctx, { guardrails = [] }) => {
      const { input = [], output = [] } = defaultsOf(ctx) ?? {};
      return guardrails.length + input.length + output.length > 0;
    },
    of(ctx, server, tool) {
      const defaults = defaultsOf(ctx);
      const input = namesOf('input', defaults, server, tool);
      const output = namesOf('output', defaults, server, tool);
      const all = [...input];
      for (const name of output) if (!input.includes(name)) all.push(name);
      if (all.length === 0) return null;
      const conclude = (found: readonly GuardrailDocument[]): ToolChecks => {
        const ofSide = (side: ToolSide, names: readonly string[]) =>
          names.map((name) => compiled[side].of(found[all.indexOf(name)] as GuardrailDocument));
        return checksOf(guard, ctx, ofSide('input', input), ofSide('output', output));
      };
      const loaded = loadToolGuardrails(documents, ctx.identity as Identity, all);
      return isPromise(loaded) ? loaded.then(conclude) : conclude(loaded);
    },
  };
}

/** Names of the guardrails of one side, each once. */
function namesOf(
  side: ToolSide,
  defaults: ToolDefaults,
  { guardrails = [] }: Pick<McpServerDocument, 'guardrails'>,
  tool: string | null,
): readonly string[] {
  const names: string[] = [];
  for (const name of defaults?.[side] ?? []) if (!names.includes(name)) names.push(name);
  for (const one of guardrails) {
    if (one[side] && (one.tools === null || tool === null || one.tools.includes(tool)) && !names.includes(one.id))
      names.push(one.id);
  }
  return names;
}

/** Guardrails of one side. Each version is compiled once. */
class Compiled {
  readonly #guard: ToolGuard;
  readonly #openGuardrail: OpenGuardrail;
  readonly #side: ToolSide;
  readonly #known = new WeakMap<GuardrailDocument, CompiledToolGuardrail>();

  constructor(guard: ToolGuard, openGuardrail: OpenGuardrail, side: ToolSide) {
    this.#guard = guard;
    this.#openGuardrail = openGuardrail;
    this.#side = side;
  }

  of(document: GuardrailDocument): CompiledToolGuardrail {
    let known = this.#known.get(document);
    if (!known) {
      const reference = { path: `guardrail ${document.slug}`, type: 'guardrail', actions: {} } as const;
      known = this.#guard.compile(ruleOfSaved(reference, document, this.#openGuardrail(document)), this.#side);
      this.#known.set(document, known);
    }
    return known;
  }
}

type List = readonly CompiledToolGuardrail[];

function checksOf(guard: ToolGuard, ctx: RequestContext, input: List, output: List): ToolChecks {
  const run = (list: List, id: RpcId | null, body: JsonObject): Maybe<JsonObject> => {
    const verdict = guard.run(list, ctx, body);
    return isPromise(verdict) ? verdict.then((done) => concluded(done, id)) : concluded(verdict, id);
  };
  const ofOthers = { input: guard.ofOthers(input), output: guard.ofOthers(output) };
  const judge = (list: List, message: ClientMessage): Maybe<ClientMessage> => {
    if (list.length === 0) return message;
    const { name, arguments: sent, inputResponses } = message.params;
    const further = furtherParams(message);
    const body = {
      ...{ name, arguments: sent ?? {} },
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(further === null ? {} : { others: further }),
      ...(message.repeated === undefined ? {} : { repeated: message.repeated }),
    };
    const conclude = (changed: JsonObject): ClientMessage => (changed === body ? message : withArguments(message, changed));
    const checked = run(list, message.id, body);
    return isPromise(checked) ? checked.then(conclude) : conclude(checked);
  };
  return {
    checkArguments: (message) => judge(input, message),
    checkReplies: (message) => judge(ofOthers.input, message),
    checkParams(message) {
      if (ofOthers.input.length === 0) return message;
      const { _meta, ...params } = message.params;
      const meta = ownMeta(_meta);
      const body = { name: message.method, arguments: params, ...(meta === null ? {} : { others: { _meta: meta } }) };
      const conclude = (changed: JsonObject): ClientMessage => {
        if (changed === body) return message;
        const protocol = _meta === undefined ? {} : { _meta };
        return {
          ...message,
          params: { ...(changed.arguments as JsonObject), ...protocol, ...mergedMeta(_meta, changed.others) },
        };
      };
      const checked = run(ofOthers.input, message.id, body);
      return isPromise(checked) ? checked.then(conclude) : conclude(checked);
    },
    checkResult: output.length === 0 ? null : (id, result) => run(output, id, result),
    checkOther: ofOthers.output.length === 0 ? null : (id, result) => run(ofOthers.output, id, result),
  };
}

/** Parameters of a call that its server may read beside the arguments; null: there are none. */
function furtherParams({ method, params }: ClientMessage): JsonObject | null {
  const { name, arguments: _arguments, inputResponses: _responses, requestState: _state, _meta, ...others } = params;
  const meta = ownMeta(_meta);
  // Methods of tasks name no tool.
  if (name !== undefined && method?.startsWith('tasks/')) others.name = name;
  if (meta === null && isEmptyObject(others)) return null;
  return meta === null ? others : { ...others, _meta: meta };
}

/** The members of `_meta` that are not those of the protocol, or `_meta` itself if it is no object; null: there are none. */
export function ownMeta(meta: unknown): unknown {
  if (!isObject(meta)) return meta ?? null;
  const own = Object.entries(meta).filter(
    ([name, value]) => !metaOfProtocol.test(name) || (name === 'progressToken' && !isToken(value)),
  );
  return own.length === 0 ? null : Object.fromEntries(own);
}

function isToken(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && !/\s/.test(value));
}

/** `others` may have other names than the given members. */
function mergedMeta(given: unknown, others: unknown): JsonObject {
  if (!isObject(others) || others._meta === undefined) return {};
  if (!isObject(given) || !isObject(others._meta)) return { _meta: others._meta };
  const protocol = Object.entries(given).filter(([name]) => metaOfProtocol.test(name));
  return { _meta: { ...Object.fromEntries(protocol), ...others._meta } };
}

function concluded({ body, denial }: Awaited<ReturnType<ToolGuard['run']>>, id: RpcId | null): JsonObject {
  if (denial === null) return body;
  const data = { guardrail_id: denial.guardrailId, reason: denial.reason };
  throw new RpcError(guardrailDenied, 'Request blocked by guardrail', { status: 200, id, data });
}

/** A check can change what it reads and nothing else of the message. It may also rename members. */
function withArguments(
  message: ClientMessage,
  { arguments: changed, inputResponses, others, repeated }: JsonObject,
): ClientMessage {
  const { name, arguments: sent, inputResponses: replies, requestState, _meta } = message.params;
  const all: JsonObject = {
    ...{ name, requestState, _meta },
    ...(isObject(others) ? others : {}),
    ...mergedMeta(_meta, others),
    arguments: sent === undefined ? undefined : changed,
    inputResponses: replies === undefined ? undefined : inputResponses,
  };
  const params = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return { ...message, params, ...(Array.isArray(repeated) ? { repeated } : {}) };
}
