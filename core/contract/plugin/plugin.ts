import type { GenericSchema } from 'valibot';
import type { DocumentKind, DocumentOf } from '../protocol/documents.ts';
import { GatewayError } from '../values/errors/errors.ts';
import type { HeaderList } from '../values/http/http.ts';
import type { JsonObject } from '../values/json/json.ts';
import type { Log } from '../values/log/log.ts';
import type { Maybe } from '../values/maybe.ts';
import type { Clock } from '../values/time/clock.ts';
import type { Outcome } from './context.ts';
import type { PluginCheck } from './guardrails/plugin-check.ts';
import type { PluginContext, PluginTarget } from './plugin-context.ts';

/** Version of this contract. A plugin states the version it was written for; the gateway refuses versions it does not support. */
export const apiVersion = 1;

/** The stages of the chain, in the order a request meets them. */
export const stages = [
  'record',
  'auth',
  'config',
  'limits',
  'input-guardrails',
  'cache',
  'strategy',
  'output-guardrails',
] as const;
/** Position of a plugin in the chain. */
export type Stage = (typeof stages)[number];

/** A plugin without hooks, which only adds checks. */
export interface Extension {
  /** The version of the contract the plugin was written for. */
  readonly apiVersion: typeof apiVersion;
  /** kebab-case and unique: the key of its settings under `plugins` in a config, and the prefix of its checks. */
  readonly name: string;
  /** Guardrail checks that configs can use. Declare them with `defineCheck`. */
  readonly checks?: readonly PluginCheck[];
}

/** A plugin with hooks. `Config`: the settings that its schema `config` returns. */
export interface Plugin<Config = unknown> extends Extension {
  /** Position in the chain; inside a stage, list order decides. */
  readonly stage: Stage;
  /** Plugins that must come earlier in the list; checked at start. */
  readonly after?: readonly string[];
  /**
   * The parts of a request and its response that the hooks read. Other parts are piped, not parsed. `response: 'body'` holds streams
   * until they are complete, so that `onAttemptResponse` can judge them before the first byte leaves.
   */
  readonly reads?: { readonly request?: 'head' | 'body'; readonly response?: 'head' | 'chunks' | 'body' };
  /**
   * valibot schema of the settings `plugins.<name>` in a config; it gets `undefined` if the config does not name the plugin. Absent: the
   * plugin has no settings.
   */
  readonly config?: GenericSchema<unknown, Config>;
  /**
   * Settings that switch the plugin on. The gateway compiles them once at start, so that a misspelt hook or a schema that rejects them
   * stops the start instead of failing later requests.
   */
  readonly example?: unknown;
  /** Milliseconds that one call of an asynchronous hook may take; absent: PLUGIN_HOOK_TIMEOUT. */
  readonly hookTimeoutMs?: number;
  /**
   * Turns settings into hooks; runs once per config revision, off the hot path. `null`: idle for this config. Throwing rejects
   * the config. Plugins of the stages record, auth and config run before a config is known: they are compiled once, at start.
   */
  onConfig(config: Config, scope: PlanScope, services: Services): Hooks | null;
}

/** The config that a plugin is compiled for. */
export interface PlanScope {
  /** All targets of the config, of all levels. */
  readonly targets: readonly PluginTarget[];
  /** Slug of the saved config; null for an inline or empty config. */
  readonly slug: string | null;
  /** Names this version of a saved config, for state that outlives a plan; null for an inline or empty config. */
  readonly stateKey: string | null;
}

/** A whole reply for the client. */
export interface Reply {
  /** 200 to 599. */
  readonly status: number;
  /** Flat list of names and values. Headers of the connection, such as `content-length`, are set by the gateway. */
  readonly headers: HeaderList;
  /** Text is sent as UTF-8. */
  readonly body: Uint8Array | string;
  /** True: the record holds the request as rejected, whatever the status is. */
  readonly isDenial?: boolean;
}

/** Status and headers of a reply whose body follows. */
export interface ReplyHead {
  /** 200 to 599; may be changed. */
  status: number;
  /** Flat, lower-case; may be changed in place. */
  readonly headers: HeaderList;
}

