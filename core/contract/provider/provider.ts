import type { GenericSchema } from 'valibot';
import type { FormPart } from '../values/bodies/form.ts';
import type { Secret } from '../values/credentials/secret.ts';
import type { GatewayError } from '../values/errors/errors.ts';
import type { HeaderList } from '../values/http/http.ts';
import type { JsonObject } from '../values/json/json.ts';
import type { Maybe } from '../values/maybe.ts';
import type { Usage } from '../values/models/usage.ts';
import type { DeploymentProbe, ModelList } from './model-list.ts';
import type { ModelSources } from './model-sources.ts';
import type { SignServices } from './sign-services.ts';
import type { StreamDecoding, StreamReader, StreamTranslator } from './stream-event.ts';
import type { UpstreamSender } from './upstream.ts';

/** Operations whose JSON is shaped; all others pass through. */
export const operationNames = [
  'chatComplete',
  'complete',
  'embed',
  'messages',
  'messagesCountTokens',
  'createModelResponse',
  'getModelResponse',
  'deleteModelResponse',
  'listResponseInputItems',
  'cancelModelResponse',
  'countResponseInputTokens',
  'compactModelResponse',
  'createSpeech',
  'createTranscription',
  'createTranslation',
  'imageGenerate',
  'imageEdit',
  'imageVariation',
  'moderate',
  'rerank',
  'ocr',
  'createDecision',
  'uploadFile',
  'listFiles',
  'retrieveFile',
  'retrieveFileContent',
  'deleteFile',
  'createBatch',
  'listBatches',
  'retrieveBatch',
  'getBatchOutput',
  'cancelBatch',
  'createFinetune',
  'listFinetunes',
  'retrieveFinetune',
  'cancelFinetune',
] as const;
export type OperationName = (typeof operationNames)[number];

/** Non-secret settings of a provider under their config names (`custom_host`, `anthropic_version`, …), after its schema. */
export type ProviderSettings = JsonObject;

/** Secret settings by config name; `api_key` is the one nearly every provider has. */
export type Credentials = Readonly<Record<string, Secret>>;

/**
 * One provider. A folder exports exactly one of these; `core/providers/index.ts` lists them.
 * All functions are pure unless documented otherwise, and pass unknown values on unchanged.
 */
