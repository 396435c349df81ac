import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { ClientOrigin } from '../../core/contract/values/addresses/client-origin.ts';
import { maskCredentials } from '../../core/contract/values/text/mask-credentials.ts';
import { type AuditDraft, addAuditEntry } from '../audit/audit-entry.ts';
import { maskSecrets, maskValues } from '../audit/mask-secrets.ts';
import { failureFields } from '../failure-fields.ts';
import type { AdminServices } from './admin-services.ts';
import type { AuditActor } from './caller/actor.ts';
import { clientOrigin } from './caller/client-address.ts';
import { TooManyRequests } from './caller/rate-limit.ts';
import { AccessRefusal, type AdminError } from './errors.ts';
import { readAuditHeaders, readPath, readQueryLeniently } from './request/read-query.ts';
import type { AdminRoute } from './route.ts';

/** Audit data of one request, filled in as it becomes known. */
export class RequestAudit {
  readonly id = randomUUID();
  readonly origin: ClientOrigin;
  actor: AuditActor | null = null;
  /** True if the credential was refused. Anyone can send such requests in the name of the key or session. */
  isAnonymous = false;
  workspaceId: string | null = null;
  /** The body as sent; entries hold it masked. */
  body: unknown = null;
  /** True once body and query match the route's schema. Field names then identify the secrets. */
  isChecked = false;
  /** True once a change with its entry is committed. */
  wrote = false;
  readonly #route: AdminRoute;
  readonly #services: AdminServices;
  readonly #c: Context;

  constructor(route: AdminRoute, services: AdminServices, c: Context) {
    this.#route = route;
    this.#services = services;
    this.#c = c;
    this.origin = clientOrigin(c, services);
  }

  draft(actor: AuditActor): AuditDraft {
    const route = this.#route;
    const mask = (value: unknown) => (this.isChecked ? maskSecrets(value) : maskValues(maskSecrets(value)));
    const headers = maskSecrets(readAuditHeaders((name) => this.#c.req.header(name)));
    return {
      organisationId: actor.organisationId,
      workspaceId: this.workspaceId,
      method: route.method,
      uri: maskCredentials(readPath(this.#c.req.url)),
      requestId: this.id,
      requestBody: mask(this.body),
      queryParams: mask(readQueryLeniently(this.#c.req.url)) as AuditDraft['queryParams'],
      // The id of a JWT does not refer to a stored key.
      requestHeaders: actor.tokenSubject ? { ...headers, 'jwt-subject': actor.tokenSubject } : headers,
      userId: actor.userId ?? actor.keyId,
      userType: actor.userId ? 'user' : 'api_key',
      resourceType: route.resource,
      action: route.action,
      clientIp: this.origin.address,
      country: this.origin.country,
    };
  }

  /**
   * Rejected changes are recorded too, if their organisation is known, and refusals of access also for reads. Without a database they are
   * only logged. `findWorkspace` reads the workspace of a request that was rejected before its workspace was known; it may throw.
   */
  async noteRefusal(error: AdminError, findWorkspace: () => Promise<string | null>): Promise<void> {
    const refusal = error instanceof AccessRefusal ? { reason: error.reason, message: error.message } : null;
    if ((this.#route.method === 'GET' && !refusal) || this.wrote || !this.actor || error.status >= 500) return;
    // Rejections by the rate limit are not recorded, because a flood of requests would fill the trail.
    if (error instanceof TooManyRequests) return;
    const { database, auditKey, anonymousEntries, log } = this.#services;
    const omitted = this.isAnonymous ? anonymousEntries.take(this.actor.organisationId) : 0;
    if (omitted === null) return;
    this.workspaceId ??= await findWorkspace().catch(() => null);
    const facts = { ...refusal, ...(omitted > 0 ? { refusals_without_entry: omitted } : {}) };
    const draft = { ...this.draft(this.actor), ...(Object.keys(facts).length > 0 ? { requestBody: facts } : {}) };
    const outcome = { status: error.status, errorCode: error.code, about: null };
    try {
      await database.emOf(draft.organisationId).transactional((tx) => addAuditEntry(tx, auditKey, draft, outcome));
    } catch (cause) {
      log.error({ requestId: this.id, ...failureFields(cause) }, 'could not write the audit entry of a rejected change');
    }
  }
}
