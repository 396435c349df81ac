import { metadataPrefix, policyKeys } from '../../core/contract/protocol/limits/policies.ts';
import { isObject } from '../../core/contract/values/json/json.ts';
import { maskCredentials } from '../../core/contract/values/text/mask-credentials.ts';
import { plainName } from '../../core/contract/values/text/plain-name.ts';
import { everySecretName } from '../../core/providers/declarations.ts';

/**
 * Returns a copy of a request body in which every value under a secret-sounding name is `***`, at any depth, in snake and camel
 * case. Texts and names that look like credentials, and credentials in URLs, are masked everywhere. When in doubt, it masks: an audit
 * trail must record that a key was changed, never its value.
 */
export function maskSecrets<Value>(value: Value): Value;
export function maskSecrets(value: unknown): unknown {
  if (typeof value === 'string') return maskCredentials(maskUrlCredentials(value));
  if (Array.isArray(value)) return value.map((inner) => maskSecrets(inner));
  if (!isObject(value)) return value;
  const out: Record<string, unknown> = {};
  // Looked for once: a body has room for thousands of names such as `va_lue`.
  const isOfSecret = Object.keys(value).some(isValueName) && hasSecretPath(value);
  for (const [name, inner] of Object.entries(value)) {
    const isNamed = isSecretName(name) && !isPolicyKey(name, inner);
    const isHidden = isNamed || (isOfSecret && isValueName(name)) || isOfPrivateKey(value, name) || isHolder(name, inner);
    out[maskCredentials(name)] = isHidden && !isPlain(name, inner) ? '***' : maskSecrets(inner);
  }
  return out;
}

/**
 * Returns a copy of a request body with `***` for every value, so that only names and structure remain. For bodies that were
 * rejected before they were checked, in which any field may hold a secret.
 */
export function maskValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValues);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [maskCredentials(name), maskValues(inner)]));
  return value === null || value === undefined ? null : '***';
}

/** Masks user names and passwords of URLs, and parameters of their queries with a secret-sounding name. */
export function maskUrlCredentials(text: string): string {
  if (!text.includes('://')) return text;
  return text
    .replace(/(:\/\/)[^\s/?#@"]+@/g, '$1***@')
    .replace(/([?&]([^=&#\s"]{1,100})=)[^&#\s"]+/g, (shown, start: string, name: string) =>
      isSecretName(name) || signatures.test(plainName(name)) ? `${start}***` : shown,
    );
}

/** Parameters of signed URLs. */
const signatures = /^(sig|signature|xamzsignature|xgoogsignature|xamzcredential|xgoogcredential)$/;

/**
 * Returns true if a field that contains secrets among other fields was sent as a text or list. Secrets then have no names to find
 * them by.
 */
function isHolder(name: string, value: unknown): boolean {
  return /^(authconfig|configurations|modelconfig)$/.test(plainName(name)) && !isObject(value);
}

function isValueName(name: string): boolean {
  return plainName(name) === 'value';
}

/** Returns true for an operation on a secret, such as `{"op": "replace", "path": "password", "value": …}` of SCIM. */
function hasSecretPath(operation: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(operation).some(
    ([name, path]) => typeof path === 'string' && plainName(name) === 'path' && path.split(/[.:/[\]\s]/).some(isSecretName),
  );
}

/** Returns true for a value that cannot be a secret: null, a permission such as `membersWriteApiKeys`, a price or multiplier of tokens. */
function isPlain(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return true;
  const price = isObject(value) && Object.keys(value).length === 1 ? value.price : value;
  return typeof price === 'number' && name.endsWith('_token');
}

/** Returns true for the key of a condition or group of a policy: it names what the policy limits. */
function isPolicyKey(name: string, value: unknown): boolean {
  return name === 'key' && typeof value === 'string' && (keysOfPolicies.has(value) || value.startsWith(metadataPrefix));
}

const keysOfPolicies: ReadonlySet<string> = new Set(Object.values(policyKeys).flat());

/** Returns true for private and symmetric parameters of a JWK (RFC 7518 §6), and for a key set sent as text. */
function isOfPrivateKey(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return ('kty' in value && privateParameters.has(name)) || (name === 'jwks' && typeof value[name] === 'string');
}

const privateParameters = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']);
const exact = new Set([
  'key',
  'apikey',
  'authorization',
  'credential',
  'credentials',
  'customheaders',
  'headers',
  'cookie',
  'passcode',
  'recoverycode',
]);
const parts = /secret|password|passwd|passphrase|token|privatekey|accesskey|apikey|serviceaccountjson/;
/** Names that only sound like secrets. Auditors need them: where a secret is sent, how tokens are checked, whose keys and scopes change. */
const harmless = new RegExp(
  `^(${[
    'secretmappings|secretpath|secretreferenceid|secretexpiresat',
    'maxtokens|maxcompletiontokens|maxtokenttl|maxtokenage|(prompt|completion)token(min|max)|tokentypehint',
    '(oauth)?tokenendpoint|tokenendpointauthmethod|idtokensigningalg',
    'keytransitionperiodms|apikeymetadataschema|apikeyids?|sourceproviderapikeyid|workspaceapikeydetails',
  ].join('|')})$`,
);
const keySettings = /^(defaultworkspace)?userapikey(ttl|count|rotationperiod|autocreate|autocreatescopes|config)$/;

/** Credentials that providers declare, under any name. */
const declared = new Set(everySecretName.map(plainName));

function isSecretName(name: string): boolean {
  const plain = plainName(name);
  return exact.has(plain) || declared.has(plain) || (parts.test(plain) && !harmless.test(plain) && !keySettings.test(plain));
}
