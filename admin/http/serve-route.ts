import type { Context } from 'hono';
import { isUuid } from '../../core/contract/values/text/uuid.ts';
import type { AuditedRow } from '../audit/audit-entry.ts';
import { workspaceOfRow } from '../db/workspace-of-row.ts';
import { type Change, writeChange } from '../publish/write-change.ts';
import type { AdminCall, Versioned } from './admin-call.ts';
import type { AdminServices, Write } from './admin-services.ts';
import type { Actor } from './caller/actor.ts';
import { requireScope } from './caller/require-scope.ts';
import { AdminError, notFound } from './errors.ts';
import { type Repeat, repeatOf } from './idempotency/repeat.ts';
import { replyOnce } from './idempotency/reply-once.ts';
import { logFailedRequest } from './log-rejection.ts';
import { allowReply } from './reply/allow-reply.ts';
import { RawReply } from './reply/raw-reply.ts';
import { unusedHeader, unusedSettings } from './reply/unused-settings.ts';
import { errorReply, lateText, toAdminError } from './reply/write-error.ts';
import { readJsonBody } from './request/read-body.ts';
import {
  matchRevision,
  namesOf,
  type ReadCall,
  readCall,
  requireNoCondition,
  requireOwnerAsSent,
  workspaceOfUnchecked,
} from './request/read-call.ts';
import { readPath } from './request/read-query.ts';
import { RequestAudit } from './request-audit.ts';
import type { AdminRoute } from './route.ts';

/** Maximum milliseconds of an admin request before it gets a 503; its uncommitted changes are then rolled back. */
const commonDeadlineMs = 2_800;

/** Cost of a request with a bad key for the limit of its address, in requests. */
const failureCost = 20;

/** Returns the Hono handler of a route. It authenticates, validates, authorises, runs the route and replies. */
export function serveRoute(route: AdminRoute, services: AdminServices): (c: Context) => Promise<Response> {
  return async (c) => {
    const call = new RouteCall(route, services, c);
    const startedAtMs = services.clock.elapsed();
    const expired = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          const text = route.deadlineMs === undefined ? lateText : 'The request timed out. Try again shortly';
          const deadline = new AdminError('AB10', text);
          expired.abort(deadline);
          reject(deadline);
        },
        services.requestDeadlineMs ?? route.deadlineMs ?? commonDeadlineMs,
      );
    });
    try {
      // A change whose commit has begun may be stored: its reply waits for the outcome.
      const reply = call.run({ signal: expired.signal, begins: () => clearTimeout(timer) });
      reply.catch(() => {});
      const result = await Promise.race([reply, late]);
      if (result instanceof RawReply) return c.newResponse(result.body, result.status, { ...call.headers, ...result.headers });
      return c.json(result as object, 200, call.headers);
    } catch (thrown) {
      const error = toAdminError(thrown);
      const { id: requestId, actor, workspaceId } = call.trail;
      logFailedRequest(services, thrown, error, {
        ...{ route: `${route.method} ${route.path}`, requestId, keyId: actor?.keyId ?? null, workspaceId },
        durationMs: Math.round(services.clock.elapsed() - startedAtMs),
      });
      await call.trail.noteRefusal(error, () => call.findWorkspace());
      const toReply = route.errorReply ?? route.protocol?.errorReply ?? errorReply;
      return toReply(error, call.headers, c.req.header('content-type') ?? '');
    } finally {
      clearTimeout(timer);
    }
  };
}

/** A request whose workspace is known. */
interface ResolvedCall extends Omit<ReadCall, 'workspaceNames'> {
  readonly workspaceId: string | null;
}

/** An authorised actor and the context their change runs in. */
interface Admitted {
  readonly actor: Actor;
  readonly em: AdminCall<unknown, unknown>['em'];
  readonly repeat: Repeat | null;
  readonly limit: TimeLimit;
}

interface TimeLimit {
  readonly signal: AbortSignal;
  /** Ends the limit. */
  readonly begins: () => void;
}

/** One request on its way through its route. */
class RouteCall {
  readonly trail: RequestAudit;
  /** Headers of the reply. */
  readonly headers: Record<string, string>;
  /** Paths of settings that are stored without effect. */
  readonly #unused: string[] = [];
  readonly #route: AdminRoute;
  readonly #services: AdminServices;
  readonly #c: Context;
  #caller: Actor | null = null;
  /** The row whose version was compared; null before `match`. */
  #matched: Versioned | null = null;
  /** The body as sent, before it is checked. */
  #sent: unknown;

