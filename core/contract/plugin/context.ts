import type { KeyOptions, WorkspaceDocument } from '../protocol/documents.ts';
import type { Credentials } from '../provider/provider.ts';
import type { BodyMemory } from '../values/bodies/body-memory.ts';
import type { BodyShare } from '../values/bodies/body-turns.ts';
import type { FormPart, StreamedForm } from '../values/bodies/form.ts';
import type { Secret } from '../values/credentials/secret.ts';
import { GatewayError } from '../values/errors/errors.ts';
import type { HeaderList, InboundRequest, RequestBody } from '../values/http/http.ts';
import type { JsonObject } from '../values/json/json.ts';
import type { JsonLayout } from '../values/json/json-layout.ts';
import { storableText } from '../values/json/storable-json.ts';
import { sumUsage, type Usage } from '../values/models/usage.ts';
import { cutText } from '../values/text/cut-text.ts';
import type { GuardrailRecord } from './guardrails/guardrail-result.ts';
import type { Plan } from './plan.ts';
import type { PluginContext } from './plugin-context.ts';
import type { ContentCapture } from './record/content-capture.ts';
import type { PluginTime } from './record/plugin-time.ts';
import type {
  AttemptRecord,
  BatchRecord,
  DecisionRecord,
  DiscardedCall,
  OutcomeKind,
  ReservationRecord,
  SavedCall,
  SessionRecord,
} from './record/record.ts';
import { recordedUsage } from './record/recorded-usage.ts';
import type { VerdictRecord } from './record/verdict.ts';
import type { AgentCall } from './requests/agent-call.ts';
import { CallTimes } from './requests/call-times.ts';
import type { ConfigChoice } from './requests/config-choice.ts';
import type { Endpoint } from './requests/endpoint.ts';
import type { EntityLimits } from './requests/entity-limits.ts';
import type { McpCall } from './requests/mcp-call.ts';
import type { PassedRequest } from './requests/passed-traffic.ts';
import type { RequestPrompt } from './requests/prompt.ts';
import type { CallPurpose } from './services/provider-call.ts';
import type { StreamFilter } from './stream-filter.ts';

/** The caller, as described by its API key or JWT. Holds no secret. */
export interface Identity extends KeyOptions {
  readonly keyId: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly userId: string | null;
  /** Name of the user who owns the key, if the key's document has it. */
  readonly userName?: string | null;
  /** Subject of a JWT, from the first of its subject claims; absent for API keys. */
  readonly tokenSubject?: string | null;
  readonly scopes: ReadonlySet<string>;
  /** The only MCP server that an OAuth access token is for; absent for other credentials. */
  readonly mcpServerId?: string;
  /** Limits of the key; null or absent: none. */
  readonly limits?: EntityLimits | null;
  readonly defaults: {
    /** For a JWT this may be the id of the config. */
    readonly configSlug: string | null;
    readonly metadata: Readonly<Record<string, string>>;
    readonly allowConfigOverride: boolean;
  };
}

/** Provider and target fields that request headers and body name. They complete targets that leave these fields open. */
export interface RequestTarget {
  /** Provider type id or `@slug`. */
  readonly provider: string | null;
  /** The caller's own provider credentials: `api_key` from Authorization or a similar header, others from their headers. */
  readonly credentials: Credentials;
  readonly customHost: string | null;
  readonly settings: Readonly<JsonObject>;
  readonly timeoutMs: number | null;
  readonly forwardHeaders: readonly string[] | null;
  readonly strict: boolean | null;
}

/** One attempt at one target. `error` is null if the provider responded with any status. */
export interface AttemptResult extends AttemptRecord {
  readonly targetIndex: number;
  readonly ok: boolean;
  readonly error: GatewayError | null;
  readonly retryAfterMs: number | null;
  /** Milliseconds from the call to the first byte forwarded; for a response read whole, to its end. */
  readonly firstByteMs: number;
}

export interface Outcome {
  readonly kind: OutcomeKind;
  /** Status the client received, 499 if it had disconnected. */
  readonly status: number;
  readonly error: GatewayError | null;
}

