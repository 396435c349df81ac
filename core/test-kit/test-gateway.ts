import type { Extension } from '../contract/plugin/plugin.ts';
import type { RequestRecord } from '../contract/plugin/record/record.ts';
import type { ApiKeyDocument } from '../contract/protocol/documents.ts';
import { headerParam } from '../contract/protocol/header-names.ts';
import type { UpstreamTransport } from '../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import { findHeader, type HeaderList } from '../contract/values/http/http.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { errorReply } from '../http/write-error.ts';
import { checkPlugin, hasHooks } from '../plugin-host/check-plugin.ts';
import { guardChecks } from '../plugin-host/guard-checks.ts';
import { guardPlugin } from '../plugin-host/guard-plugin.ts';
import { tryExamples } from '../plugin-host/load-plugins.ts';
import type { FakeSink } from './fake-exchange.ts';
import { createHarness, type Harness } from './pipeline-harness.ts';
import type { Script } from './provider-scripts.ts';
import { contentOf, eventsOf } from './read-reply.ts';

export interface TestGatewayOptions {
  /** Plugins under test, in the order of PLUGINS. */
  readonly plugins: readonly Extension[];
  /** Stored providers: slug to provider type. Default `{ openai: 'openai', anthropic: 'anthropic' }`. */
  readonly providers?: Readonly<Record<string, string>>;
  /** PLUGIN_HOOK_TIMEOUT in milliseconds. Default 5,000. */
  readonly hookTimeoutMs?: number;
  /** The time of `services.clock.now()` and of the gateway, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** The result of `services.random()`, 0 ≤ x < 1, which the gateway uses too. Default `Math.random`. */
  readonly random?: () => number;
  /** Fields of the API key that requests use. Default: a key without a user, a default config and metadata. */
  readonly key?: Partial<Pick<ApiKeyDocument, 'keyId' | 'userId' | 'defaults'>>;
}

/** The pipeline of a gateway process without a port: authentication, configs, guardrails, cache, retries and records are the real ones. */
export interface TestGateway {
  /** Replies of the provider, one per call; the last one stays. Default: a chat completion with the text `hello`. */
  provider(...replies: readonly Script[]): void;
  /**
   * Serves calls of `services.fetch` to this origin, such as `https://policy.example`. Calls to other origins fail as if nothing listened
   * there; private addresses are rejected as in production.
   */
  service(origin: string, serve: ServiceHandler): void;
  /** Saves a config and returns its slug, for `config` of requests. */
  saveConfig(slug: string, config: JsonObject): string;
  /** Sends one request and waits for the end of its reply. */
  send(request?: TestRequest): Promise<TestReply>;
  /** Calls that reached the provider. */
  readonly providerCalls: readonly ProviderCall[];
  /** Records of all requests, in the order in which they ended. */
  readonly records: readonly RequestRecord[];
  readonly logs: readonly LogLine[];
  /** Ends the worker pool. Call it after the last test. */
  close(): Promise<void>;
}

export interface TestRequest {
  readonly method?: string;
  /** With its query. Default `/v1/chat/completions`. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent in `x-svc-config`: a config, or the slug of a saved one. */
  readonly config?: JsonObject | string;
  /** Sent in `x-svc-metadata`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Text of the user in the default body. Default `hi`. */
  readonly text?: string;
  /** True: the default body asks for a stream. */
  readonly stream?: boolean;
  /** Default: a request of the path's format to the model `@openai/gpt-5`, for `/messages` to `@anthropic/claude`. */
  readonly body?: JsonObject | string | Uint8Array;
}

export interface TestReply {
  readonly status: number;
  /** Flat list of names in lower case and values. */
  readonly headers: HeaderList;
  /** Value of the first header of this name; undefined if there is none. */
  header(name: string): string | undefined;
  readonly text: string;
  /** The body as JSON. Throws SyntaxError. */
  readonly json: JsonObject;
  /** The JSON of each event of a stream, in order; `[DONE]` is left out. */
  readonly events: readonly JsonObject[];
  /** The text that the model wrote, of a plain reply or a stream, in all three formats. */
  readonly content: string;
  /** Chunks as they were written to the client. */
  readonly chunks: readonly Uint8Array[];
  /** The record of the request. */
  readonly record: RequestRecord;
}

export interface ProviderCall {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  /** Null if there is none or it is a stream. */
  readonly body: string | null;
}

export interface ServiceCall {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  readonly body: string;
}

export interface ServiceReply {
  readonly status: number;
  readonly headers?: HeaderList;
  /** An object is sent as JSON. */
  readonly body?: string | JsonObject;
}

export interface LogLine {
  readonly level: string;
  readonly fields: JsonObject;
  readonly message: string;
}

