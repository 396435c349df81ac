import type { Credentials } from '../provider/provider.ts';
import type { JsonObject } from '../values/json/json.ts';
import type { GatewayConfig } from './config/gateway-config.ts';
import type { CoreHooks } from './core-plugin.ts';
import type { TargetGuardrails } from './guardrails/guardrail-config.ts';

/** The hooks of one kind, in the order they run. */
export type HookList<Name extends keyof CoreHooks> = readonly NonNullable<CoreHooks[Name]>[];

/** `onAttemptResponse` of one plugin, with its name for the record. */
export interface JudgeHook {
  readonly plugin: string;
  readonly hook: NonNullable<CoreHooks['onAttemptResponse']>;
}

/** Everything one config compiles to. Immutable; a request keeps the plan it began with. */
export interface Plan {
  /** Config slug and version, null for an inline or empty config. */
  readonly slug: string | null;
  readonly versionId: string | null;
  /** Credentials in it are digests: the plain ones are in the targets. */
  readonly config: GatewayConfig;
  /** Leaf targets in document order; `Target.index` is the index in this list. */
  readonly targets: readonly Target[];
  /** Ids of the versions of saved guardrails among those of the targets. */
  readonly guardrailVersions: readonly string[];
  readonly onStart: HookList<'onStart'>;
  readonly onRequest: HookList<'onRequest'>;
  readonly onTarget: NonNullable<CoreHooks['onTarget']>;
  readonly movesOn: NonNullable<CoreHooks['movesOn']>;
  /** Null if the strategy does not determine it. */
  readonly onExplain: NonNullable<CoreHooks['onExplain']> | null;
  readonly onTargetStart: HookList<'onTargetStart'>;
  readonly onAttempt: HookList<'onAttempt'>;
  readonly onAttemptResponse: readonly JudgeHook[];
  readonly onProviderError: HookList<'onProviderError'>;
  readonly onSend: HookList<'onSend'>;
  readonly onOwnReply: HookList<'onOwnReply'>;
  readonly onReply: HookList<'onReply'>;
  readonly onChunk: HookList<'onChunk'>;
  readonly onError: HookList<'onError'>;
  /** The hook of the first plugin that checks the lines of batches; null: none. */
  readonly onBatch: NonNullable<CoreHooks['onBatch']> | null;
  /** The hook of the first plugin that inspects messages of sessions; null: none. */
  readonly onSessionMessage: NonNullable<CoreHooks['onSessionMessage']> | null;
  readonly onToolCall: HookList<'onToolCall'>;
  readonly onSessionUsage: HookList<'onSessionUsage'>;
  readonly onSessionLook: HookList<'onSessionLook'>;
  readonly onCheckpoint: HookList<'onCheckpoint'>;
  readonly onEnd: HookList<'onEnd'>;
  readonly onClose: HookList<'onClose'>;
  /** True when a plugin judges whole responses: streams are held until they are complete. */
  readonly readsReply: boolean;
  /** Hooks that decide for single requests if their streams are held. */
  readonly holdsStream: HookList<'holdsStream'>;
  readonly onStreamEnd: HookList<'onStreamEnd'>;
  /** True when a plugin needs a request body even on a pass-through route. */
  readonly readsBody: boolean;
  /** True if parameters determine the route. The parameters of pass-through bodies are then read too. */
  readonly readsParams: boolean;
  /** True if a plugin judges the files of uploads, which are then held up to `FORM_BUFFER_MAX`. */
  readonly readsUploads: boolean;
  /** Milliseconds for all attempts at all targets together; null = no limit. */
  readonly totalTimeMs: number | null;
  /** True if a target has a prompt of its own. */
  readonly hasPrompts: boolean;
  /** True if a request may end without a call to each of the providers: the plan has a cache or several targets. */
  readonly readsAhead: boolean;
}

/** One leaf of the strategy tree, inheritance already applied. */
export interface Target {
  readonly index: number;
  /** `config`, `config.targets[1]`, `config.targets[0].targets[2]`. */
  readonly path: string;
  /** Provider type id or `@slug`; null: the provider of the request. */
  readonly provider: string | null;
  /** `api_key` and the secret settings the config carries itself. */
  readonly credentials: Credentials;
  readonly customHost: string | null;
  readonly settings: Readonly<JsonObject>;
  /** Reference of a prompt that takes the place of the one in the path. Null: none. */
  readonly promptId: string | null;
  readonly overrideParams: Readonly<JsonObject> | null;
  readonly defaultParams: Readonly<JsonObject> | null;
  readonly dropParams: readonly string[] | null;
  readonly retry: Retry | null;
  readonly timeoutMs: number | null;
  readonly forwardHeaders: readonly string[] | null;
  /** `strict_open_ai_compliance`. Null: not set. */
  readonly strict: boolean | null;
  /** `strict_params`: reject parameters that the provider does not support. */
  readonly strictParams: boolean;
  /** Labels for the record of a request that uses this target. Null: none. */
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Null: no cache. `maxAgeSeconds` null: not set. */
  readonly cache: CacheRule | null;
  readonly guardrails: TargetGuardrails;
}

export interface CacheRule {
  readonly mode: 'simple' | 'semantic';
  readonly maxAgeSeconds: number | null;
  /** Least similarity of a semantic hit, 0 to 1; null = the minimum of the organisation. */
  readonly threshold: number | null;
  /** Null = the embeddings of the deployment. */
  readonly embedding: EmbeddingModel | null;
}

/** A stored provider (`@slug`) and its model for embeddings; `dimensions` null = those of the model. */
export interface EmbeddingModel {
  readonly provider: string;
  readonly model: string;
  readonly dimensions: number | null;
}

export interface Retry {
  /** Retries after the first attempt, 0 to 5. */
  readonly attempts: number;
  readonly statusCodes: readonly number[];
  readonly useRetryAfter: boolean;
  /** Milliseconds for one attempt. Null: no limit of its own. */
  readonly attemptTimeMs: number | null;
  /** Milliseconds for all attempts at the target and the waits between them; null = no limit. */
  readonly totalTimeMs: number | null;
}
