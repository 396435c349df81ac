import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { ClientOrigin } from '../../core/contract/client-origin.ts';
import { requireRight } from '../access/may-use.ts';
import { inWorkspace } from '../access/session-actor.ts';
import { type AuditDraft, addAuditEntry } from '../audit/audit-entry.ts';
import { maskSecrets } from '../audit/mask-secrets.ts';
import { causeOf } from '../cause-of.ts';
import { type Change, writeChange } from '../db/write-change.ts';
import { allowReply } from './allow-reply.ts';
import { authenticate } from './authenticate.ts';
import { clientOrigin } from './client-address.ts';
import { AdminError, invalid, notFound } from './errors.ts';
import { type KeptReply, type Repeat, repeatOf } from './idempotency/repeat.ts';
import { TooManyRequests } from './rate-limit.ts';
import { RawReply } from './raw-reply.ts';
import { readJsonBody } from './read-body.ts';
import { readParams, readPath, readQuery, readQueryLeniently, readToldHeaders } from './read-query.ts';
import { resolveWorkspace } from './resolve-workspace.ts';
import type { Actor, AdminCall, AdminRoute, AdminServices } from './route.ts';
import { validate } from './validate.ts';
import { errorReply, toAdminError } from './write-error.ts';

/** Longest an admin request may take before it is answered 503; what it was about to write is then rolled back. */
const deadlineMs = 2_800;

