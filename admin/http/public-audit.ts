import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import type { ClientOrigin } from '../../core/contract/values/addresses/client-origin.ts';
import { type AuditDraft, type AuditOutcome, addAuditEntry } from '../audit/audit-entry.ts';
import { maskSecrets, maskValues } from '../audit/mask-secrets.ts';
import type { AdminServices } from './admin-services.ts';
import { clientOrigin } from './caller/client-address.ts';
import { TooManyRequests } from './caller/rate-limit.ts';
import type { KnownPerson, PublicRoute } from './public-route.ts';
import { toAdminError } from './reply/write-error.ts';
import { readAuditHeaders, readPath, readQueryLeniently } from './request/read-query.ts';

type Refusal = Pick<AuditOutcome, 'status' | 'errorCode'>;

/** Audit data of one request without authentication, filled in as it becomes known. */
export class PublicAudit {
  readonly id = randomUUID();
  readonly origin: ClientOrigin;
  /** The body as sent; entries hold it masked. */
  body: unknown;
  /** True once body and query match the route's schemas. Field names then identify the secrets. */
  isChecked = false;
  /** True once the request has an entry. */
  isAudited = false;
  readonly #route: PublicRoute;
  readonly #services: AdminServices;
  readonly #c: Context;

  constructor(route: PublicRoute, services: AdminServices, c: Context) {
    this.#route = route;
    this.#services = services;
    this.#c = c;
    this.origin = clientOrigin(c, services);
  }

  draft({ organisationId, userId }: KnownPerson): AuditDraft {
    const [route, { req }, body] = [this.#route, this.#c, this.body ?? null];
    return {
      organisationId,
      workspaceId: null,
      method: route.method,
      uri: readPath(req.url),
      requestId: this.id,
      // Forms hold assertions and tokens of identity providers.
      requestBody: route.readBody ? null : this.isChecked ? maskSecrets(body) : maskValues(maskSecrets(body)),
      queryParams: {},
      requestHeaders: maskSecrets(readAuditHeaders((name) => req.header(name))),
      userId,
      userType: 'user',
      resourceType: route.resource,
      action: route.action,
      clientIp: this.origin.address,
      country: this.origin.country,
    };
  }

  /** Stores an entry about a refusal, unless there are too many that anyone can cause. `details` replace the request body. */
  async addRefusal(person: KnownPerson, refusal: Refusal, details?: Readonly<Record<string, unknown>>): Promise<void> {
    const { database, auditKey, anonymousEntries } = this.#services;
    const { organisationId, userId } = person;
    const omitted = person.isAnonymous ? anonymousEntries.take(organisationId) : 0;
    if (omitted === null) return;
    const facts = { ...details, ...(omitted > 0 ? { refusals_without_entry: omitted } : {}) };
    const draft = { ...this.draft(person), ...(Object.keys(facts).length > 0 ? { requestBody: maskSecrets(facts) } : {}) };
    const outcome = { ...refusal, about: userId === null ? null : { id: userId } };
    await database.emOf(organisationId).transactional((tx) => addAuditEntry(tx, auditKey, draft, outcome));
  }

  /** Adds the entry of a request that failed without one, in the background, if its route finds the person whom it concerns. */
  noteRefusal(thrown: unknown): void {
    const { background, database } = this.#services;
    const { status, code: errorCode } = toAdminError(thrown);
    const { personOf } = this.#route;
    // A flood of requests must not fill the trail.
    if (!personOf || this.isAudited || status >= 500 || thrown instanceof TooManyRequests) return;
    const { req } = this.#c;
    const params = req.param() as Record<string, string>;
    background.run(async () => {
      const person = await personOf(database.em(), { body: this.body, query: readQueryLeniently(req.url), params });
      if (person) await this.addRefusal(person, { status, errorCode });
    });
  }
}
