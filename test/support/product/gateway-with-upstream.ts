import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';
import { until } from '../until.ts';
import { type FakeUpstream, startFakeUpstream } from '../upstream/fake-upstream.ts';
import { type SharedGateway, type SharedProduct, shareGateway } from './shared-gateway.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from './start-gateway.ts';

/** The credentials stored for the two providers: only the upstream may receive them. */
export const storedKeys = { openai: 'sk-stored-openai', anthropic: 'sk-ant-api03-stored' } as const;

/** The whole product with a fake provider, and helpers for tests. */
export interface GatewayWithUpstream extends RunningGateway {
  readonly upstream: FakeUpstream;
  /** Creates a workspace key with this default config, so that a client needs only the key. */
  keyFor(config: JsonObject): Promise<string>;
  /**
   * Calls `fetch` below the base URL with the first workspace key. Headers given here take precedence. An object as `body` is
   * sent as JSON.
   */
  call(path: string, init?: CallInit): Promise<LooseResponse>;
  /** Returns the log of a reply from the control plane when it is stored. Fails if the trace has more than one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into many fields
  logOf(reply: LooseResponse | string): Promise<any>;
  /** Stops gateway and upstream. */
  close(): Promise<void>;
}

/** A response of `fetch` with an untyped JSON body. */
export interface LooseResponse extends Omit<Response, 'json'> {
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  json(): Promise<any>;
}

export interface CallInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject | NonNullable<RequestInit['body']>;
  readonly signal?: AbortSignal;
}

/**
 * Starts both. `@oai` is a provider of type openai and `@ant` one of type anthropic, each with a stored credential, both behind
 * the one fake upstream.
 */
export async function startGatewayWithUpstream(options: GatewayOptions = {}): Promise<GatewayWithUpstream> {
  const upstream = await startFakeUpstream();
  const gateway = await startGateway(options).catch(async (error) => {
    await upstream.close();
    throw error;
  });
  const front = await putInFront(gateway, upstream);
  return {
    ...gateway,
    ...front,
    async close() {
      await gateway.stop().finally(() => upstream.close());
    },
  };
}

/** Like `GatewayWithUpstream`, with a product that other test files use too. `close` closes the upstream. */
export type SharedGatewayWithUpstream = SharedGateway & Omit<GatewayWithUpstream, keyof RunningGateway>;

/** Starts an upstream of the caller's own behind a shared product of this run. */
export async function shareGatewayWithUpstream(product?: SharedProduct): Promise<SharedGatewayWithUpstream> {
  const gateway = await shareGateway(product);
  const upstream = await startFakeUpstream();
  return { ...gateway, ...(await putInFront(gateway, upstream)), close: () => upstream.close() };
}

/** Creates the providers, and returns the helpers for tests. */
async function putInFront(gateway: SharedGateway, upstream: FakeUpstream) {
  const { admin } = gateway;
  await admin.createUpstream('oai', upstream.openaiHost, { key: storedKeys.openai });
  await admin.createUpstream('ant', upstream.openaiHost, { ai_provider_id: 'anthropic', key: storedKeys.anthropic });

  return {
    upstream,
    async keyFor(config: JsonObject) {
      const slug = await admin.createConfig(config);
      return (await admin.createKey({ defaults: { config_id: slug } })).key;
    },
    call(path: string, { method, headers, body, signal }: CallInit = {}): Promise<LooseResponse> {
      const isJson = isObject(body) && Object.getPrototypeOf(body) === Object.prototype;
      return fetch(`${gateway.baseUrl}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          'x-svc-api-key': gateway.workspaceKey,
          ...(isJson ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: isJson ? JSON.stringify(body) : (body as NonNullable<RequestInit['body']>), duplex: 'half' }),
        ...(signal ? { signal } : {}),
      });
    },
    async logOf(reply: LooseResponse | string) {
      const traceId = typeof reply === 'string' ? reply : reply.headers.get('x-svc-trace-id');
      if (!traceId) throw new Error('the reply has no trace id');
      const found = await until(
        async () => {
          const list = await admin.get(`/logs?trace_id=${encodeURIComponent(traceId)}`);
          return list.body.data.length > 0 && list.body;
        },
        { what: `a log of the trace ${traceId}` },
      );
      if (found.data.length !== 1)
        throw new Error(`${found.data.length} logs of the trace ${traceId}: ${JSON.stringify(found.data)}`);
      return found.data[0];
    },
  };
}