/** What a request with a bad key costs its address, in requests. */
const failureCost = 20;

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
      if (result instanceof RawReply) return c.body(result.body, result.status, { ...visit.headers, ...result.headers });
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
  readonly #origin: ClientOrigin;
  #actor: Pick<Actor, 'keyId' | 'organisationId' | 'workspaceId' | 'userId' | 'tokenSubject'> | null = null;
  #workspaceId: string | null = null;
  #body: unknown = null;
  #wrote = false;

  constructor(route: AdminRoute, services: AdminServices, c: Context) {
    this.#route = route;
    this.#services = services;
    this.#c = c;
    this.#origin = clientOrigin(c, services);
    this.headers = { [`${services.settings.headerPrefix}request-id`]: this.id };
  }

  async run(signal: AbortSignal): Promise<unknown> {
    const { settings, database, limits } = this.#services;
    const route = this.#route;
    const request = this.#c.req;

    limits.perAddress.take(this.#origin.address);
    // Whose it is has to be found among everybody's; from here on the request sees its own organisation only.
    const who = await authenticate(
      database.em(),
      {
        method: route.method,
        path: readPath(request.url),
        requestId: this.id,
        clientAddress: this.#origin.address,
        header: (name) => request.header(name),
      },
      this.#services,
    );
    if ('refused' in who) {
      limits.perAddress.charge(this.#origin.address, failureCost);
      if (who.known)
        this.#actor = { ...who.known, keyId: who.known.id, workspaceId: who.known.workspaceId ?? null, userId: null };
      throw who.refused;
    }
    let actor = who.actor;
    this.#actor = actor;
    this.#workspaceId = actor.workspaceId;
    limits.perKey.take(actor.keyId);
    const em = database.emOf(actor.organisationId);
    requireRight(route, actor);

    const sent = route.body || route.method !== 'GET' ? await readJsonBody(request) : undefined;
    this.#body = maskSecrets(sent ?? null);
    const query = validate(route.query, readQuery(request.url), 'query') as Naming;
    const body = route.body ? (validate(route.body, sent ?? {}, 'body') as Naming) : undefined;
    const organisation = pick('organisation_id', query, body);
    if (organisation !== null && organisation !== actor.organisationId) throw notFound('Organisation');
    const selected = actor.session ? request.header(`${settings.headerPrefix}workspace`) : undefined;
    const named = pick('workspace_id', query, body) ?? selected ?? null;
    const params = readParams(request.param() as Record<string, string>);
    const workspaceId = await resolveWorkspace(em, actor, route, named, params);
    this.#workspaceId = workspaceId;
    // What a person may do depends on the workspace, which is known only now.
    actor = await inWorkspace(em, actor, workspaceId);
    requireRight(route, actor);

    const key = route.method === 'POST' ? request.header('idempotency-key') : undefined;
    const repeat =
      key === undefined
        ? null
        : repeatOf({ key, actor, workspaceId, route, params, query, body: sent }, this.#services, () =>
            database.emOf(actor.organisationId),
          );
    const call: AdminCall<unknown, unknown> = {
      actor,
      organisationId: actor.organisationId,
      workspaceId,
      params,
      query,
      body,
      accept: request.header('accept') ?? '',
      em,
      services: this.#services,
      tag: (revision) => {
        this.headers.etag = `"${revision}"`;
      },
      header: (name, value) => {
        this.headers[name.toLowerCase()] = value;
      },
      match: (revision) => matchRevision(request.header('if-match'), revision),
      write: async (work) => {
        if (this.#wrote) throw new Error('a call writes at most once');
        const claimAndWork = async (change: Change) => {
          await repeat?.claim(change.tx);
          return work(change);
        };
        const { auditKey, wakeRelay } = this.#services;
        const result = await writeChange(em, auditKey, this.#auditDraft(actor), signal, claimAndWork, wakeRelay);
        this.#wrote = true;
        return result;
      },
    };
    const known = await repeat?.find();
    if (known) return this.#sayAgain(known);
    try {
      const reply = await route.handle(call as AdminCall<never, never>);
      if (reply instanceof RawReply) return reply;
      const allowed = allowReply(route, reply, this.#services.strictReplies, this.#services.log);
      if (repeat && this.#wrote) await this.#keepReply(repeat, allowed);
      return allowed;
    } catch (thrown) {
      // Perhaps it was refused because the first request with this key has just done the same.
      const first = this.#wrote ? null : await repeat?.find();
      if (first) return this.#sayAgain(first);
      throw thrown;
    }
  }

  #sayAgain(kept: KeptReply): unknown {
    Object.assign(this.headers, kept.headers, { 'idempotency-replayed': 'true' });
    return kept.reply;
  }

  /** What was done is done: without the kept reply a repetition is told so instead of being done again. */
  async #keepReply(repeat: Repeat, reply: unknown): Promise<void> {
    const { etag } = this.headers;
    try {
      await repeat.keep({ reply, headers: etag === undefined ? {} : { etag } });
    } catch (cause) {
      this.#services.log.error(
        { requestId: this.id, cause: causeOf(cause) },
        'the reply to an idempotency-key could not be kept',
      );
    }
  }

  /** Refused changes leave an entry too, as far as it is known whose they are. Without a database they are only logged. */
  async auditRefusal(error: AdminError): Promise<void> {
    if (this.#route.method === 'GET' || this.#wrote || !this.#actor || error.status >= 500) return;
    // Not what the rate limit turns away: it would fill the trail at the speed of the flood.
    if (error instanceof TooManyRequests) return;
    const { database, auditKey } = this.#services;
    const draft = this.#auditDraft(this.#actor);
    const outcome = { status: error.status, errorCode: error.code, resourceId: null };
    try {
      await database.emOf(draft.organisationId).transactional((tx) => addAuditEntry(tx, auditKey, draft, outcome));
    } catch (cause) {
      this.#services.log.error({ requestId: this.id, cause: causeOf(cause) }, 'a refused change could not be audited');
    }
  }

  #auditDraft(actor: Pick<Actor, 'keyId' | 'organisationId' | 'userId' | 'tokenSubject'>): AuditDraft {
    const route = this.#route;
    const told = readToldHeaders((name) => this.#c.req.header(name));
    return {
      organisationId: actor.organisationId,
      workspaceId: this.#workspaceId,
      method: route.method,
      uri: readPath(this.#c.req.url),
      requestId: this.id,
      requestBody: this.#body,
      queryParams: readQueryLeniently(this.#c.req.url),
      // The id of a token names no key that anybody could look up.
      requestHeaders: actor.tokenSubject ? { ...told, 'jwt-subject': actor.tokenSubject } : told,
      userId: actor.userId ?? actor.keyId,
      userType: actor.userId ? 'user' : 'api_key',
      resourceType: route.resource,
      action: route.action,
      clientIp: this.#origin.address,
      country: this.#origin.country,
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

/** Throws AB12 unless `if-match` is absent or names the revision. */
function matchRevision(wanted: string | undefined, revision: number): void {
  if (wanted === undefined || wanted.trim() === '*') return;
  const named = wanted.split(',').map((tag) => tag.trim());
  if (!named.includes(`"${revision}"`)) throw new AdminError('AB12', 'if-match: it has been changed since; read it again');
}

function logFailure(services: AdminServices, visit: Visit, error: AdminError, thrown: unknown): void {
  services.log.error({ requestId: visit.id, code: error.code, cause: causeOf(thrown) }, 'an admin request failed');
}