/** One per request. Every field is set here, in this order, so that all requests share one shape. One stage writes each field. */
export class RequestContext {
  readonly id: string;
  readonly receivedAtMs: number;
  readonly request: InboundRequest;
  /** Gateway headers by name without prefix: `config`, `trace-id`, … */
  gatewayHeaders: ReadonlyMap<string, string>;
  /** Names of the headers that came from the body's `svc_options`; null if there were none. */
  svcOptions: ReadonlySet<string> | null = null;
  /** Endpoint of the path. A prompt completion takes that of its model request when it is rendered. */
  endpoint: Endpoint | null;
  /** The prefix the client used, also used on the reply. */
  readonly headerPrefix: string;
  plan: Plan;
  traceId: string;
  /** Monotonic milliseconds at arrival. */
  startedAtMs = 0;
  readonly times = new CallTimes();
  identity: Identity | null = null;
  /** The caller's workspace as of the start of the request: limits, settings, guardrails. */
  workspace: WorkspaceDocument | null = null;
  /** Lower-case name of the client header with the gateway's key. It is never sent upstream. */
  keyHeader: string | null = null;
  /** The JWT of the caller, null for API keys. No copy of it is sent upstream either. */
  token: Secret | null = null;
  /** The settings of a client secret, sent to the provider before the messages of the client; null for all other requests. */
  firstMessage: Uint8Array | null = null;
  /** The prompt of a prompt completion; null for all other requests. */
  prompt: RequestPrompt | null = null;
  /** The MCP call; null for other requests, and until the server is known. */
  mcp: McpCall | null = null;
  /** The call of an A2A agent; null for other requests, and until the agent is known. */
  agent: AgentCall | null = null;
  configChoice: ConfigChoice | null = null;
  configSlug: string | null = null;
  configVersionId: string | null = null;
  requestTarget: RequestTarget | null = null;
  metadata: Readonly<Record<string, string>> = noMetadata;
  /** Query that goes upstream on pass-through routes: the client's, less an `@slug/` in its `model`. */
  query: string;
  body: Uint8Array | null = null;
  private bodyDiffers = false;
  /** The places of the members of `body`; null if none of them may be sent as it came, and for bodies whose JSON is written quickly. */
  bodyLayout: JsonLayout | null = null;
  /** True if parsing or writing the JSON of `body` takes more than about a millisecond, and is done in steps. */
  needsSteps = false;
  /** True once a streamed body has started to be sent: it cannot be sent a second time. */
  bodyTaken = false;
  params: JsonObject | null = null;
  /** Parsed body of a pass-through request, for plans that route by it. The bytes sent are not changed. Null otherwise. */
  passedParams: JsonObject | null = null;
  /** The facts about the price of a pass-through request; null on other routes and for requests that run no model. */
  passed: PassedRequest | null = null;
  /** A streamed body from its beginning, whose first bytes were inspected; null if they were not, or if the body is buffered. */
  peekedBody: RequestBody | null = null;
  /** The parts of a multipart body; its text fields are in `params` too. Null for every other body, and for forms that stream. */
  form: readonly FormPart[] | null = null;
  /** The reason why the form of an upload, or one that passes through, cannot be read. */
  formError: string | null = null;
  /** A form too large to buffer: its known fields, and its byte stream. */
  streamedForm: StreamedForm | null = null;
  /** The limit that bodies held for this request count against; null if nothing is counted. `heldBytes` is their size. */
  memory: BodyMemory | null = null;
  heldBytes = 0;
  /** The workspace that holds these bytes; null before the first of them. */
  private bodyOwner: string | null = null;
  /** Length of the longest copy of a body that was written for an attempt or a reply; it is part of `heldBytes`. */
  private copyBytes = 0;
  /** Memory that is kept free for the body until the call is sent. */
  private bodyShare: BodyShare | null = null;
  private modelName: string | null = null;
  stream = false;
  attempts: AttemptResult[] = [];
  targetPath: string | null = null;
  provider: string | null = null;
  providerSlug: string | null = null;
  retryAttemptCount = 0;
  /** Verdicts of plugins about responses; null while there is none. */
  verdicts: VerdictRecord[] | null = null;
  /** Guardrails that ran; null while there is none. */
  guardrails: GuardrailRecord[] | null = null;
  /** Results of guardrails that `guardrails` does not hold, because there are too many. */
  guardrailsOmitted = 0;
  /** Times of third-party plugins; null while none of them has run. */
  pluginTimes: PluginTime[] | null = null;
  /** Filter of the stream of the current attempt; null for most requests. */
  streamFilter: StreamFilter | null = null;
  /** Usage of responses that no client receives, each with the target that was called; null while there is none. */
  discarded: { readonly usage: Usage; readonly targetPath: string | null; readonly call: DiscardedCall }[] | null = null;
  /** Skipped targets with the reasons, and omitted retries; null if there were none. */
  decisions: DecisionRecord[] | null = null;
  cacheStatus: string | null = null;
  /** The call whose reply the cache repeats for this request; null for other requests. */
  saved: SavedCall | null = null;
  /** The part of the gateway that makes the call; null for requests of clients. */
  purpose: CallPurpose | null = null;
  usage: Usage | null = null;
  firstByteAtMs: number | null = null;
  /** Events of a shaped stream that came from the provider. */
  streamEvents = 0;
  /** Amounts reserved from budgets for this request; null if it has no budget. */
  reservations: ReservationRecord[] | null = null;
  /** Tokens that limits have reserved for the call; null if no limit needed an estimate. */
  reservedTokens: { readonly input: number; readonly output: number } | null = null;
  /** The batch that this request created or belongs to; null for most requests. */
  batch: BatchRecord | null = null;
  /** A model that a WebSocket session has used after another one. Its usage is counted with that of the first. */
  otherModel: string | null = null;
  /** Summary of a WebSocket session, set when it has ended. */
  session: SessionRecord | null = null;
  /** The reply as it is sent, for logs; null if the bodies of this request are not logged. */
  content: ContentCapture | null = null;
  requestBytes = 0;
  replyBytes = 0;
  /** Headers plugins add to the reply. */
  readonly replyHeaders: HeaderList = [];
  aborted = false;
  /** Aborts the current upstream exchange; `error` is the result of the attempt, by default `client_closed`. The running attempt sets it. */
  abortUpstream: ((error?: GatewayError) => void) | null = null;
  /** Ends a reply that has begun, with a last event in its format. The running attempt sets it. */
  endStream: ((error: GatewayError) => void) | null = null;
  ended = false;
  /** True once the plan counts this request among its running ones. */
  planEntered = false;
  /** Values of plugins for this request. Plugins reach their own with `Services.slot()`. */
  readonly slots: unknown[] = [];
  /** The view of this request for third-party plugins; null while none of them has run. */
  pluginView: PluginContext | null = null;

