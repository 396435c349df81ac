import type { Context } from 'hono';
import { writeChange } from '../publish/write-change.ts';
import type { AdminServices } from './admin-services.ts';
import { hashingDeadlineMs } from './caller/hashing-deadline.ts';
import { requestOrigin } from './caller/same-origin.ts';
import { AdminError } from './errors.ts';
import { logFailedRequest } from './log-rejection.ts';
import { PublicAudit } from './public-audit.ts';
import type { PublicCall, PublicRoute } from './public-route.ts';
import { allowReply } from './reply/allow-reply.ts';
import { RawReply } from './reply/raw-reply.ts';
import { errorReply, oauthErrorReply, toAdminError } from './reply/write-error.ts';
import { readJsonBody } from './request/read-body.ts';
import { readQuery } from './request/read-query.ts';
import { validate } from './request/validate.ts';

/** Returns the Hono handler of a public route. Its replies are for one user and must not be cached. */
export function servePublicRoute(route: PublicRoute, services: AdminServices): (c: Context) => Promise<Response> {
  return async (c) => {
    const audit = new PublicAudit(route, services, c);
    const requestId = audit.id;
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
      const running = run(route, services, c, audit, {
        ...{ headers, cookies, signal: expired.signal },
        // A change whose commit has begun may be stored: its reply waits for the outcome.
        begins: () => clearTimeout(timer),
      });
      running.catch(() => {});
      const reply = await Promise.race([running, late]);
      for (const cookie of cookies) c.header('set-cookie', cookie, { append: true });
      if (reply instanceof RawReply) return c.newResponse(reply.body, reply.status, { ...headers, ...reply.headers });
      return c.json(allowReply(route, reply, services.strictReplies, services.log) as object, 200, headers);
    } catch (thrown) {
      const error = toAdminError(thrown);
      logFailedRequest(services, thrown, error, {
        ...{ route: `${route.method} ${route.path}`, requestId, keyId: null, workspaceId: null },
        durationMs: Math.round(services.clock.elapsed() - startedAtMs),
      });
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
  readonly headers: Record<string, string>;
  readonly cookies: string[];
  readonly signal: AbortSignal;
  /** Ends the time limit. */
  readonly begins: () => void;
}

async function run(
  route: PublicRoute,
  services: AdminServices,
  c: Context,
  audit: PublicAudit,
  replying: Replying,
): Promise<unknown> {
  services.limits.perAddress.take(audit.origin.address);
  try {
    if (route.body !== null) audit.body = await (route.readBody ?? readJsonBody)(c.req);
    const body = route.body === null ? undefined : validate(route.body, audit.body ?? {}, 'body');
    const query = route.query === undefined ? {} : validate(route.query, readQuery(c.req.url), 'query');
    audit.isChecked = true;
    return await route.handle({ ...callOf(services, c, audit, replying), body, query } as PublicCall<never>);
  } catch (thrown) {
    audit.noteRefusal(thrown);
    throw thrown;
  }
}

function callOf(
  services: AdminServices,
  c: Context,
  audit: PublicAudit,
  { headers, cookies, signal, begins }: Replying,
): Omit<PublicCall<unknown>, 'body' | 'query'> {
  const { database, auditKey, background, settings, wakeRelay } = services;
  const header = (name: string) => c.req.header(name);
  return {
    params: c.req.param() as Record<string, string>,
    rawQuery: /\?([^#]*)/.exec(c.req.url)?.[1] ?? '',
    clientIp: audit.origin.address,
    userAgent: header('user-agent') ?? null,
    origin: requestOrigin(header, settings),
    em: database.em(),
    services,
    header: (name, value) => {
      if (name === 'set-cookie') cookies.push(value);
      else headers[name] = value;
    },
    requestHeader: header,
    afterwards: (work) => background.run(work),
    async write(person, work) {
      const em = database.emOf(person.organisationId);
      const hooks = { begins, committed: wakeRelay };
      const result = await writeChange(em, auditKey, audit.draft(person), signal, work, hooks);
      audit.isAudited = true;
      return result;
    },
    auditRefusal(person, status, errorCode, details) {
      audit.isAudited = true;
      background.run(() => audit.addRefusal(person, { status, errorCode }, details));
    },
  };
}