/** The accepted response (status 2xx) of one attempt, in the client's format; no byte has been sent to the client. */
export interface AttemptResponse {
  /** 200 to 299. */
  readonly status: number;
  /** Flat, lower-case. */
  readonly headers: Readonly<HeaderList>;
  /** The whole body; null for a stream or piped bytes that are not held (see `reads.response`). */
  readonly body: Uint8Array | null;
  /** The object that `body` is the JSON of, if the gateway has parsed it anyway; null otherwise. Do not change it. */
  readonly json: Readonly<JsonObject> | null;
}

/**
 * The decision of a plugin about a response. `deny` and `fail` end the attempt as failed with the status of the reply or error, so that
 * retry and fallback follow the config's status codes; if no target is left, the client gets that reply or error. `change` is possible
 * for whole bodies only. Each verdict is added to the record; `reason` (up to 500 characters) is stored with it.
 */
export type Verdict =
  | { readonly action: 'pass'; readonly reason?: string }
  | { readonly action: 'change'; readonly body: Uint8Array | string; readonly status?: number; readonly reason?: string }
  | { readonly action: 'deny'; readonly reply: Reply; readonly reason?: string }
  | { readonly action: 'fail'; readonly error: GatewayError; readonly reason?: string };

/** Ends an attempt before the provider is called, like the verdict `deny` of a response. The attempt is not retried. */
export interface Denial {
  /** Distinguishes a denial from a reply. */
  readonly action: 'deny';
  /** Sent if no other target is left. Its status decides whether a fallback follows. */
  readonly reply: Reply;
}

/** Names of all hooks of this contract, in the order a request meets them. */
export const hookNames = [
  'onRequest',
  'onAttempt',
  'onAttemptResponse',
  'onReply',
  'onChunk',
  'onOwnReply',
  'onError',
  'onEnd',
  'onClose',
] as const satisfies readonly (keyof Hooks)[];
/** Name of a hook. */
export type HookName = keyof Hooks;

/**
 * A hook that is absent costs nothing: presence is read once, when the plan is compiled. `Context` and `Leaf`: what the plugin sees of a request
 * and of a target.
 */
export interface Hooks<Context = PluginContext, Leaf = PluginTarget> {
  /** Before a target is chosen, down the list. A Reply ends the chain; throwing GatewayError rejects the request. */
  onRequest?(ctx: Context): Maybe<Reply | undefined | void>;
  /**
   * Before each attempt at a target, down the list. A Reply is sent instead of calling the provider. A Denial fails the attempt with the
   * status of its reply, so that the fallback follows the config's status codes.
   */
  onAttempt?(ctx: Context, target: Leaf): Maybe<Reply | Denial | undefined | void>;
  /** After each attempt that the provider accepted, up the list and inside the target loop. Nothing returned means pass. */
  onAttemptResponse?(ctx: Context, response: AttemptResponse, target: Leaf): Maybe<Verdict | undefined | void>;
  /** The head of the reply that will be sent, up the list; no byte has left yet. A Reply replaces it. */
  onReply?(ctx: Context, head: ReplyHead): Maybe<Reply | undefined | void>;
  /**
   * Each chunk of a reply, up the list; synchronous; null drops the chunk. Throwing GatewayError ends the stream with that error. Replies from
   * the cache pass through `onOwnReply` instead, and hold the changes of plugins of the stages `cache`, `strategy` and `output-guardrails` only.
   */
  onChunk?(ctx: Context, chunk: Uint8Array): Uint8Array | null;
  /**
   * A whole reply that is sent in place of a provider's: a hit of the cache, the reply of a plugin, a list of models. Up the list; synchronous. A
   * Reply replaces it. Copy its body before you change it: other requests may get the same bytes.
   */
  onOwnReply?(ctx: Context, reply: Reply): Reply | undefined | void;
  /** Any failure before the first byte. A Reply is sent instead of the error. */
  onError?(ctx: Context, error: GatewayError): Maybe<Reply | undefined | void>;
  /** Every request, exactly once, when its reply is complete or about to be. Must not throw; a throw is logged. */
  onEnd?(ctx: Context, outcome: Outcome): void;
  /** The config was replaced and its last request has ended. */
  onClose?(): void;
}