export interface ProviderAdapter {
  /** Provider type id: `openai`, `anthropic`, … */
  readonly id: string;
  /** Checks settings from an integration, a config target or request headers. Unknown keys are ignored here. */
  readonly settings: GenericSchema<unknown, ProviderSettings>;
  /** Base URL with its path and without trailing slash: `https://api.openai.com/v1`. Not called if `custom_host` replaces it. */
  baseUrl(settings: ProviderSettings): string;
  /** Headers that authenticate and version every call; computed once per stored provider. */
  headers(settings: ProviderSettings, credentials: Credentials): HeaderList;
  /**
   * For schemes that sign each call or do not put the key in a header. May do I/O through `services`. `labels` is the metadata of
   * the request, if the call belongs to one.
   */
  sign?(
    call: OutgoingCall,
    settings: ProviderSettings,
    credentials: Credentials,
    services: SignServices,
    labels?: Readonly<Record<string, string>>,
  ): Maybe<void>;
  /** Returns another adapter if these settings require one, else null. The settings have not passed the schema yet. */
  variant?(given: Readonly<JsonObject>): ProviderAdapter | null;
  /** Settings that determine the identity of calls. A request or config cannot replace those of a stored provider. */
  readonly pinned?: readonly string[];
  /** Settings that a request or config may add if a stored provider lacks them, but cannot replace. */
  readonly pinnedOnceStored?: readonly string[];
  /**
   * Settings with which a request or config may redirect the calls of a stored provider to another host of the same owner, such
   * as a region. Other settings that would send a stored credential to another host are rejected.
   */
  readonly movedBy?: readonly string[];
  /** Credentials that become part of a header, beside `api_key`. */
  readonly headerSecrets?: readonly string[];
  /** Settings that select the model beside its name. Fixed if the stored provider restricts its models. */
  readonly modelSettings?: readonly string[];
  /** Fields of an integration that failed calls are attributed to. */
  readonly errorFields?: ErrorFields;
  /** Client request headers that are passed unchanged on unified routes (lower-case), e.g. `anthropic-beta`. */
  readonly forwards?: readonly string[];
  /** Path (below the base URL, with `/`) of a pass-through call for the path after `/v1`; absent: that path itself. */
  proxyPath?(path: string, settings: ProviderSettings): string;
  /** Places in which calls name their model beside the body's `model`. Absent: none. */
  readonly modelSources?: ModelSources;
  /** Returns true for a name with which the provider chooses a model for each call. The record has the model that the reply states. */
  choosesModel?(model: string): boolean;
  readonly operations: Partial<Record<OperationName, Operation>>;
  /** True if its operations take custom tools of OpenAI, whose input is free text. Otherwise these reach them as functions. */
  readonly customTools?: true;
  /** True if calls of the Responses API become chat completions. It then has no sessions either. */
  readonly responsesOverChat?: true;
  /** Handles the calls to this origin instead of the network. Absent: all calls go to the network. */
  readonly inProcess?: UpstreamSender & { readonly origin: string };
  /** Realtime sessions, if the provider offers them in OpenAI's format. */
  readonly realtime?: Realtime;
  /** Requests and reads the provider's list of models, if it is not the base URL's `/models` in OpenAI's form. */
  readonly models?: ModelList;
  /**
   * Free calls that show whether the deployments in an integration's stored settings exist: a call without messages gets 404 for a missing
   * deployment. Absent: the provider has no deployments.
   */
  deploymentProbes?(settings: ProviderSettings): readonly DeploymentProbe[];
  /**
   * Last change to a pass-through call, when its body is available. `call.body` is null if there is no body or if it is streamed
   * unread. Adapters that change bodies set `buffersProxyBodies`.
   */
  adjustProxyCall?(call: OutgoingCall, client: { header(name: string): string | undefined }): void;
  /** True if pass-through bodies must be read before the call is sent, because a signature covers them. */
  buffersProxyBodies?(settings: ProviderSettings, credentials: Credentials): boolean;
  /** Converts the provider's error response: `upstream_status` with its status, its message and its retry hint. */
  error(status: number, body: JsonObject | null, headers: HeaderList): ProviderError;
}

/** The setting that decides a part of calls with these settings: `aws_region`, or `api_key` for the integration's key. */
export interface ErrorFields {
  /** Null if no setting decides the host. */
  host(settings: Readonly<ProviderSettings>): string | null;
  credential(settings: Readonly<ProviderSettings>): string;
}

/** A provider's realtime sessions: WebSockets whose messages are JSON events. Messages pass as they are. */
export interface Realtime {
  /** Path below the base URL with its query, built from the client's query and the model in it (empty: none). */
  path(query: URLSearchParams, model: string, settings: ProviderSettings): string;
  /** Token counts in an event of the provider; null if it has none. */
  usage(event: JsonObject): Usage | null;
}

export interface OutgoingCall {
  method: string;
  origin: string;
  path: string;
  headers: HeaderList;
  body: Uint8Array | null;
}

export interface ProviderError {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
  /** Retry delay from the body or headers, if the provider sends one. */
  readonly retryAfterMs: number | null;
}

/** Headers of a client. */
export interface ClientHeaders {
  /** A header by its lower-case name. */
  header(name: string): string | undefined;
  /** A header of the gateway by its name without prefix. */
  gatewayHeader(name: string): string | undefined;
}

