import type { GenericSchema } from 'valibot';
import type { ConfigDocument, DocumentKind, DocumentOf } from '../protocol/documents.ts';
import type { Leases } from '../protocol/leases.ts';
import type { TokenVerifier } from '../protocol/tokens.ts';
import type { Clock } from '../values/clock.ts';
import { GatewayError } from '../values/errors.ts';
import type { HeaderList } from '../values/http.ts';
import type { Maybe } from '../values/json.ts';
import type { Log } from '../values/log.ts';
import type { CallHold } from './call-hold.ts';
import type { Health } from './circuits.ts';
import type { AttemptResult, Outcome, RequestContext } from './context.ts';
import type { GatewayConfig } from './gateway-config.ts';
import type { Plan, Target } from './plan.ts';
import type { RequestRecord } from './record.ts';
import type { RouteExplanation } from './route-explanation.ts';

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
export type Stage = (typeof stages)[number];

export interface Plugin<Config = unknown> {
  /** kebab-case; equals its folder, and is the key of its settings under `plugins` in a config. */
  readonly name: string;
  /** Where it runs; inside a stage, list order decides. */
  readonly stage: Stage;
  /** Plugins that must stand earlier in the list; checked at start. */
  readonly after?: readonly string[];
  /** What it must see. What nobody reads is piped, not parsed. */
  readonly reads?: { readonly request?: 'head' | 'body'; readonly response?: 'head' | 'chunks' | 'body' };
  /** Its settings in a config: the value of `slice`, or of `plugins.<name>`. */
  readonly config: GenericSchema<unknown, Config>;
  /**
   * Settings that switch the plugin on. The gateway compiles them once at start, so that a misspelt hook or a schema that rejects them
   * stops the start instead of failing later requests.
   */
  readonly example?: unknown;
  /** Milliseconds that one call of an asynchronous hook may take; absent: PLUGIN_HOOK_TIMEOUT. Not applied to built-in plugins. */
  readonly hookTimeoutMs?: number;
  /** Where a built-in plugin finds its settings in a config; third-party ones have `plugins.<name>`. */
  readonly slice?: (config: GatewayConfig) => unknown;
  /**
   * Turns settings into hooks; runs once per config revision, off the hot path. `null`: idle for this config. Throwing refuses
   * the config. Plugins of the stages record, auth and config run before a config is known: they are compiled once, at start.
   */
  onConfig(config: Config, scope: PlanScope, services: Services): Hooks | null;
}

/** What a plugin may know of the config it is compiled for. */
export interface PlanScope {
  /** Credentials in it are digests. */
  readonly config: GatewayConfig;
  readonly targets: readonly Target[];
  readonly slug: string | null;
  /** Names this version of a saved config, for state that outlives a plan; null for an inline or empty config. */
  readonly stateKey: string | null;
}

export interface Reply {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Uint8Array | string;
}

export interface ResponseHead {
  status: number;
  /** Flat, lower-case; may be changed in place. */
  readonly headers: HeaderList;
}

/** Names of all hooks, for checking the objects that plugins return. */
export const hookNames = [
  'onRequest',
  'onTarget',
  'onExplain',
  'onVisit',
  'onUpstream',
  'onSend',
  'onResponse',
  'onBody',
  'onChunk',
  'onError',
  'onSessionUsage',
  'onSessionLook',
  'onCheckpoint',
  'onEnd',
  'onClose',
] as const satisfies readonly HookName[];
export type HookName = Exclude<keyof Hooks, 'readsParams'>;

/** A hook that is absent costs nothing: presence is read once, when the plan is compiled. */
export interface Hooks {
  /** True: `ctx.passedParams` is wanted on pass-through routes. */
  readonly readsParams?: boolean;
  /** A Reply answers and stops the chain; throwing GatewayError refuses. */
  onRequest?(ctx: RequestContext): Maybe<Reply | undefined | void>;
  /** Strategies: where to go next; `last` is null for the first try; null gives up. Does no I/O. */
  onTarget?(ctx: RequestContext, last: AttemptResult | null): Target | null;
  /** Strategies: where this request would go and why, without sending it. Changes nothing that later requests see. */
  onExplain?(ctx: RequestContext): Maybe<RouteExplanation>;
  /**
   * A target was chosen and is about to be asked. What it returns is called once, when the request leaves the target for good, with
   * the result of the last try; null when no provider was asked. Both must not throw and do no I/O.
   */
  onVisit?(ctx: RequestContext, target: Target): ((last: AttemptResult | null) => void) | null;
  /** Before each try at a target. A Reply answers instead of the provider. */
  onUpstream?(ctx: RequestContext, target: Target): Maybe<Reply | undefined | void>;
  /** No hook has replied or refused: the call is sent next. Runs up the list. A promise delays the call. Must not throw. */
  onSend?(ctx: RequestContext): Maybe<void>;
  /** The head of the reply that will be sent, no byte has left yet. A Reply replaces it. */
  onResponse?(ctx: RequestContext, head: ResponseHead): Maybe<Reply | undefined | void>;
  /** Plugins that read `body`: the whole reply before its first byte leaves. Returns other bytes to send, or nothing. */
  onBody?(ctx: RequestContext, head: ResponseHead, body: Uint8Array): Maybe<Uint8Array | undefined | void>;
  /** Each chunk of a streamed or piped reply; synchronous; null drops the chunk. */
  onChunk?(ctx: RequestContext, chunk: Uint8Array): Uint8Array | null;
  /** Any failure before the first byte. A Reply answers instead of the error. */
  onError?(ctx: RequestContext, error: GatewayError): Maybe<Reply | undefined | void>;
  /**
   * While a WebSocket session is open: `ctx.usage` has grown. An error ends the session. Not called again before it has answered, and
   * perhaps behind the end of the session (`ctx.ended`).
   */
  onSessionUsage?(ctx: RequestContext): SessionVerdict;
  /** Every second or so while a WebSocket session is open: may it go on? An error ends the session. Not called again before it has answered. */
  onSessionLook?(ctx: RequestContext): SessionVerdict;
  /** A session that is open is to be written down as it is now: its process may not live to see its end. Must not throw. */
  onCheckpoint?(ctx: RequestContext): void;
  /** Every request, exactly once, whatever happened, just before the reply is completed. Must not throw; a throw is logged. */
  onEnd?(ctx: RequestContext, outcome: Outcome): void;
  /** The config was replaced and its last request has ended. */
  onClose?(): void;
}

