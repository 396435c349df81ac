import * as v from 'valibot';
import { issueText } from '../../../core/contract/values/errors/input-issues.ts';
import { newId } from '../../db/new-id.ts';
import { TooManyRequests } from '../../http/caller/rate-limit.ts';
import { definePublicRoute, type PublicRoute } from '../../http/public-route.ts';
import { newSecret } from '../../identity/one-time-secret.ts';
import { oauthClients } from './entity.ts';
import { jsonReply, OAuthError, replyErrors } from './oauth-error.ts';
import { redirectUriIssue } from './redirect-uris.ts';

/** Cost of a registration for the limit of its address, in requests. */
const registrationCost = 600;
/** Clients that have registered and were never used. Housekeeping removes them after a day. */
const unusedMax = 10_000;

const text = v.optional(v.pipe(v.string(), v.maxLength(2_048)));
const registerBody = v.looseObject({
  client_name: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
  redirect_uris: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(20)),
  token_endpoint_auth_method: text,
  grant_types: v.optional(v.array(v.string())),
  response_types: v.optional(v.array(v.string())),
  logo_uri: text,
  client_uri: text,
  application_type: text,
});

/** Dynamic registration of clients (RFC 7591). All clients are public, also if they request another type. */
export const registerRoute: PublicRoute = definePublicRoute({
  method: 'POST',
  path: '/oauth/register',
  resource: 'oauth_grants',
  action: 'register',
  summary: 'Register an OAuth client (RFC 7591). Clients with a metadata document need not register',
  hasOAuthErrors: true,
  reply: v.looseObject({ client_id: v.string() }),
  body: v.looseObject({}),
  handle: (call) =>
    replyErrors(async () => {
      const { em, services, clientIp } = call;
      try {
        services.limits.perAddress.take(clientIp, registrationCost);
      } catch (thrown) {
        if (!(thrown instanceof TooManyRequests)) throw thrown;
        call.header('retry-after', String(thrown.retryAfterSeconds));
        throw new OAuthError('temporarily_unavailable', thrown.message, 429);
      }
      const parsed = v.safeParse(registerBody, call.body);
      if (!parsed.success) {
        throw new OAuthError('invalid_client_metadata', issueText(parsed.issues[0], 'body'));
      }
      const { client_name: name, redirect_uris: redirectUris } = parsed.output;
      for (const [index, uri] of redirectUris.entries()) {
        const issue = redirectUriIssue(uri);
        if (issue !== null) throw new OAuthError('invalid_redirect_uri', `redirect_uris[${index}]: ${issue}`);
      }
      if ((await em.count(oauthClients, { usedAt: null })) >= unusedMax) {
        throw new OAuthError(
          'temporarily_unavailable',
          'Too many clients have registered and were not used. Try again later',
          503,
        );
      }
      const now = services.clock.now();
      const clientId = newSecret('svc_client_');
      em.create(oauthClients, { id: newId(), clientId, name, redirectUris, createdAt: new Date(now), usedAt: null });
      await em.flush();
      const registered = {
        ...{ client_id: clientId, client_id_issued_at: Math.floor(now / 1_000), client_name: name, redirect_uris: redirectUris },
        ...{ token_endpoint_auth_method: 'none', response_types: ['code'], grant_types: ['authorization_code', 'refresh_token'] },
      };
      return jsonReply(registered, 201);
    }),
});
