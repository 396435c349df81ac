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
  const [text = 'unexpected form'] = chain.map(messageOf).filter((message) => message !== 'invalid response encountered');
  const name = chain.map(nameIn).find((one) => one !== null) ?? null;
  const named = name === null || text.includes(`"${name}"`) ? text : `"${name}": ${text}`;
  return new SignInRefusal('invalid_response', `The reply of the identity provider is not valid: ${plain(named)}`);
}

/** Name of the claim or field that an error of the library is about. Its value stays out of the text. */
function nameIn(error: unknown): string | null {
  const cause = error instanceof Error && isObject(error.cause) ? error.cause : {};
  const name = cause.claim ?? cause.attribute;
  return typeof name === 'string' ? name : null;
}

function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = error; at instanceof Error && chain.length < 10; at = at.cause) chain.push(at);
  return chain;
}

function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 300);
}