/** A reason to end a WebSocket session; nothing lets it go on. */
type SessionVerdict = Maybe<GatewayError | null | undefined | void>;

/** What the process lends to plugins. Time, randomness and ids come from here, so that tests hold the clock. */
export interface Services {
  readonly documents: DocumentReader;
  readonly journal: Journal;
  /** Circuits of targets, shared with other gateways. */
  readonly health: Health;
  /** This process's shares of limits; absent: nothing is limited. */
  readonly leases?: Leases;
  readonly log: Log;
  readonly clock: Clock;
  /** Random UUID. */
  newId(): string;
  /** 0 ≤ x < 1. */
  random(): number;
  /** A place in `ctx.slots` that belongs to the caller alone; ask once, at start. */
  newSlot(): number;
  readonly plans: PlanSource;
  /** Saved-only mode of the whole deployment: requests bring no config, provider or host of their own. */
  readonly blockInlineConfig?: boolean;
  /** Prefixes of the gateway's own headers, the first the usual one; absent: `x-svc-`. */
  readonly headerPrefixes?: readonly string[];
  /** Client headers that become metadata, lower-case, and what stands before their names there. */
  readonly headersToMetadata?: { readonly names: readonly string[]; readonly keyPrefix: string };
  /** Verifies tokens that organisations sign; absent: they are no credential. */
  readonly tokens?: TokenVerifier;
  /** Whether a config with several targets may be used for files, batches and fine-tuning jobs. */
  readonly keptOnManyTargets?: boolean;
  /** Tokens of these texts, counted off the main thread. Rejects when it is overloaded or takes longer than `timeoutMs`. */
  countTokens(texts: readonly string[], timeoutMs: number): Promise<number>;
  readonly isProvider: (id: string) => boolean;
  /** Returns `; did you mean …?` for a misspelt provider type, and an empty text otherwise. */
  readonly providerHint?: (id: string) => string;
  /** Checks a caller's custom host by the rules of security §4 as far as its text goes; the message says what is wrong, null = fine. */
  readonly checkCustomHost: (url: string) => string | null;
}

/** Services of built-in plugins: those of every plugin, and the keys that verify callers. Third-party plugins do not get the keys. */
export interface CoreServices extends Services {
  /** Verifies the credentials of the control plane's jobs; absent: jobs cannot call. */
  readonly jobCredentialKey?: Uint8Array;
  /** Pepper of the keyed digests of API keys. */
  readonly apiKeyPepper: Uint8Array;
}

/** Documents by kind and id. A hit in memory comes back at once, a miss as a promise; null means "does not exist". */
export interface DocumentReader {
  get<Kind extends DocumentKind>(kind: Kind, id: string): Maybe<DocumentOf[Kind] | null>;
}

/** Plans of saved and inline configs, compiled once and kept. */
export interface PlanSource {
  /** The plan without any config. */
  readonly base: Plan;
  saved(document: ConfigDocument): Plan;
  /** Throws GatewayError `invalid_config`. `text` is the header as sent, the key of the cache. */
  inline(text: string): Plan;
}

/** Takes the record of each request and keeps it safe from a crash of this process. */
export interface Journal {
  /** Takes the record; it is safe once a `whenSafe` that was asked afterwards has called back. Ends the hold of the same id. */
  append(record: RequestRecord): void;
  /**
   * Takes note of a call to a provider before it is sent; `whenSafe` applies. If this process is killed before the record of the same
   * id is appended, its successor appends one with outcome `interrupted`. A later hold of the same id takes the place of this one.
   */
  hold(hold: CallHold): void;
  /** Calls back when everything appended so far is safe: at once, or later in this turn of the event loop. */
  whenSafe(callback: () => void): void;
  /** False: the next record may find no place, so requests that must be counted are refused. */
  healthy(): boolean;
}

export type { Clock } from '../values/clock.ts';
export type { Log } from '../values/log.ts';
export { promptTexts } from '../values/prompt-text.ts';
/** What a plugin throws to refuse a request with a code of the error table. */
export { GatewayError };

/** Lets the compiler check a plugin where it is written. */
export function definePlugin<Config>(plugin: Plugin<Config>): Plugin<Config> {
  return plugin;
}
