import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { type AuditDraft, addAuditEntry } from '../audit/audit-entry.ts';
import { maskSecrets } from '../audit/mask-secrets.ts';
import { causeOf } from '../cause-of.ts';
import type { EntityManager } from '../db/open-database.ts';
import { writeChange } from '../db/write-change.ts';
import { authenticate, credentialOf } from './authenticate.ts';
import { clientAddress } from './client-address.ts';
import { AdminError, forbidden, invalid, notFound } from './errors.ts';
import { readJsonBody } from './read-body.ts';
import { resolveWorkspace } from './resolve-workspace.ts';
import type { Actor, AdminCall, AdminRoute, AdminServices } from './route.ts';
import { validate } from './validate.ts';
import { errorReply, toAdminError } from './write-error.ts';

/** Longest an admin request may take before it is answered 503; what it was about to write is then rolled back. */
const deadlineMs = 2_800;

/** The Hono handler of a route: who, what they sent, may they, do it, answer. */
export function serveRoute(route: AdminRoute, services: AdminServices): (c: Context) => Promise<Response> {
  return async (c) => {
    const visit = new Visit(route, services, c);
    const expired = new AbortController();
    const deadline = new AdminError('AB10', 'The database took too long; try again shortly');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        expired.abort(deadline);
        reject(deadline);
      }, deadlineMs);
    });
    try {
      const answer = visit.run(expired.signal);
      answer.catch(() => {});
      const result = await Promise.race([answer, late]);
      return c.json(result as object, 200, visit.headers);
    } catch (thrown) {
      const error = toAdminError(thrown);
      if (error.status >= 500) logFailure(services, visit, error, thrown);
      await visit.auditRefusal(error);
      return errorReply(error, visit.headers);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** What is known about one request, filled in as it goes. */
class Visit {
  readonly id = randomUUID();
  readonly headers: Record<string, string>;
  readonly #route: AdminRoute;
  readonly #services: AdminServices;
  readonly #c: Context;
  readonly #em: EntityManager;
  #actor: Pick<Actor, 'keyId' | 'organisationId' | 'workspaceId' | 'userId'> | null = null;
  #workspaceId: string | null = null;
  #body: unknown = null;
  #wrote = false;

  constructor(route: AdminRoute, services: AdminServices, c: Context) {
    this.#route = route;
    this.#services = services;
    this.#c = c;
    this.#em = services.database.em();
    this.headers = { [`${services.settings.headerPrefix}request-id`]: this.id };
  }

  async run(signal: AbortSignal): Promise<unknown> {
    const { settings, apiKeyPepper } = this.#services;
    const route = this.#route;
    const request = this.#c.req;

    const prefixes = [settings.headerPrefix, ...settings.headerPrefixAliases];
    const credential = credentialOf((name) => request.header(name), prefixes);
    const who = await authenticate(this.#em, credential, apiKeyPepper);
    if ('refused' in who) {
      if (who.known)
        this.#actor = { ...who.known, keyId: who.known.id, workspaceId: who.known.workspaceId ?? null, userId: null };
      throw who.refused;
    }
    const actor = who.actor;
    this.#actor = actor;
    this.#workspaceId = actor.workspaceId;
    if (!route.scopes.some((scope) => actor.scopes.has(scope))) {
      throw forbidden(`This key lacks the scope ${route.scopes.join(' or ')}`);
    }

    const sent = route.body || route.method !== 'GET' ? await readJsonBody(request) : undefined;
    this.#body = maskSecrets(sent ?? null);
    const query = validate(route.query, readQuery(request.url), 'query') as Naming;
    const body = route.body ? (validate(route.body, sent ?? {}, 'body') as Naming) : undefined;
    const organisation = pick('organisation_id', query, body);
    if (organisation !== null && organisation !== actor.organisationId) throw notFound('Organisation');
    const named = pick('workspace_id', query, body);
    const params = request.param() as Record<string, string>;
    const workspaceId = await resolveWorkspace(this.#em, actor, route, named, params);
    this.#workspaceId = workspaceId;

    const call: AdminCall<unknown, unknown> = {
      actor,
      organisationId: actor.organisationId,
      workspaceId,
      params,
      query,
      body,
      em: this.#em,
      services: this.#services,
      tag: (revision) => {
        this.headers.etag = `"${revision}"`;
      },
      match: (revision) => {
        const wanted = request.header('if-match');
        if (wanted === undefined || wanted.trim() === '*') return;
        const named = wanted.split(',').map((tag) => tag.trim());
        if (!named.includes(`"${revision}"`)) throw new AdminError('AB12', 'if-match: it has been changed since; read it again');
      },
      write: async (work) => {
        if (this.#wrote) throw new Error('a call writes at most once');
        const result = await writeChange(this.#em, this.#auditDraft(actor), signal, work);
        this.#wrote = true;
        this.#services.wakeRelay();
        return result;
      },
    };
    return route.handle(call as AdminCall<never, never>);
  }

  /** Refused changes leave an entry too, as far as it is known whose they are. Without a database they are only logged. */
  async auditRefusal(error: AdminError): Promise<void> {
    if (this.#route.method === 'GET' || this.#wrote || !this.#actor || error.status >= 500) return;
    const em = this.#services.database.em();
    try {
      addAuditEntry(em, this.#auditDraft(this.#actor), { status: error.status, errorCode: error.code, resourceId: null });
      await em.flush();
    } catch (cause) {
      this.#services.log.error({ requestId: this.id, cause: causeOf(cause) }, 'a refused change could not be audited');
    }
  }

  #auditDraft(actor: Pick<Actor, 'keyId' | 'organisationId' | 'userId'>): AuditDraft {
    const route = this.#route;
    return {
      organisationId: actor.organisationId,
      workspaceId: this.#workspaceId,
      method: route.method,
      uri: this.#c.req.path.slice(0, 2_048),
      requestId: this.id,
      requestBody: this.#body,
      queryParams: readQueryLeniently(this.#c.req.url),
      userId: actor.userId ?? actor.keyId,
      userType: actor.userId ? 'user' : 'api_key',
      resourceType: route.resource,
      action: route.action,
      clientIp: clientAddress(this.#c, this.#services.settings),
    };
  }
}

interface Naming {
  readonly workspace_id?: string;
  readonly organisation_id?: string;
}

function pick(name: keyof Naming, query: Naming, body: Naming | undefined): string | null {
  const fromQuery = query[name];
  const fromBody = body?.[name];
  if (fromQuery !== undefined && fromBody !== undefined && fromQuery !== fromBody) {
    throw invalid(`${name}: the query and the body name different ones`);
  }
  return fromBody ?? fromQuery ?? null;
}

function readQuery(url: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of new URL(url).searchParams) {
    if (Object.hasOwn(out, name) || name === '__proto__') throw invalid(`query.${name}: given twice or not allowed`);
    if (/\p{Cc}/u.test(value)) throw invalid(`query.${name}: control characters are not allowed`);
    out[name] = value;
  }
  return out;
}

function readQueryLeniently(url: string): Record<string, string> {
  const pairs = [...new URL(url).searchParams].slice(0, 50);
  return Object.fromEntries(pairs.map(([name, value]) => [clean(name, 255), clean(value, 1_024)]));
}

function clean(text: string, max: number): string {
  return text.replace(/\p{Cc}/gu, '\u{fffd}').slice(0, max);
}

function logFailure(services: AdminServices, visit: Visit, error: AdminError, thrown: unknown): void {
  services.log.error({ requestId: visit.id, code: error.code, cause: causeOf(thrown) }, 'an admin request failed');
}
