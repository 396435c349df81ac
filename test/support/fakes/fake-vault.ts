import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type FakeUpstream, reply } from '../upstream/fake-upstream.ts';
import type { RecordedRequest } from '../upstream/recorded-request.ts';

/**
 * HashiCorp Vault on a fake upstream, below `/v1/`. Later rules of the upstream take precedence, so tests can make it stall, cut
 * and return invalid replies.
 */
export interface FakeVault {
  readonly addr: string;
  /** Fields by path. Those of an engine of version 2 have `data/` after the mount. */
  readonly v1: Map<string, JsonObject>;
  readonly v2: Map<string, JsonObject>;
  /** Valid tokens. */
  readonly tokens: Set<string>;
  /** Lifetime of tokens of logins, and of renewed tokens, in seconds. */
  leaseSeconds: number;
  /** Role and secret id of AppRole; role and service account token of Kubernetes. */
  readonly appRoles: Map<string, string>;
  readonly kubernetesRoles: Map<string, string>;
  /** The namespace that requests must name. Null: none. */
  namespace: string | null;
  readonly logins: RecordedRequest[];
  /** Requests that renew a token. */
  readonly renewals: RecordedRequest[];
  readonly reads: RecordedRequest[];
}

/** `secret` is the mount of version 2, `kv` the one of version 1. */
export function fakeVault(upstream: FakeUpstream): FakeVault {
  const vault: FakeVault = {
    addr: upstream.origin,
    v1: new Map(),
    v2: new Map(),
    tokens: new Set(),
    leaseSeconds: 3600,
    appRoles: new Map(),
    kubernetesRoles: new Map(),
    namespace: null,
    logins: [],
    renewals: [],
    reads: [],
  };

  upstream.on(
    (request) => request.path.startsWith('/v1/auth/'),
    async (exchange) => {
      const { request } = exchange;
      vault.logins.push(request);
      const body = request.json() as Record<string, string>;
      const isKnown = /^\/v1\/auth\/(approle|teams\/roles)\/login$/.test(request.path)
        ? vault.appRoles.get(body.role_id ?? '') === body.secret_id
        : vault.kubernetesRoles.get(body.role ?? '') === body.jwt;
      if (!isKnown || !inNamespace(request)) return reply(400, { errors: ['invalid role or secret ID'] }).run(exchange);
      const token = `hvs.${randomUUID()}`;
      vault.tokens.add(token);
      const auth = { client_token: token, lease_duration: vault.leaseSeconds, renewable: true, policies: ['default'] };
      return reply(200, { request_id: randomUUID(), data: null, auth }).run(exchange);
    },
  );

  upstream.on(
    (request) => request.path === '/v1/auth/token/renew-self',
    (exchange) => {
      const { request } = exchange;
      vault.renewals.push(request);
      const token = request.header('x-vault-token') ?? '';
      if (!vault.tokens.has(token) || !inNamespace(request)) return reply(403, { errors: ['permission denied'] }).run(exchange);
      const auth = { client_token: token, lease_duration: vault.leaseSeconds, renewable: true, policies: ['default'] };
      return reply(200, { request_id: randomUUID(), data: null, auth }).run(exchange);
    },
  );

  upstream.on(
    (request) => /^\/v1\/(secret|kv)\//.test(request.path),
    (exchange) => {
      const { request } = exchange;
      vault.reads.push(request);
      const isAllowed = vault.tokens.has(request.header('x-vault-token') ?? '') && inNamespace(request);
      if (!isAllowed) return reply(403, { errors: ['permission denied'] }).run(exchange);
      const path = decodeURIComponent(request.path.slice('/v1/'.length));
      const versioned = /^secret\/(data\/)?(.+)$/.exec(path);
      if (!versioned) return found(vault.v1.get(path));
      if (!versioned[1]) {
        const warnings = ['Invalid path for a versioned K/V secrets engine. See the API docs for the appropriate paths.'];
        return reply(404, { data: null, warnings }).run(exchange);
      }
      const fields = vault.v2.get(`secret/${versioned[2]}`);
      return found(fields && { data: fields, metadata: { created_time: '2026-01-01T00:00:00Z', version: 3, destroyed: false } });

      function found(data: JsonObject | undefined) {
        if (!data) return reply(404, { errors: [] }).run(exchange);
        return reply(200, { request_id: randomUUID(), lease_duration: 2764800, data, auth: null }).run(exchange);
      }
    },
  );

  function inNamespace(request: RecordedRequest): boolean {
    return vault.namespace === null || request.header('x-vault-namespace') === vault.namespace;
  }
  return vault;
}