  constructor(route: AdminRoute, services: AdminServices, c: Context) {
    this.#route = route;
    this.#services = services;
    this.#c = c;
    this.trail = new RequestAudit(route, services, c);
    // Otherwise the back button shows replies after the sign-out, and shared caches may store replies to requests with x-svc-api-key.
    this.headers = {
      [`${services.settings.headerPrefix}request-id`]: this.trail.id,
      'x-request-id': this.trail.id,
      'cache-control': 'no-store',
    };
  }

  async run(limit: TimeLimit): Promise<unknown> {
    const { settings, database, strictReplies, log, callers } = this.#services;
    const [route, request, trail] = [this.#route, this.#c.req, this.trail];
    const caller = await this.#identify();
    this.#caller = caller;
    const em = database.emOf(caller.organisationId);
    requireScope(route, caller, callers.scopesByType);

    const readBody = route.readBody ?? readJsonBody;
    const sent = route.body || route.method !== 'GET' ? await readBody(request) : undefined;
    this.#sent = sent;
    trail.body = route.readBody ? null : (sent ?? null);
    const read = readCall(route, request, sent, caller.organisationId);
    trail.isChecked = true;
    const names = read.workspaceNames.length > 0 ? read.workspaceNames : this.#selectedBy(caller);
    const workspaceId = await callers.resolveWorkspace(em, caller, route, names, namesOf(route, read));
    trail.workspaceId = workspaceId;
    // A user's scopes depend on the workspace, which is known only now.
    const actor = await callers.inWorkspace(em, caller, workspaceId);
    requireScope(route, actor, callers.scopesByType);

    const { workspaceNames: _, ...parts } = read;
    const repeat = this.#repeatOf({ ...parts, workspaceId }, actor, sent);
    const call = this.#callOf({ ...parts, workspaceId }, { actor, em, repeat, limit });
    const current = { id: trail.id, wrote: () => trail.wrote, headers: this.headers, log };
    return replyOnce(repeat, current, async () => {
      const reply = await route.handle(call as AdminCall<never, never>);
      this.#unused.push(...unusedSettings(route.body ?? {}, sent));
      if (this.#unused.length > 0) this.headers[`${settings.headerPrefix}unused-settings`] = unusedHeader(this.#unused);
      return reply instanceof RawReply ? reply : allowReply(route, reply, strictReplies, log);
    });
  }

  /**
   * The workspace that a request names, itself or by the row id of an item, although the rest of it may be invalid. Throws if the caller may
   * not use it.
   */
  async findWorkspace(): Promise<string | null> {
    const { database, callers } = this.#services;
    const [route, caller, { req }] = [this.#route, this.#caller, this.#c];
    if (!caller) return null;
    const params = req.param() as Record<string, string>;
    const named = params.workspaceId ?? workspaceOfUnchecked(req.url, this.#sent);
    // A workspace in a path of the organisation is the one that the change concerns.
    const of = named === null ? route : { ...route, tenant: 'workspace' as const };
    const em = database.emOf(caller.organisationId);
    const names = namesOf(route, { params, body: this.#sent });
    const selected = named === null ? this.#selectedBy(caller) : [named];
    const found = await callers.resolveWorkspace(em, caller, of, selected, names);
    const id = Object.values(names).find(isUuid);
    return found ?? (id === undefined ? null : workspaceOfRow(em, caller.organisationId, id));
  }

  /** The workspace that a user has selected, which applies if the request names none. Keys have no selection. */
  #selectedBy({ session }: Actor): string[] {
    const selected = session ? this.#c.req.header(`${this.#services.settings.headerPrefix}workspace`) : undefined;
    return selected === undefined ? [] : [selected];
  }

  /** Identifies the actor with a search across organisations. Later queries see only the actor's organisation. */
  async #identify(): Promise<Actor> {
    const { limits, database, callers } = this.#services;
    const [request, trail] = [this.#c.req, this.trail];
    const clientAddress = trail.origin.address;
    limits.perAddress.take(clientAddress);
    const shown = {
      method: this.#route.method,
      path: readPath(request.url),
      requestId: trail.id,
      clientAddress,
      header: (name: string) => request.header(name),
      ...(this.#route.dataServiceToo
        ? { dataService: { scopes: this.#route.scopes, organisationId: request.query('organisation_id') } }
        : {}),
    };
    const who = await callers.authenticate(database.em(), shown, this.#services);
    if ('refused' in who) {
      limits.perAddress.charge(clientAddress, failureCost);
      trail.isAnonymous = true;
      if (who.known) trail.actor = who.known;
      throw who.refused;
    }
    trail.actor = who.actor;
    trail.workspaceId = who.actor.workspaceId;
    limits.perKey.take(who.actor.keyId);
    return who.actor;
  }

  /** Null without an `idempotency-key`. */
  #repeatOf({ params, query, workspaceId }: ResolvedCall, actor: Actor, sent: unknown): Repeat | null {
    const route = this.#route;
    const key = route.method === 'POST' ? this.#c.req.header('idempotency-key') : undefined;
    if (key === undefined) return null;
    const { database } = this.#services;
    const of = { key, actor, workspaceId, route, params, query, body: sent };
    return repeatOf(of, this.#services, () => database.emOf(actor.organisationId));
  }

  #callOf(read: ResolvedCall, admitted: Admitted): AdminCall<unknown, unknown> {
    const { actor, em, repeat } = admitted;
    const request = this.#c.req;
    return {
      ...read,
      actor,
      organisationId: actor.organisationId,
      contentType: request.header('content-type') ?? '',
      accept: request.header('accept') ?? '',
      ifNoneMatch: request.header('if-none-match') ?? '',
      option: (name) => {
        const { headerPrefix, headerPrefixAliases } = this.#services.settings;
        const sent = [headerPrefix, ...headerPrefixAliases].map((prefix) => request.header(prefix + name));
        return sent.find((value) => value !== undefined) ?? '';
      },
      em,
      services: this.#services,
      tag: (revision) => {
        this.headers.etag = `"${revision}"`;
      },
      header: (name, value) => {
        this.headers[name.toLowerCase()] = value;
      },
      unused: (...paths) => {
        this.#unused.push(...paths);
      },
      match: (row) => {
        this.#matched = row;
        requireOwnerAsSent(read.body, row);
        matchRevision(request.header('if-match'), row.revision);
      },
      claim: async (tx) => repeat?.claim(tx),
      release: async () => repeat?.release(),
      write: (work) => this.#write(read.workspaceId, admitted, work),
    };
  }

  /** Runs a change with the claim of its `idempotency-key`, its audit entry and its webhooks. */
  async #write<T>(
    workspaceId: string | null,
    { actor, em, repeat, limit }: Admitted,
    work: (change: Change) => Promise<T>,
  ): Promise<T> {
    const { trail } = this;
    if (trail.wrote) throw new Error('a call writes at most once');
    const { auditKey, wakeRelay, wakeJobs, callers, announceWrite } = this.#services;
    const { resource, action, method } = this.#route;
    let addedJobs = false;
    const claimAndWork = async (change: Change) => {
      await repeat?.claim(change.tx);
      // Rejects changes in a workspace that is being deleted.
      if (workspaceId !== null && !(await callers.holdWorkspace(change.tx, actor.organisationId, workspaceId)))
        throw notFound('Workspace');
      const rows: AuditedRow[] = [];
      const about = (row: AuditedRow): void => {
        rows.push(row);
        change.about(row);
      };
      const result = await work({ ...change, about });
      if (this.#matched === null) requireNoCondition(this.#c.req.header('if-match'));
      const item = itemOf(rows.at(-1), workspaceId);
      if (item === null) return result;
      await change.tx.flush();
      addedJobs = await announceWrite(change.tx, { actor, resource, action, item });
      return result;
    };
    const hooks = { begins: limit.begins, committed: wakeRelay };
    const result = await writeChange(em, auditKey, trail.draft(actor), limit.signal, claimAndWork, hooks);
    trail.wrote = true;
    if (this.#matched !== null && method !== 'DELETE') this.headers.etag = `"${this.#matched.revision}"`;
    if (addedJobs) wakeJobs();
    return result;
  }
}

/** Null: nothing was written, or something of the organisation. */
function itemOf(row: AuditedRow | undefined, workspaceId: string | null): Write['item'] | null {
  const owner = row?.workspaceId ?? workspaceId;
  return row === undefined || owner === null ? null : { id: row.id, slug: row.slug, workspaceId: owner };
}
