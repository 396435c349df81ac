import type { GenericSchema } from 'valibot';
import type { ReplyCache } from '../protocol/cached-replies.ts';
import type { TokenVerifier } from '../protocol/credentials/tokens.ts';
import type { Leases } from '../protocol/limits/leases.ts';
import type { ModelsInBody, ModelsInPath } from '../provider/model-sources.ts';
import type { SettingNames } from '../provider/setting-names.ts';
import type { GatewayError } from '../values/errors/errors.ts';
import type { JsonObject } from '../values/json/json.ts';
import type { Maybe } from '../values/maybe.ts';
import type { GatewayConfig } from './config/gateway-config.ts';
import type { RouteExplanation } from './config/route-explanation.ts';
import type { AttemptResult, RequestContext } from './context.ts';
import type { AddedCheck } from './guardrails/plugin-check.ts';
import type { EmbeddingModel, Target } from './plan.ts';
import type { DocumentReader, Hooks, PlanScope, Plugin, Reply, Services, Slot } from './plugin.ts';
import type { CallHold } from './record/call-hold.ts';
import type { ContentLog } from './record/content-capture.ts';
import type { RequestRecord } from './record/record.ts';
import type { CheckBatchLine } from './requests/batch-line.ts';
import type { Circuits } from './services/circuits.ts';
import type { CallProvider } from './services/provider-call.ts';
import type { SignAws } from './services/sign-aws.ts';
import type { TaskRunner } from './services/worker-tasks.ts';
import type { SessionDecision, SessionMessage } from './sessions/web-socket.ts';

/** A built-in plugin: like a third-party one, with hooks and services that are not part of the public contract. */
export interface CorePlugin<Config = unknown> extends Omit<Plugin<Config>, 'apiVersion' | 'checks' | 'config' | 'onConfig'> {
  readonly config: GenericSchema<unknown, Config>;
  onConfig(config: Config, scope: CorePlanScope, services: CoreServices): CoreHooks | null;
}

/** The config that a built-in plugin is compiled for. */
export interface CorePlanScope extends PlanScope {
  /** Credentials in it are digests. */
  readonly config: GatewayConfig;
  readonly targets: readonly Target[];
}

export interface CoreHooks extends Hooks<RequestContext, Target> {
  /**
   * Called when the plan is known, before limits and routing, and before the body of a pass-through request is read. A Reply ends the
   * request; throwing GatewayError rejects it.
   */
  onStart?(ctx: RequestContext): Maybe<Reply | undefined>;
  /** A provider is about to get a batch that it runs itself. Returns the check of its lines; null: they are not read. */
  onBatch?(ctx: RequestContext, target: Target): CheckBatchLine | null;
  /** True: the plugin needs the parsed body of pass-through routes in `ctx.passedParams`. */
  readonly readsParams?: boolean;
  /** True: the plugin needs the files of uploads, and of forms that pass through, in `ctx.form`. */
  readonly readsUploads?: boolean;
  /** Returns true for requests whose streams are held until they are complete, like `reads.response: 'body'`. */
  holdsStream?(ctx: RequestContext): boolean;
  /** At the end of a complete stream: returns the text to send after its last event. The reply and its record wait for it. */
  onStreamEnd?(ctx: RequestContext): Maybe<string>;
  /**
   * An error of the provider, in the client's format, before another attempt is made. Returns the body to send in its place, null for one without any
   * text of the provider. Its status stays.
   */
  onProviderError?(ctx: RequestContext, error: ProviderErrorReply, target: Target): Maybe<JsonObject | null | undefined>;
  /**
   * Strategies: the next target; `last` is null for the first attempt; null gives up. Does no I/O. Called once for each result.
   */
  onTarget?(ctx: RequestContext, last: AttemptResult | null): Target | null;
  /**
   * Strategies: true if another target follows when this target (its index) responds with this status. Chooses nothing. The headers of a
   * response that no target follows are sent at once.
   */
  movesOn?(ctx: RequestContext, targetIndex: number, status: number): boolean;
  /** Strategies: explains where this request would go, without sending it. Changes nothing that later requests see. */
  onExplain?(ctx: RequestContext): Maybe<RouteExplanation>;
  /**
   * A target was chosen and is about to be called. The returned function is called once, when the request leaves the target finally,
   * with the result of the last attempt; null if no provider was called. Both must not throw and do no I/O.
   */
  onTargetStart?(ctx: RequestContext, target: Target): ((last: AttemptResult | null) => void) | null;
  /**
   * Called when no hook has replied or rejected, just before the call is sent. Runs up the list. A promise delays the call. Must
   * not throw.
   */
  onSend?(ctx: RequestContext): Maybe<void>;
  /**
   * Called with each message of a WebSocket session before it is forwarded; undefined forwards it. A promise delays the later messages of its
   * direction.
   */
  onSessionMessage?(ctx: RequestContext, message: SessionMessage): Maybe<SessionDecision | undefined>;
  /** Before the call of an MCP tool, which `ctx.mcp` names, or a message to an agent (`ctx.agent`). Throwing GatewayError rejects it. */
  onToolCall?(ctx: RequestContext): Maybe<undefined>;
  /**
   * Called during a WebSocket session when `ctx.usage` has grown, never before the last call has settled. An error ends the
   * session.
   */
  onSessionUsage?(ctx: RequestContext): SessionVerdict;
  /**
   * Called about every second of a WebSocket session, and of a stream of an MCP server or agent without an end of its own, never before the
   * last call has settled. An error ends it.
   */
  onSessionLook?(ctx: RequestContext): SessionVerdict;
  /** The record of an open WebSocket session is written: its process may be killed before the session ends. Must not throw. */
  onCheckpoint?(ctx: RequestContext): void;
}