  constructor(init: {
    id: string;
    receivedAtMs: number;
    request: InboundRequest;
    gatewayHeaders: ReadonlyMap<string, string>;
    headerPrefix: string;
    endpoint: Endpoint | null;
    plan: Plan;
    traceId: string;
  }) {
    this.id = init.id;
    this.receivedAtMs = init.receivedAtMs;
    this.request = init.request;
    this.query = init.request.query;
    this.gatewayHeaders = init.gatewayHeaders;
    this.endpoint = init.endpoint;
    this.headerPrefix = init.headerPrefix;
    this.plan = init.plan;
    this.traceId = init.traceId;
  }

  /**
   * The model that the request asks for. From its first attempt on: the model that the provider was asked for, or the one that it used if the
   * request lets it choose.
   */
  get model(): string | null {
    return this.modelName;
  }

  /** True once `params` differ from `body`: the original bytes can no longer be sent. */
  get bodyChanged(): boolean {
    return this.bodyDiffers;
  }

  set bodyChanged(isChanged: boolean) {
    this.bodyDiffers = isChanged;
    if (isChanged) this.bodyLayout = null;
  }

  /** Sets parameters of which some members differ from those of `body`, none of them in place: the others can be sent as they came. */
  replaceMembers(params: JsonObject): void {
    this.setParams(params);
    this.bodyDiffers = true;
  }

  /** Sets the parameters of the body, and the model that they name. */
  setParams(params: JsonObject): void {
    this.params = params;
    this.modelName = typeof params.model === 'string' ? params.model : null;
  }

  /** Sets the model, at most 255 characters, if it does not come from the parameters: of a path, a session, or the provider's call. */
  nameModel(model: string | null): void {
    this.modelName = model === null ? null : storableText(cutText(model, modelCharsMax));
  }

