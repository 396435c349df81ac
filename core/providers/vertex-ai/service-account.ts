import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { postForToken } from '../../cloud-auth/oauth-token.ts';
import type { SignServices, Token } from '../../contract/provider/sign-services.ts';
import { type AuthorizedUser, invalidFile, type ServiceAccount } from './credential-file.ts';

/** Scope of the requested tokens: Vertex AI has no narrower one. */
export const scope = 'https://www.googleapis.com/auth/cloud-platform';

const lifetimeSeconds = 3_600;
const who = 'vertex-ai error';

/** Requests a token for a service account in exchange for a signed claim (RFC 7523, https://google.aip.dev/auth/4112). */
export function serviceAccountToken(file: ServiceAccount, services: SignServices): Promise<Token> {
  const issuedAt = Math.floor(services.now() / 1000);
  const claims = { iss: file.client_email, scope, aud: file.token_uri, iat: issuedAt, exp: issuedAt + lifetimeSeconds };
  const header = file.private_key_id === undefined ? {} : { kid: file.private_key_id };
  const assertion = signedJwt(header, claims, keyOf(file.private_key));
  return postForToken(services, file.token_uri, { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }, who);
}

/** Requests a token for a user with the refresh token of `gcloud auth application-default login`. */
export function authorizedUserToken(file: AuthorizedUser, services: SignServices): Promise<Token> {
  const { client_id, client_secret, refresh_token } = file;
  const form = { grant_type: 'refresh_token', client_id, client_secret, refresh_token };
  return postForToken(services, 'https://oauth2.googleapis.com/token', form, who);
}

/** Returns a JSON Web Token signed with RS256 (RFC 7519), in the compact form. */
function signedJwt(header: object, claims: object, key: KeyObject): string {
  const signed = `${encoded({ alg: 'RS256', typ: 'JWT', ...header })}.${encoded(claims)}`;
  return `${signed}.${rs256(signed, key)}`;
}

/** Returns the RS256 signature of a text as base64url (RFC 7518 §3.3). */
export function rs256(text: string, key: KeyObject): string {
  return sign('sha256', Buffer.from(text), key).toString('base64url');
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function keyOf(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // OpenSSL's message may quote the key, so the message below replaces it.
  }
  throw invalidFile('private_key: an RSA key in PEM form is expected');
}
