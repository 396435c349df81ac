import { isObject, type JsonObject } from '../../core/contract/values/json.ts';

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

/** The few calls of the admin API that tests and benches need to prepare what they are about. */
export interface AdminClient {
  /** Any call below `/v1`; never throws on a status. */
  call(method: string, path: string, body?: JsonObject): Promise<AdminReply>;
  get(path: string): Promise<AdminReply>;
  post(path: string, body: JsonObject): Promise<AdminReply>;
  put(path: string, body: JsonObject): Promise<AdminReply>;
  delete(path: string): Promise<AdminReply>;
  /** An integration of the organisation; gives its slug. Fields as in `POST /integrations`. */
  createIntegration(fields: JsonObject): Promise<string>;
  /** A provider of the workspace; gives its slug. */
  createProvider(fields: JsonObject): Promise<string>;
  /** An integration of type `openai` (or `ai_provider_id`) whose custom host is `host`, and its provider. Gives `@slug`. */
  createUpstream(slug: string, host: string, fields?: JsonObject): Promise<string>;
  /** A saved config; gives its slug. */
  createConfig(config: JsonObject, name?: string): Promise<string>;
  /** A workspace key with `completions.write`; `fields` override the defaults. */
  createKey(fields?: JsonObject): Promise<CreatedKey>;
}

/**
 * Talks to the control plane at `url` (without `/v1`) with an admin key. The `create…` calls throw on anything but 200 and show
 * the answer. `createUpstream` begins the slugs of integrations, which are unique in an organisation, with `integrationPrefix`.
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
    // Older routes wrap their receipt in `data`.
    return isObject(reply.body?.data) ? reply.body.data : reply.body;
  }
  const client: AdminClient = {
    call,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    delete: (path) => call('DELETE', path),
    async createIntegration(fields) {
      return String((await create('/integrations', { name: `integration ${++names}`, ...fields })).slug);
    },
    async createProvider(fields) {
      const body = { name: `provider ${++names}`, workspace_id: workspaceId, ...fields };
      return String((await create('/providers', body)).slug);
    },
    async createUpstream(slug, host, fields = {}) {
      const integration = await client.createIntegration({
        slug: `${integrationPrefix}-${slug}`,
        ai_provider_id: 'openai',
        key: 'sk-upstream',
        configurations: { custom_host: host },
        create_default_provider: false,
        ...fields,
      });
      return `@${await client.createProvider({ slug, integration_id: integration })}`;
    },
    async createConfig(config, name = `config ${++names}`) {
      return String((await create('/configs', { name, config, workspace_id: workspaceId })).slug);
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
