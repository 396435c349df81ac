import { isObject } from '../../core/contract/json.ts';

/**
 * A copy of a request body in which every value under a secret-sounding name is `***`, at any depth, in snake and camel case.
 * Errs on the side of hiding: an audit trail must say that a key was changed, never to what.
 */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (!isObject(value)) return value;
  const out: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    out[name] = inner !== null && isSecretName(name) ? '***' : maskSecrets(inner);
  }
  return out;
}

const exact = new Set(['key', 'apikey', 'authorization', 'credentials', 'customheaders', 'headers', 'cookie']);
const parts = /secret|password|passwd|token|privatekey|accesskey|apikey|serviceaccountjson/;
/** Names that only sound like secrets. */
const harmless = /^(secretmappings|maxtokens|maxcompletiontokens|keytransitionperiodms|oauthtokenendpoint|apikeymetadataschema)$/;
const keySettings = /^(defaultworkspace)?userapikey(ttl|count|rotationperiod|autocreate|autocreatescopes|config)$/;

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[_-]/g, '');
  return exact.has(plain) || (parts.test(plain) && !harmless.test(plain) && !keySettings.test(plain));
}
