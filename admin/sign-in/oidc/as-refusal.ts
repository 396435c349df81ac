import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import { messageOf } from '../../../core/contract/values/errors/message-of.ts';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { AdminError } from '../../http/errors.ts';
import { OutboundError } from '../../http/gateways/gateway-fetch.ts';
import { SignInRefusal } from '../refusal.ts';

/**
 * Runs a call of openid-client. Converts its errors into SignInRefusal with a text for administrators. The texts of the library and of the
 * provider's error fields contain no tokens.
 */
export async function asRefusal<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw refusalOf(error);
  }
}

function refusalOf(error: unknown): unknown {
  if (error instanceof AdminError) return error;
  const chain = causesOf(error);
  const admin = chain.find((one) => one instanceof AdminError);
  if (admin) return admin;
  const outbound = chain.find((one) => one instanceof OutboundError);
  if (outbound)
    return new SignInRefusal('provider_unreachable', `The identity provider could not be called: ${outbound.message}`);
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const description = error.error_description ? ` (${plain(error.error_description)})` : '';
    return new SignInRefusal(
      'provider_error',
      `The identity provider replied with the error ${plain(error.error)}${description}`,
    );
  }
  const response = chain.map(({ cause }) => cause).find((cause) => cause instanceof Response);
  if (response && isOutage(response)) return refusalOf(new OutboundError(sourceOf(response)));
  const texts = chain.map(messageOf).filter((message) => !wrappers.has(message));
  const text = texts.map((one) => explained.get(one) ?? one)[0] ?? 'unexpected form';
  const name = chain.map(nameIn).find((one) => one !== null) ?? null;
  const named = name === null || text.includes(`"${name}"`) ? text : `"${name}": ${text}`;
  const source = response ? ` (${sourceOf(response)})${isDiscovery(response) ? '. Check oidc.issuer' : ''}` : '';
  return new SignInRefusal('invalid_response', `The reply of the identity provider is not valid: ${plain(named + source)}`);
}

/** Messages of openid-client around the one that states the cause. */
const wrappers: ReadonlySet<string> = new Set(['invalid response encountered', 'unsupported operation']);

/** Messages of openid-client that do not name a step for the administrator. */
const explained: ReadonlyMap<string, string> = new Map([
  [
    'JWE decryption is not configured',
    'the ID token or the user info is encrypted, which is not supported. Turn encryption off at the provider',
  ],
  [
    'unsupported JWS algorithm',
    'the user info has an unsupported signature. Turn it off at the provider, or use an asymmetric one',
  ],
  ['unexpected JWT "alg" header parameter', 'unexpected "alg". Set oidc.id_token_signing_alg to the algorithm of the ID tokens'],
  [
    'discovered metadata issuer does not match the expected issuer',
    'the metadata has another "issuer". Set oidc.issuer to exactly that text',
  ],
]);

/** Returns true for a status with which a host reports that it cannot respond now. */
export function isOutage({ status }: Pick<Response, 'status'>): boolean {
  return status >= 500 || status === 429;
}

function isDiscovery({ url }: Pick<Response, 'url'>): boolean {
  return url.endsWith('/.well-known/openid-configuration');
}

/** Names the status and the address of a response, for errors. */
export function sourceOf({ status, url }: Pick<Response, 'status' | 'url'>): string {
  return `status ${status} of ${url.split('?')[0]}`;
}

/** Name of the claim or field that an error of the library is about. Its value stays out of the text. */
function nameIn(error: unknown): string | null {
  const cause = error instanceof Error && isObject(error.cause) ? error.cause : {};
  const name = cause.claim ?? cause.attribute;
  return typeof name === 'string' ? name : null;
}

function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < 10; at = at.cause) chain.push(at);
  return chain;
}

function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 300);
}