/** An error of a provider as a client receives it. */
export type ProviderErrorReply = Pick<Reply, 'status' | 'headers'> & { readonly body: Uint8Array };

/** The error that ends a WebSocket session or a stream; nothing lets it continue. */
type SessionVerdict = Maybe<GatewayError | null | undefined | void>;

/** Services of built-in plugins. Keys are not among them: plugins that need one get it from their factory. */
export interface CoreServices extends Services {
  slot<T>(): Slot<T, RequestContext>;
  readonly documents: DocumentReader;
  readonly journal: Journal;
  /** Takes headers and bodies for logs; absent: none are logged. */
  readonly contents?: ContentLog;
  /** Replies of earlier requests. */
  readonly replies: ReplyCache;
  /** Defaults of the semantic cache; absent: configs that name an embedding model have one. */
  readonly semanticCache?: SemanticCacheDefaults;
  /** Calls a stored provider for a request. */
  readonly callProvider: CallProvider;
  /** Circuits of targets, shared with other gateways. */
  readonly circuits: Circuits;
  /** This process's shares of limits; absent: nothing is limited. */
  readonly leases?: Leases;
  /** Signs calls to AWS. */
  readonly signAws: SignAws;
  /** Runs CPU work, off the main thread if the input is large. */
  readonly tasks: TaskRunner;
  /** Guardrail checks of third-party plugins by id; absent: there are none. */
  readonly addedChecks?: ReadonlyMap<string, AddedCheck>;
  /** Saved-only mode of the whole deployment: requests cannot have inline configs, providers or hosts. */
  readonly blockInlineConfig?: boolean;
  /** Prefixes of the gateway's own headers, the primary one first. Absent: `x-svc-`. */
  readonly headerPrefixes?: readonly string[];
  /** Client headers (lower-case) that become metadata, and the prefix of their metadata keys. */
  readonly headersToMetadata?: { readonly names: readonly string[]; readonly keyPrefix: string };
  /** Verifies JWTs of organisations; absent: JWTs are not accepted. */
  readonly tokens?: TokenVerifier;
  readonly isProvider: (id: string) => boolean;
  /** Lower-case names of the client headers that adapters pass on unchanged, those of third-party providers included. */
  readonly forwardedHeaders: readonly string[];
  /** Lower-case names of the client headers that select a model at any provider. */
  readonly modelHeaders: readonly string[];
  /** Returns the models that fields of a pass-through body name for any provider, beside those that all providers know. */
  readonly modelsInBody: ModelsInBody;
  /** Returns the models that a pass-through path may select: one for each way in which a provider reads it. */
  readonly modelsInPath: ModelsInPath;
  /** Provider settings that config targets and request headers carry. */
  readonly settingNames: SettingNames;
  /** Returns `; did you mean …?` for a misspelt provider type, and an empty text otherwise. */
  readonly providerHint?: (id: string) => string;
  /** Checks the text of a caller's custom host; returns the error message, or null if it is allowed. */
  readonly checkCustomHost: (url: string) => string | null;
}

export interface SemanticCacheDefaults {
  /** Null: only configs that name an embedding model have a semantic cache. */
  readonly embedding: EmbeddingModel | null;
  /** Least similarity of a hit, which configs can raise. */
  readonly threshold: number;
  /** Milliseconds a request waits for its embedding and for a similar reply. */
  readonly timeoutMs: number;
}

/** Takes the record of each request and keeps it safe from a crash of this process. */
export interface Journal {
  /** Takes the record; it is safe once a `whenSafe` that was asked afterwards has called back. Ends the hold of the same id. */
  append(record: RequestRecord): void;
  /**
   * Notes a call to a provider before it is sent; `whenSafe` applies. If this process is killed before the record of the same
   * id is appended, its successor appends one with outcome `interrupted`. A later hold of the same id replaces this one.
   */
  hold(hold: CallHold): void;
  /** Returns true between the hold of this id and its record. */
  isHeld(id: string): boolean;
  /** Calls back when everything appended so far is safe: at once, or later in this turn of the event loop. */
  whenSafe(callback: () => void): void;
  /** False: the next record may not fit, so requests that must be counted are rejected. */
  healthy(): boolean;
}

/** Lets the compiler check a built-in plugin where it is written. */
export function defineCorePlugin<Config>(plugin: CorePlugin<Config>): CorePlugin {
  return plugin as CorePlugin;
}
