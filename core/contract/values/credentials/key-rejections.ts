import { clientSecretPrefix } from './api-key.ts';

/** Prefixes of provider keys; no key of the gateway has one. */
const providerKey = /^(sk|pk|rk|gsk|xai|pplx|r8|hf|AIza|AKIA|ASIA)[-_A-Z0-9a-z]{8}/;
const ownKey = /^svc_(admin|ws|user)_/;

/** Rejection of a complete key. It is the same for an unknown key and a wrong secret, so that it confirms no key id. */
export const unknownKeyReason =
  'this service has no such key; it was deleted or rotated, or it belongs to another installation or DATA_DIR';

/**
 * Describes the error in a text that cannot be an API key of this gateway: a provider's key, or a key that was not copied
 * completely. Checks the form only and repeats no part of the text.
 */
export function malformedKeyReason(text: string): string {
  if (text.startsWith(clientSecretPrefix)) {
    return 'a client secret opens a WebSocket at /v1/realtime until it expires, and nothing else; create another with POST /v1/realtime/client_secrets';
  }
  if (ownKey.test(text)) return 'the check digits do not match; copy the whole key again';
  if (providerKey.test(text)) {
    return 'this looks like a provider key; send a key of this gateway (svc_…) and store the provider key in an integration';
  }
  if (/^["'“”‘’]/.test(text)) return 'the key begins with a quotation mark; send it without quotation marks';
  return 'keys of this gateway begin with svc_; send one in x-svc-api-key or in Authorization: Bearer';
}
