import type { SignServices, Token, TokenRequest } from '../contract/provider/sign-services.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { headerValuePattern } from '../contract/values/http/http.ts';
import { isText, type JsonObject, parseObject } from '../contract/values/json/json.ts';

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

/** Like `postForToken`, for any request whose reply is `{access_token, expires_in}`. */
export async function askForToken(services: SignServices, request: TokenRequest, who: string): Promise<Token> {
  const askedAtMs = services.now();
  const reply = await services.fetch(request);
  const body = parseObject(reply.body);
  const token = body?.access_token;
  if (reply.status < 200 || reply.status >= 300) throw refusal(reply.status, body, who);
  if (typeof token !== 'string' || token === '') {
    throw new GatewayError('upstream_invalid', { message: `${who}: the token endpoint replied without an access_token` });
  }
  if (!headerValuePattern.test(token)) {
    const message = `${who}: the token endpoint replied with an access_token that no header can have`;
    throw new GatewayError('upstream_invalid', { message });
  }
  const seconds = Number(body?.expires_in);
  return {
    value: new Secret(token),
    expiresAtMs: askedAtMs + 1000 * (Number.isFinite(seconds) && seconds > 0 ? seconds : lifetimeSeconds),
  };
}

/** Statuses below 500 mean that the credentials are not accepted. The same status decides about retries and fallbacks. */
function refusal(status: number, body: JsonObject | null, who: string): GatewayError {
  const reasons = [body?.error, body?.error_description].filter(isText);
  // Only the first line: the rest is trace ids and time stamps.
  const words = reasons.join(': ').split(/[\r\n]/, 1)[0] as string;
  return new GatewayError('upstream_status', {
    status: status >= 400 ? status : 502,
    message: `${who}: the token endpoint replied with ${status}${words === '' ? '' : `: ${words.slice(0, 500)}`}`,
  });
}
