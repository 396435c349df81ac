import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { type AuditDraft, type AuditOutcome, addAuditEntry } from '../audit/audit-entry.ts';
import { maskSecrets, maskValues } from '../audit/mask-secrets.ts';
import { failureFields } from '../failure-fields.ts';
import { writeChange } from '../publish/write-change.ts';
import { clientOrigin } from './caller/client-address.ts';
import { hashingDeadlineMs } from './caller/hashing-deadline.ts';
import { TooManyRequests } from './caller/rate-limit.ts';
import { requestOrigin } from './caller/same-origin.ts';
import { AdminError } from './errors.ts';
import type { KnownPerson, PublicCall, PublicRoute } from './public-route.ts';
import { allowReply } from './reply/allow-reply.ts';
import { RawReply } from './reply/raw-reply.ts';
import { errorReply, oauthErrorReply, toAdminError } from './reply/write-error.ts';
import { readJsonBody } from './request/read-body.ts';
import { readAuditHeaders, readPath, readQuery, readQueryLeniently } from './request/read-query.ts';
import { validate } from './request/validate.ts';
import type { AdminServices } from './route.ts';

/** Returns the Hono handler of a public route. Its replies are for one user and must not be cached. */
export function servePublicRoute(route: PublicRoute, services: AdminServices): (c: Context) => Promise<Response> {
  return async (c) => {
    const requestId = randomUUID();
    const startedAtMs = services.clock.elapsed();
    const cookies: string[] = [];
    const headers: Record<string, string> = {
      [`${services.settings.headerPrefix}request-id`]: requestId,
      'x-request-id': requestId,
      'cache-control': 'no-store',
    };
    const expired = new AbortController();
    const deadline = new AdminError('AB10', 'The request timed out. Try again shortly');
    const timer = setTimeout(() => expired.abort(deadline), hashingDeadlineMs);
    const late = new Promise<never>((_, reject) => {
      expired.signal.addEventListener('abort', () => reject(deadline), { once: true });
    });
    try {
      const attemptReply = run(route, services, c, { requestId, headers, cookies, signal: expired.signal });
      attemptReply.catch(() => {});
      const reply = await Promise.race([attemptReply, late]);
      for (const cookie of cookies) c.header('set-cookie', cookie, { append: true });
      if (reply instanceof RawReply) return c.newResponse(reply.body, reply.status, { ...headers, ...reply.headers });
      return c.json(allowReply(route, reply, services.strictReplies, services.log) as object, 200, headers);
    } catch (thrown) {
      const error = toAdminError(thrown);
      if (error.status >= 500 && error !== thrown) {
        services.log.error({ requestId, code: error.code, ...failureFields(thrown) }, 'admin request failed');
      } else {
        const durationMs = Math.round(services.clock.elapsed() - startedAtMs);
        const pattern = `${route.method} ${route.path}`;
        services.logRejection(error, { route: pattern, requestId, keyId: null, workspaceId: null, durationMs });
      }
      const failed = (route.hasOAuthErrors ? oauthErrorReply : errorReply)(error, headers);
      if (!route.errorPage || !c.req.header('accept')?.includes('text/html')) return failed;
      const page = await route.errorPage(error);
      return new Response(page.body, {
        status: error.status,
        headers: { ...Object.fromEntries(failed.headers), ...page.headers },
      });
    } finally {
      clearTimeout(timer);
    }
  };
}

interface Replying {
  readonly requestId: string;
  readonly headers: Record<string, string>;
  readonly cookies: string[];
  readonly signal: AbortSignal;
}

async function run(
  route: PublicRoute,
  services: AdminServices,
  c: Context,
  { requestId, headers, cookies, signal }: Replying,
): Promise<unknown> {
  const { database, auditKey, settings } = services;
  const header = (name: string) => c.req.header(name);
  const { address: clientIp, country } = clientOrigin(c, services);
  services.limits.perAddress.take(clientIp);
  let sent: unknown;
  const params = c.req.param() as Record<string, string>;
  let isChecked = false;
  let isAudited = false;
  const draftOf = (person: KnownPerson): AuditDraft => ({
    organisationId: person.organisationId,
    workspaceId: null,
    method: route.method,
    uri: readPath(c.req.url),
    requestId,
    // Forms hold assertions and tokens of identity providers.
    requestBody: route.readBody ? null : isChecked ? maskSecrets(sent ?? null) : maskValues(maskSecrets(sent ?? null)),
    queryParams: {},
    requestHeaders: maskSecrets(readAuditHeaders(header)),
    userId: person.userId,
    userType: 'user',
    resourceType: route.resource,
    action: route.action,
    clientIp,
    country,
  });

  const addRefusal = async (
    person: KnownPerson,
    refusal: Pick<AuditOutcome, 'status' | 'errorCode'>,
    details?: Readonly<Record<string, unknown>>,
  ): Promise<void> => {
    const { organisationId, userId } = person;
    const omitted = person.isAnonymous ? services.anonymousEntries.take(organisationId) : 0;
    if (omitted === null) return;
    const facts = { ...details, ...(omitted > 0 ? { refusals_without_entry: omitted } : {}) };
    const draft = { ...draftOf(person), ...(Object.keys(facts).length > 0 ? { requestBody: maskSecrets(facts) } : {}) };
    const outcome = { ...refusal, about: userId === null ? null : { id: userId } };
    await database.emOf(organisationId).transactional((tx) => addAuditEntry(tx, auditKey, draft, outcome));
  };

  const callOf = (body: unknown, query: unknown): PublicCall<unknown> => ({
    params,
    query,
    rawQuery: /\?([^#]*)/.exec(c.req.url)?.[1] ?? '',
    body,
    clientIp,
    userAgent: header('user-agent') ?? null,
    origin: requestOrigin(header, settings),
    em: database.em(),
    services,
    header: (name, value) => {
      if (name === 'set-cookie') cookies.push(value);
      else headers[name] = value;
    },
    requestHeader: header,
    afterwards: (work) => services.background.run(work),
    async write(person, work) {
      const em = database.emOf(person.organisationId);
      const result = await writeChange(em, auditKey, draftOf(person), signal, work, services.wakeRelay);
      isAudited = true;
      return result;
    },
    auditRefusal(person, status, errorCode, details) {
      isAudited = true;
      services.background.run(() => addRefusal(person, { status, errorCode }, details));
    },
  });

  try {
    if (route.body !== null) sent = await (route.readBody ?? readJsonBody)(c.req);
    const body = route.body === null ? undefined : validate(route.body, sent ?? {}, 'body');
    const query = route.query === undefined ? {} : validate(route.query, readQuery(c.req.url), 'query');
    isChecked = true;
    return await route.handle(callOf(body, query) as PublicCall<never>);
  } catch (thrown) {
    const { status, code: errorCode } = toAdminError(thrown);
    const { personOf } = route;
    // A flood of requests must not fill the trail.
    if (personOf && !isAudited && status < 500 && !(thrown instanceof TooManyRequests)) {
      services.background.run(async () => {
        const person = await personOf(database.em(), { body: sent, query: readQueryLeniently(c.req.url), params });
        if (person) await addRefusal(person, { status, errorCode });
      });
    }
    throw thrown;
  }
}
