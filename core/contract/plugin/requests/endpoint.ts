import type { OperationName } from '../../provider/provider.ts';
import type { PassedTraffic } from './passed-traffic.ts';

/** A route family: the meaning of the path before any provider is chosen. */
export interface Endpoint {
  /** Kind of body that a shaped route accepts; absent = `json`. If a route of another kind sets it, its body is read the same way. */
  readonly body?: BodyKind;
  /** Method of the provider's call; absent = `POST`. */
  readonly method?: string;
  /** Segments of the path by their name in the route's `{…}`, as sent; `model` of `listModels` is decoded. */
  readonly pathParams?: Readonly<Record<string, string>>;
  /**
   * True for files, batches and fine-tuning jobs. Without a provider the service itself stores them. A config for them has at
   * most one target, because a resource stored by one provider does not exist at another.
   */
  readonly isStored?: true;
  /** True for pass-through routes below files, batches and fine-tuning jobs: a config for them has at most one target too. */
  readonly isOfStored?: true;
  /** Function name in records: an operation, `proxy`, `realtime`, `listModels`, `explainConfig`, … */
  readonly name:
    | OperationName
    | 'proxy'
    | 'listModels'
    | 'realtime'
    | 'createClientSecret'
    | 'createRealtimeSession'
    | 'createTranscriptionSession'
    | 'explainConfig'
    | 'invokeGuardrails'
    | 'renderPrompt'
    | 'listPromptVariables'
    | 'completePrompt'
    | 'mcp'
    | 'agent';
  /** The operation whose JSON is shaped; null = pass-through, the body is never parsed. */
  readonly operation: OperationName | null;
  /**
   * How configs route the endpoint. Absent: to a provider, which the request or the config must name. `optional`: the provider may be
   * missing. `none`: no config applies.
   */
  readonly routing?: 'optional' | 'none';
  /** True for a model request whose body is a prompt of the path. */
  readonly isPrompt?: true;
  /** True for the route of realtime sessions. */
  readonly isRealtime?: true;
  /** True if the body names a file whose lines name the models. */
  readonly hasModelsInFile?: true;
  /** True if the body may have `svc_options`: headers of the gateway by name. */
  readonly takesSvcOptions?: true;
  /** True if its requests use no LLM tokens (counting them, tools, agents). Limits of tokens and cost then do not apply. */
  readonly usesNoTokens?: true;
  /** True if its replies hold a client secret. Their bodies are not stored. */
  readonly repliesWithSecret?: true;
  /** True if the service's own store serves the endpoint for providers that do not. */
  readonly isEmulated?: true;
  /** Scopes of which the key needs one. */
  readonly scopes: readonly string[];
  /** Wire format of errors, in streams and plain. */
  readonly format: WireFormat;
  /** Form of errors of pass-through routes whose clients expect one; absent: `format` decides. */
  readonly errorForm?: 'gemini';
  /** Path below the provider's base URL on pass-through routes, with its `/`; empty on shaped routes. */
  readonly proxyPath: string;
  /** True for pass-through routes whose replies name URLs of the provider that clients open: the results of message batches. */
  readonly namesResults?: true;
  /** The deployment in a path of Azure's SDKs (`/openai/…`), decoded; null if it has none. Absent on all other paths. */
  readonly azureDeployment?: string | null;
  /** The kind of traffic of a pass-through request, for budgets; absent on all other routes. */
  readonly traffic?: PassedTraffic;
}

/**
 * `json`, `form` (multipart), `json-or-form` by content type, `none`, or `stream`: any bytes, not parsed and, if they are large,
 * not stored.
 */
export type BodyKind = 'json' | 'form' | 'json-or-form' | 'none' | 'stream';

export type WireFormat = 'chat' | 'messages' | 'responses' | 'plain';
