import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';

interface AdminReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every resource
  readonly body: any;
}

interface CreatedKey {
  readonly id: string;
  /** Clear text, shown only once. */
  readonly key: string;
}

/** The calls of the admin API with which tests and benches prepare their data. */
export interface AdminClient {
  /** Makes any call below `/v1`. Does not throw on error statuses. */
  call(method: string, path: string, body?: JsonObject): Promise<AdminReply>;
  get(path: string): Promise<AdminReply>;
  post(path: string, body: JsonObject): Promise<AdminReply>;
  put(path: string, body: JsonObject): Promise<AdminReply>;
  delete(path: string): Promise<AdminReply>;
  /** Sends a POST and returns the created item. */
  create(path: string, body: JsonObject): Promise<JsonObject>;
  /** Creates an integration of the organisation and returns its slug. Fields as in `POST /integrations`. */
  createIntegration(fields: JsonObject): Promise<string>;
  /** Creates a provider of the workspace and returns its slug. */
  createProvider(fields: JsonObject): Promise<string>;
  /**
   * Creates an integration of type `openai` (or `ai_provider_id`) with the custom host `host`, and its provider. Returns `@slug`.
   */
  createUpstream(slug: string, host: string, fields?: JsonObject): Promise<string>;
  /** Returns the slug of the integration that `createUpstream(slug, …)` creates. */
  integrationOf(slug: string): string;
  /** Creates a saved config and returns its slug. */
  createConfig(config: JsonObject, name?: string): Promise<string>;
  /** Creates a prompt of the workspace and returns its slug. `fields` name at least `string`. */
  createPrompt(fields: JsonObject): Promise<string>;
  /** Creates a workspace key with `completions.write`. `fields` override the defaults. */
  createKey(fields?: JsonObject): Promise<CreatedKey>;
}

/**
 * Calls the control plane at `url` (without `/v1`) with an admin key. The `create…` calls throw on any status except 200 and show
 * the reply. `createUpstream` begins the slugs of integrations, which are unique in an organisation, with `integrationPrefix`.
 */
export function adminClient(url: string, adminKey: string, workspaceId: string, integrationPrefix = 'int'): AdminClient {
  let names = 0;
  async function call(method: string, path: string, body?: JsonObject): Promise<AdminReply> {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { 'x-svc-api-key': adminKey, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parseOr(text) };
  }
  async function create(path: string, body: JsonObject): Promise<JsonObject> {
    const reply = await call('POST', path, body);
    if (reply.status !== 200) throw new Error(`POST ${path} gave ${reply.status}: ${JSON.stringify(reply.body)}`);
    // Older routes wrap their reply in `data`.
    return isObject(reply.body?.data) ? reply.body.data : reply.body;
  }
  const client: AdminClient = {
    call,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    delete: (path) => call('DELETE', path),
    create,
    async createIntegration(fields) {
      return String((await create('/integrations', { name: `integration ${++names}`, ...fields })).slug);
    },
    async createProvider(fields) {
      const body = { name: `provider ${++names}`, workspace_id: workspaceId, ...fields };
      return String((await create('/providers', body)).slug);
    },
    async createUpstream(slug, host, fields = {}) {
      const integration = await client.createIntegration({
        slug: client.integrationOf(slug),
        ai_provider_id: 'openai',
        key: 'sk-upstream',
        configurations: { custom_host: host },
        create_default_provider: false,
        ...fields,
      });
      return `@${await client.createProvider({ slug, integration_id: integration })}`;
    },
    integrationOf: (slug) => `${integrationPrefix}-${slug}`,
    async createConfig(config, name = `config ${++names}`) {
      return String((await create('/configs', { name, config, workspace_id: workspaceId })).slug);
    },
    async createPrompt(fields) {
      const body = { name: `prompt ${++names}`, workspace_id: workspaceId, parameters: {}, ...fields };
      return String((await create('/prompts', body)).slug);
    },
    async createKey(fields = {}) {
      const body = { name: `key ${++names}`, workspace_id: workspaceId, scopes: ['completions.write'], ...fields };
      return (await create('/api-keys/workspace/service', body)) as unknown as CreatedKey;
    },
  };
  return client;
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