/** Starts a gateway for tests of plugins. Throws an Error, as a gateway does at start, if a plugin breaks the contract. */
export function createTestGateway(options: TestGatewayOptions): TestGateway {
  const services = new Map<string, ServiceHandler>();
  const harness = startHarness(options, services);
  return {
    provider: (...replies) => harness.script(...replies),
    service: (origin, serve) => void services.set(new URL(origin).origin, serve),
    saveConfig(slug, config) {
      harness.addConfig(slug, config);
      return slug;
    },
    async send(request = {}) {
      const { method, path = '/v1/chat/completions', config, metadata } = request;
      // Authors without a compiler pass lists, as other headers of the contract are: their items would be headers named 0, 1, ….
      if (Array.isArray(request.headers)) throw new TypeError('send: headers: expected an object of names and values');
      const headers = {
        ...(config === undefined
          ? {}
          : { [headerParam('config')]: typeof config === 'string' ? config : JSON.stringify(config) }),
        ...(metadata === undefined ? {} : { [headerParam('metadata')]: JSON.stringify(metadata) }),
        ...request.headers,
      };
      const body = request.body ?? defaultBody(path, request);
      const earlier = { records: harness.records.length, logs: harness.logs.length };
      const sink = await harness.send({ ...(method === undefined ? {} : { method }), path, headers, body });
      return toReply(sink, () => recordOf(sink, harness, earlier));
    },
    get providerCalls() {
      return harness.calls.map(({ method, origin, path, headers, body }) => ({
        method,
        url: origin + path,
        headers,
        body: body instanceof Uint8Array ? Buffer.from(body).toString() : null,
      }));
    },
    records: harness.records,
    logs: harness.logs,
    close: () => harness.close(),
  };
}

type ServiceHandler = (call: ServiceCall) => ServiceReply | Promise<ServiceReply>;

function startHarness(options: TestGatewayOptions, services: ReadonlyMap<string, ServiceHandler>): Harness {
  const {
    plugins,
    providers = { openai: 'openai', anthropic: 'anthropic' },
    hookTimeoutMs = 5000,
    random = Math.random,
  } = options;
  const names = new Set<string>();
  for (const plugin of plugins) {
    const issue = checkPlugin(plugin);
    if (issue !== null) throw new Error(issue);
    if (names.has(plugin.name)) throw new Error(`there are two plugins ${plugin.name}; rename one of the two`);
    names.add(plugin.name);
  }
  const added = plugins.filter(hasHooks).map((plugin) => guardPlugin(plugin, { hookTimeoutMs }));
  try {
    const transport = serviceTransport(services);
    const harness = createHarness({
      plugins: added,
      checks: (own) => guardChecks(plugins, { hookTimeoutMs }, own),
      providers,
      services: transport,
      random,
      ...(options.now ? { now: options.now } : {}),
      ...(options.key ? { key: options.key } : {}),
      errorReply,
    });
    tryExamples(added, harness.services);
    return harness;
  } catch (thrown) {
    throw new Error(toGatewayError(thrown).detail ?? messageOf(thrown), { cause: thrown });
  }
}

function defaultBody(path: string, { text = 'hi', stream }: TestRequest): JsonObject {
  const asked = stream ? { stream } : {};
  if (/\/responses\b/.test(path)) return { model: '@openai/gpt-5', input: text, ...asked };
  const messages = [{ role: 'user', content: text }];
  if (/\/messages\b/.test(path)) return { model: '@anthropic/claude', max_tokens: 100, messages, ...asked };
  return { model: '@openai/gpt-5', messages, ...asked };
}

function toReply(sink: FakeSink, record: () => RequestRecord): TestReply {
  return {
    status: sink.status,
    headers: sink.headers,
    header: (name) => sink.header(name.toLowerCase()),
    text: sink.text,
    chunks: sink.chunks,
    get json() {
      return sink.json;
    },
    get events() {
      return eventsOf(sink.text);
    },
    get content() {
      return contentOf(sink.text);
    },
    get record() {
      return record();
    },
  };
}

/** Returns the record of a request among those that were written since it was sent. Throws an Error with the errors that were logged since. */
function recordOf(sink: FakeSink, { records, logs }: Harness, earlier: { records: number; logs: number }): RequestRecord {
  const since = records.slice(earlier.records);
  const traceId = findHeader(sink.headers, headerParam('trace-id'));
  const record = since.length === 1 ? since[0] : since.find((each) => each.traceId === traceId);
  if (record) return record;
  const errors = logs.slice(earlier.logs).filter(({ level }) => level === 'error');
  const reasons = errors.map(({ message, fields }) => `; ${message}: ${fields.reason}`).join('');
  throw new Error(`the request has no record${reasons}`);
}

function serviceTransport(services: ReadonlyMap<string, ServiceHandler>): UpstreamTransport {
  return {
    send({ origin, path, method, headers, body, timeouts }, handler) {
      let isOpen = true;
      const timer = setTimeout(() => {
        if (isOpen) handler.onError(new GatewayError('request_timeout'));
        isOpen = false;
      }, timeouts.totalMs);
      const serve = services.get(origin);
      const replied = serve
        ? Promise.resolve({
            method,
            url: origin + path,
            headers,
            body: body instanceof Uint8Array ? Buffer.from(body).toString() : '',
          }).then(serve)
        : Promise.reject(new GatewayError('upstream_connect'));
      replied
        .finally(() => clearTimeout(timer))
        .then(
          ({ status, headers: sent, body: text = '' }) => {
            if (!isOpen) return;
            handler.onHead(status, [...(sent ?? ['content-type', 'application/json'])]);
            handler.onData(Buffer.from(isObject(text) ? JSON.stringify(text) : text));
            handler.onEnd();
          },
          (thrown: unknown) =>
            isOpen && handler.onError(thrown instanceof GatewayError ? thrown : new GatewayError('upstream_reset')),
        );
      return {
        resume: () => {},
        abort: () => {
          isOpen = false;
          clearTimeout(timer);
        },
      };
    },
    close: async () => {},
  };
}
