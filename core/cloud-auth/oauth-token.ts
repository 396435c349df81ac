import type { SignServices, Token, TokenRequest } from '../contract/provider/sign-services.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { headerValuePattern } from '../contract/values/http/http.ts';
import { retryAfterMs } from '../contract/values/http/retry-after.ts';
import { isObject, isText, type JsonObject, parseObject } from '../contract/values/json/json.ts';

type TokenReply = Awaited<ReturnType<SignServices['fetch']>>;

/** Lifetime in seconds if the server sends none (RFC 6749 §5.1 only recommends that it does). */
const lifetimeSeconds = 300;

/**
 * Requests a token from an OAuth token endpoint (RFC 6749 §4.4): posts the form and reads `access_token` and `expires_in`. Throws
 * GatewayError `upstream_status` with the server's status and error text, prefixed with `who`.
 */
export function postForToken(
  services: SignServices,
  url: string,
  form: Readonly<Record<string, string>>,
  who: string,
): Promise<Token> {
  return askForToken(
    services,
    {
      url,
      method: 'POST',
      headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
      body: new URLSearchParams(form).toString(),
    },
    who,
  );
}

/** Like `postForToken`, for any request whose reply is `{access_token}` with `expires_in` or `expires_on`. */
export async function askForToken(services: SignServices, request: TokenRequest, who: string): Promise<Token> {
  const askedAtMs = services.now();
  return tokenOf(await services.fetch(request), askedAtMs, who);
}

/** Returns the token in a reply to a request of this time. Throws GatewayError as `postForToken` does. */
export function tokenOf(reply: TokenReply, askedAtMs: number, who: string): Token {
  const body = parseObject(reply.body);
  const token = body?.access_token;
  if (reply.status < 200 || reply.status >= 300) throw refusal(reply, body, who);
  if (typeof token !== 'string' || token === '') {
    throw new GatewayError('upstream_invalid', { message: `${who}: the token endpoint replied without an access_token` });
  }
  if (!headerValuePattern.test(token)) {
    const message = `${who}: the token endpoint replied with an access_token that no header can have`;
    throw new GatewayError('upstream_invalid', { message });
  }
  return { value: new Secret(token), expiresAtMs: endOf(body as JsonObject, askedAtMs) };
}

/** Azure's App Service and Container Apps send only `expires_on`, in seconds since the epoch. */
function endOf({ expires_in: lifetime, expires_on: end }: JsonObject, askedAtMs: number): number {
  const [seconds, endMs] = [Number(lifetime), 1000 * Number(end)];
  if (Number.isFinite(seconds) && seconds > 0) return askedAtMs + 1000 * seconds;
  return Number.isFinite(endMs) && endMs > askedAtMs ? endMs : askedAtMs + 1000 * lifetimeSeconds;
}

/** Statuses below 500 mean that the credentials are not accepted. The same status decides about retries and fallbacks. */
function refusal({ status, headers }: TokenReply, body: JsonObject | null, who: string): GatewayError {
  // Endpoints of managed identities send `message` or an object instead.
  const nested = isObject(body?.error) ? body.error.message : body?.message;
  const reasons = [body?.error, body?.error_description ?? nested].filter(isText);
  // Only the first line: the rest is trace ids and time stamps.
  const words = reasons.join(': ').split(/[\r\n]/, 1)[0] as string;
  return new GatewayError('upstream_status', {
    status: status >= 400 ? status : 502,
    message: `${who}: the token endpoint replied with ${status}${words === '' ? '' : `: ${words.slice(0, 500)}`}`,
    retryAfterMs: retryAfterMs(headers) ?? undefined,
  });
}