/** Services of the gateway for plugins. Time and randomness come from here, so that tests can set them. */
export interface Services {
  /** Writes structured lines to the log of the gateway: `log.info({ field: 1 }, 'message')`. */
  readonly log: Log;
  /** `now()`: milliseconds since the epoch. `elapsed()`: monotonic milliseconds for durations; the same value within one turn of the event loop. */
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  random(): number;
  /** Random UUID. */
  newId(): string;
  /** Reads what gateways load from the control plane, such as the workspace of the caller: `documents.get('workspace', ctx.identity.workspaceId)`. */
  readonly documents: DocumentReader;
  /**
   * Tokens of these texts, counted off the main thread, in the turn of the workspace if one is given. Rejects when it is overloaded or takes
   * longer than `timeoutMs`.
   */
  countTokens(texts: readonly string[], timeoutMs: number, workspaceId?: string): Promise<number>;
  /**
   * Sends an HTTP request under the gateway's rules for outgoing calls: private addresses need TRUSTED_CUSTOM_HOSTS, redirects are not
   * followed, the response holds at most 1 MiB. Rejects with an Error that names the origin and the reason.
   */
  fetch(request: PluginRequest): Promise<Reply & { readonly body: Uint8Array }>;
  /** Storage for one value per request that only the caller can reach. Ask once, in `onConfig`. */
  slot<T>(): Slot<T>;
}

/** A call of `Services.fetch`. */
export interface PluginRequest {
  /** `https://` or `http://`. */
  readonly url: string;
  /** Absent: POST with a body, GET without. */
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** Flat list of names and values. */
  readonly headers?: HeaderList;
  /** A JSON object is sent as `application/json`. */
  readonly body?: string | JsonObject;
  /** Milliseconds until the whole response must have arrived, at most 600,000; absent: 10,000. The call is then ended. */
  readonly timeoutMs?: number;
}

/** A value per request. */
export interface Slot<T, Context = PluginContext> {
  /** Returns the value of this request; undefined if none was set. */
  get(ctx: Context): T | undefined;
  /** Stores a value until the request ends. */
  set(ctx: Context, value: T | undefined): void;
}

/** Documents by kind and id. A hit in memory comes back at once, a miss as a promise; null means "does not exist". */
export interface DocumentReader {
  /**
   * The id of a `workspace` or `organisation` is its own, that of a `provider`, `config`, `mcp-server` or `agent-server` is
   * `<workspace id>/<slug>`, that of a `user` is `<organisation id>/<e-mail in lower case>`. Throws an Error for an unknown kind.
   */
  get<Kind extends DocumentKind>(kind: Kind, id: string): Maybe<DocumentOf[Kind] | null>;
}

export type { HeaderList } from '../values/http/http.ts';
export type { JsonObject } from '../values/json/json.ts';
export type { Log } from '../values/log/log.ts';
export { promptTexts } from '../values/models/prompt-text.ts';
export type { Clock } from '../values/time/clock.ts';
export type { AttemptResult, Identity, Outcome } from './context.ts';
export type { CheckContext, CheckDecision, JsonSchema, PluginCheck } from './guardrails/plugin-check.ts';
export type { PluginContext, PluginTarget, RequestHead } from './plugin-context.ts';
export { replyTexts, rewriteText } from './text/rewrite-text.ts';
export type { TextRewriter } from './text/text-rewriter.ts';
/** Thrown by a plugin to reject a request with a code of the error table. */
export { GatewayError };

/** Lets the compiler check a plugin where it is written. */
export function definePlugin<Config>(plugin: Plugin<Config> | Extension): Plugin<Config> | Extension {
  return plugin;
}

/** Lets the compiler check a guardrail check where it is written. Its parameters have the type of their schema. */
export function defineCheck<Parameters = JsonObject>(check: PluginCheck<Parameters>): PluginCheck {
  return check as PluginCheck;
}