/** One unified function of one provider. */
export interface Operation {
  /** Returns the whole operation of this call, used in place of this one, if the provider serves some models in a way that is no call to it. */
  ofCall?(call: OperationCall): Operation;
  /** Path below the base URL: `/chat/completions`. */
  path(call: OperationCall): string;
  /** Method of the provider's call; absent: the one of the route. */
  readonly method?: string;
  /** False: the provider lacks the operation for this client, and the service's own store handles it. */
  serves?(client: ClientHeaders): boolean;
  /** True if a batch may be made of a file that the service stores (`StepServices.ownFile`). */
  readonly takesOwnFiles?: true;
  /** Headers of this call, before those of the provider. */
  headers?(call: OperationCall): HeaderList;
  /**
   * True on a `createBatch` whose `steps` ask `call.allowModel` about each model and `call.checkLine` about each line that the provider
   * will see.
   */
  readonly checksLines?: true;
  /**
   * Returns paths below the base URL of the request files that the body of a new batch names. They are read first if models are
   * restricted or guardrails check the lines. A provider with neither this nor `checksLines` creates no such batches.
   */
  requestFiles?(body: JsonObject, call: OperationCall): readonly string[];
  /**
   * Runs the operation as several exchanges. The functions below are not used. Rejects with GatewayError, `upstream_status` if
   * the provider rejects an exchange. There is no retry after it has begun to read the client's body.
   */
  steps?(call: OperationCall, services: StepServices): Promise<StepReply>;
  /**
   * Returns the provider's request body. Absent, or `params` itself returned: the client's bytes are sent unchanged (unless
   * parameters were overridden). Adds lost and changed parameters to `call.dropped` and `call.adapted`, by their names in the
   * client's format. May throw GatewayError `bad_request` naming the parameter.
   */
  toProvider?(params: JsonObject, call: OperationCall): JsonObject;
  /**
   * Set for third-party adapters: `ofCall`, `toContent` or `toProvider` may have changed values in place, so that this attempt and later ones send no
   * member as the client wrote it.
   */
  readonly changesInPlace?: true;
  /**
   * Returns the request if the provider needs something other than `toProvider`'s JSON: a form made of JSON, JSON made of the
   * client's form (`call.form`), or bytes. Null has the effect of absence: a client's form is forwarded as a form (unchanged
   * unless a text field was overridden), and `toProvider` receives JSON requests only. May throw `bad_request`.
   */
  toContent?(params: JsonObject, call: OperationCall): RequestContent | null;
  /** True if the provider also reads a form that `toContent` has not changed. Forms of any size are then streamed. */
  readonly takesForms?: boolean;
  /** Value of the `model` field of a form that is forwarded as a form, if it differs from `call.model`. */
  modelInForm?(call: OperationCall): string;
  /**
   * Converts the provider's response to the format of the route. Absent, or `reply` itself returned: the bytes pass unchanged.
   */
  fromProvider?(reply: JsonObject, call: OperationCall): JsonObject;
  /**
   * Name of the member whose vectors or long texts `fromProvider` and `usage` do not read, such as `embedding`. They get `[0]` and an empty text
   * in place of those, unless a plugin judges the reply. If `fromProvider` returns another object, it is called again with the whole reply.
   */
  readonly opaqueMember?: string;
  /**
   * Returns the reply as bytes, for routes with binary replies whose provider sends JSON (audio in base64). Null: `fromProvider`.
   */
  toBytes?(reply: JsonObject, call: OperationCall): BytesReply | null;
  /** Builds the route's JSON from a response that is not JSON (such as image bytes). The response is then read whole. */
  fromBytes?(reply: BytesReply, call: OperationCall): JsonObject;
  /** True: replies that are neither JSON nor an event stream pass unread (audio, subtitles). */
  readonly passesBytes?: boolean;
  /** True for uploads: the provider creates no batches of its files, whatever purpose a form states. */
  readonly ignoresPurpose?: boolean;
  /** With `passesBytes`: JSON passes unread too, so that a file of any content and size streams. */
  readonly passesJson?: boolean;
  /** Absent, or null: the provider's event stream passes unchanged. */
  translateStream?(call: OperationCall): StreamTranslator | null;
  /** For streams that are not server-sent events. */
  readonly decodeStream?: StreamDecoding;
  /** Reads tokens from the provider's own (untranslated) plain reply. */
  usage(reply: JsonObject, call?: OperationCall): Usage | null;
  /** Usage that the request itself determines (characters of speech input), if the reply has no counts. */
  usageOfCall?(call: OperationCall): Usage | null;
  /** Reads tokens and the end of the reply from the provider's own event stream. */
  streamReader(): StreamReader;
}