  /**
   * Counts bytes that are held for this request until its end. Throws GatewayError `overloaded` if the process holds too many, and
   * `body_too_large` if the body of this request alone needs too many.
   */
  holdBytes(bytes: number, of: 'request' | 'response' = 'request'): void {
    if (this.memory === null || this.ended) return;
    const owner = this.memoryOwner();
    if (this.bodyShare === null) this.memory.checkShare(bytes, owner, this.heldBytes);
    this.memory.take(bytes, owner, of === 'request' ? this.heldBytes : undefined);
    this.heldBytes += bytes;
    this.bodyShare?.use(bytes);
  }

  /** Reads the whole body and counts it as `holdBytes` does. A large body waits for its turn. Rejects with `body_too_large`. */
  async readBytes(bytesMax: number, onChunk?: (chunk: Uint8Array) => void): Promise<Uint8Array> {
    const { body } = this.request;
    if (this.memory?.isLarge(body.length) && body.length <= bytesMax) {
      this.bodyShare = await this.memory.admit(body.length, this.memoryOwner());
      if (this.ended) this.endBodyShare();
    }
    const bytes = await body.bytes(bytesMax, (count) => this.holdBytes(count), onChunk);
    this.requestBytes = bytes.length;
    return bytes;
  }

  /** Ends the memory that is kept free for the body, because all copies of it are counted. */
  endBodyShare(): void {
    this.bodyShare?.end();
    this.bodyShare = null;
  }

  /** Runs steps between which other requests run. Throws `client_closed` if the client disconnects. */
  async inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
    for (;;) {
      await this.memory?.turn();
      if (this.aborted) throw new GatewayError('client_closed');
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /** Writes a copy of a body in turns. Its bytes are counted by `lengthHint` before, and by their number after that. */
  async writeInTurns(
    write: () => Generator<void, Uint8Array>,
    lengthHint: number,
    of: 'request' | 'response' = 'request',
  ): Promise<Uint8Array> {
    this.holdCopy(lengthHint, of);
    const bytes = await this.inTurns(write());
    this.holdCopy(bytes.length, of);
    return bytes;
  }

  /** Counts a written copy of a body. The copy of an earlier attempt is garbage by then, so only growth is counted. */
  holdCopy(bytes: number, of: 'request' | 'response' = 'request'): void {
    if (bytes <= this.copyBytes) return;
    this.holdBytes(bytes - this.copyBytes, of);
    this.copyBytes = bytes;
  }

  /** Releases all bytes of this request. Safe to call again. */
  releaseBytes(): void {
    this.endBodyShare();
    if (this.heldBytes === 0) return;
    this.memory?.give(this.heldBytes, this.memoryOwner());
    this.heldBytes = 0;
  }

  private memoryOwner(): string {
    this.bodyOwner ??= this.identity?.workspaceId ?? '';
    return this.bodyOwner;
  }

  /** Returns a streamed body of this request that sets `bodyTaken` when reading begins. */
  takeBody(body: RequestBody): RequestBody {
    return {
      length: body.length,
      bytes: (maxBytes, onGrow, onChunk) => {
        this.bodyTaken = true;
        return body.bytes(maxBytes, onGrow, onChunk);
      },
      pipe: (to, maxBytes) => {
        this.bodyTaken = true;
        return body.pipe(to, maxBytes);
      },
    };
  }

  /** Moves the usage of the response of a target to `discarded`, because the provider bills it although no client receives it. */
  discardUsage(targetPath = this.targetPath): void {
    const { usage, provider, providerSlug, model } = this;
    if (usage === null) return;
    this.discarded ??= [];
    const call = { provider, providerSlug, model, ...recordedUsage(this, targetPath), rawUsage: usage.raw };
    this.discarded.push({ usage, targetPath, call });
    this.usage = null;
  }

  /** Adds the usage of responses that no client receives to that of the request. */
  addDiscardedUsage(): void {
    if (this.discarded === null) return;
    const each = this.discarded.map(({ usage }) => usage);
    this.usage = sumUsage(this.usage === null ? each : [...each, this.usage]);
  }

  /** Adds the decision about a target to the record. */
  decide(targetPath: string, decision: DecisionRecord['decision']): void {
    this.decisions ??= [];
    if (this.decisions.length < decisionsMax) this.decisions.push({ targetPath, decision });
  }
}

/** A config of many targets must not make a record without end. */
const decisionsMax = 100;

/** Maximum length of a model name that does not come from the parameters of the body. */
const modelCharsMax = 255;

const noMetadata: Readonly<Record<string, string>> = Object.freeze({});