/** Services for an operation of several exchanges. */
export interface StepServices {
  /**
   * Makes one exchange with the provider, with the credential, signature and time limits of its calls. Resolves with any status
   * when the head arrives. Rejects with GatewayError. The caller must read the body of the response or `cancel` it.
   */
  send(request: StepRequest): Promise<StepResponse>;
  /** The client's body as it arrives; once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Returns the bytes of a file that the service stores for the caller. Rejects with `not_found` if there is none. */
  ownFile(id: string): AsyncIterable<Uint8Array>;
  /** Estimates the tokens of these texts with the gateway's tokenizer, or by their length while it is overloaded. */
  countTokens(texts: readonly string[]): Promise<number>;
  /** Returns the provider's error as `upstream_status`. Reads the rest of the response. */
  error(response: StepResponse): Promise<GatewayError>;
}

export interface StepRequest {
  readonly method: string;
  /** Path below the base URL, or below `origin` if that is set. */
  readonly path: string;
  /** Another origin of the same provider (its storage), `https://…` without path. Callers can never choose it. */
  readonly origin?: string;
  readonly headers?: HeaderList;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array> | null;
  /** Length of a streamed body in bytes, if known. */
  readonly bodyBytes?: number;
  /**
   * True for an address that contains its own permission, such as a signed link: no credential or header of the provider is
   * added.
   */
  readonly withoutCredential?: true;
}

export interface StepResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole response, at most 64 MiB. Throws `upstream_invalid` if it is not a JSON object. */
  json(): Promise<JsonObject>;
  cancel(): void;
}

/** The reply of an operation of several exchanges. */
export interface StepReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: JsonObject | AsyncIterable<Uint8Array>;
}

/** The caller a request is made for. Holds no secret of the gateway. */
export interface Caller {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly userId: string | null;
  /** Gateway headers by name without prefix, less the gateway's own key, with the caller's provider credential as `authorization`. */
  headers(): Readonly<Record<string, string>>;
}

/** A request body of any kind. */
export type RequestContent =
  | { readonly kind: 'json'; readonly body: JsonObject }
  /** `call.form` itself returned: the client's bytes unchanged. */
  | { readonly kind: 'form'; readonly parts: readonly FormPart[] }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly body: Uint8Array };

/** A reply body that is not JSON. */
export interface BytesReply {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** The properties of a call that an operation may read. One per attempt. */
export interface OperationCall {
  /** Model as sent by the client, after `@slug/` was removed and overrides were applied. */
  readonly model: string;
  readonly stream: boolean;
  /** The client's parameters in the route's format, after defaults, overrides and drops. */
  readonly params: JsonObject;
  /**
   * The parts of a multipart request, with text fields as in `params`. Null or absent if the request is JSON, has no body, or is
   * a form that is streamed.
   */
  readonly form?: readonly FormPart[] | null;
  /** Segments of the route's path by their name in `{…}`, as sent (percent-encoded). */
  readonly pathParams?: Readonly<Record<string, string>>;
  /** The client's query, without `?`. */
  readonly query?: string;
  /** A header of the client by its lower-case name. */
  header?(name: string): string | undefined;
  /** A header of the gateway by its name without prefix. */
  gatewayHeader?(name: string): string | undefined;
  readonly settings: ProviderSettings;
  /** The request's metadata. Absent if the call belongs to no request. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Null or absent if the call belongs to no request. */
  readonly caller?: Caller | null;
  /** Throws `model_not_allowed`. Present while a batch is created under an integration that restricts its models. */
  readonly allowModel?: (model: string) => void;
  /**
   * Returns the body of a line of a new batch as guardrails have left it. Rejects with the error that ends the request. Present while a
   * batch is created whose lines are checked.
   */
  readonly checkLine?: (url: string, body: JsonObject) => Promise<JsonObject>;
  /** `strict_open_ai_compliance`; false adds provider-specific fields to replies. */
  readonly strict: boolean;
  /** True if the provider has refused this call because it cannot read the reasoning in it. The call is sent once more, without reasoning. */
  readonly withoutReasoning?: boolean;
  /** Parameters that could not be carried over, and content of the reply as `reply.<name>`: `x-svc-dropped-params`. */
  readonly dropped: string[];
  /** Parameters that were changed on the way, and content of the reply as `reply.<name>`: `x-svc-adapted`. */
  readonly adapted: string[];
  /** Unix seconds and id source, so that mapping functions stay pure. */
  readonly nowSeconds: number;
  /** Returns the current time in Unix seconds; `nowSeconds` is the time at which the call began. */
  clockSeconds?(): number;
  newId(prefix: string): string;
}
