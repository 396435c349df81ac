import { isCredentialHeader } from '../contract/values/http/credential-headers.ts';
import { isObject } from '../contract/values/json/json.ts';
import { maskCredentials } from '../contract/values/text/mask-credentials.ts';
import { plainName } from '../contract/values/text/plain-name.ts';
import { maskMembers } from './mask-members.ts';

const masked = '***';

/** Headers that only sound like credentials. */
const harmlessHeader = /tokens|^x-ratelimit-|^idempotency-key$|-virtual-key$|^www-authenticate$/;

/**
 * Fields of bodies that hold a credential, such as `authorization_token` of an MCP server or a repository in Anthropic's requests, and
 * `secret_value` in vaults of agents.
 */
const secretField =
  /^(authorization|api_?key|access_?key|secret_?access_?key|aws_?secret_?access_?key|secret|secret_?value|(?:client|signing|webhook)_?secret|password|passwd|passphrase|(?:access|api|auth|authorization|bearer|id|oauth|refresh|sessions?|tunnel)_?token|private_?key|credentials?)$/;

/** Masks the fields that the settings name, and values that look like credentials. */
export interface Masks {
  /** Returns the headers by name with values of credentials masked. */
  headers(list: readonly string[]): Record<string, string>;
  /** Returns the body, a JSON value or text, with credentials masked. */
  body(value: unknown): unknown;
  /** Returns a text that may contain JSON which cannot be parsed, such as a body that was cut, with credentials masked. */
  text(text: string): string;
}

/** Fields that hold headers by name, such as those of a guardrail's webhook or of an MCP server in a list of tools. */
const headerHolder = /^(custom_?)?headers$/;

/**
 * `names`: further headers and fields to mask, in lower case (`LOG_MASKED_FIELDS`). `credentials`: settings of providers that are
 * credentials, which configs in headers may contain in snake or camel case.
 */
export function createMasks(names: readonly string[], credentials: readonly string[]): Masks {
  const named = new Set(names);
  const declared = new Set(credentials.map(plainName));
  const isSecretHeader = (name: string): boolean => named.has(name) || (isCredentialHeader(name) && !harmlessHeader.test(name));
  /** True for fields that are masked with everything in them. */
  const isHiddenField = (name: string): boolean => named.has(name.toLowerCase()) || declared.has(plainName(name));
  const isSecretField = (name: string): boolean =>
    isHiddenField(name) || secretField.test(name.toLowerCase().replaceAll('-', '_'));

  function body(value: unknown): unknown {
    return maskedValue(value, isSecretField);
  }

  /** `isSecret` decides about the members of this object alone. */
  function maskedValue(value: unknown, isSecret: (name: string) => boolean): unknown {
    if (typeof value === 'string') return maskCredentials(value);
    if (Array.isArray(value)) return value.map(body);
    if (!isObject(value)) return value;
    const out: Record<string, unknown> = {};
    let hasProbability: boolean | null = null;
    // An object may have `token` in 32 spellings, and its members are searched once.
    const isOfModel = (): boolean => {
      hasProbability ??= Object.keys(value).some((name) => /prob/i.test(name));
      return hasProbability;
    };
    for (const [name, inner] of Object.entries(value)) {
      // The schema of a tool may describe a field of that name: only values are credentials.
      const isHidden =
        ((isSecret(name) || isInCredential(name, value, isOfModel)) && typeof inner === 'string') || isHiddenField(name);
      const isOfInner = headerHolder.test(name.toLowerCase()) ? isSecretMember : isSecretField;
      define(out, maskCredentials(name), isHidden && inner !== null ? masked : maskedValue(inner, isOfInner));
    }
    return out;
  }

  const isSecretMember = (name: string): boolean => isSecretHeader(name.toLowerCase()) || isSecretField(name);

  function text(given: string): string {
    const isInCutCredential = credentialsIn(given);
    const isSecret = (name: string): boolean => isSecretField(name) || isInCutCredential(name);
    return maskCredentials(maskMembers(given, isSecret, isHiddenField));
  }

  /** Configs and metadata are JSON in a header. A credential in them may have no form of its own. */
  function headerValue(value: string): string {
    if (!/^\s*[[{]/.test(value)) return maskCredentials(value);
    try {
      return JSON.stringify(body(JSON.parse(value)));
    } catch {
      return text(value);
    }
  }

  return {
    body,
    text,
    headers(list) {
      const out: Record<string, string> = {};
      for (let at = 0; at + 1 < list.length; at += 2) {
        const name = (list[at] as string).toLowerCase();
        const value = list[at + 1] as string;
        const shown = isSecretHeader(name) ? masked : headerValue(value);
        define(out, name, Object.hasOwn(out, name) ? `${out[name]}, ${shown}` : shown);
      }
      return out;
    },
  };
}

/** Returns masks that also mask these headers (lower case). */
export function withMaskedHeaders(masks: Masks, names: readonly string[]): Masks {
  if (names.length === 0) return masks;
  return {
    ...masks,
    headers(list) {
      const out = masks.headers(list);
      for (const name of names) if (Object.hasOwn(out, name)) define(out, name, masked);
      return out;
    },
  };
}

/**
 * True for the secret of a credential that an agent may use: `value` of an environment variable, and `token`. A token beside its probability
 * (`logprob`, `logProbability`) is one that a model wrote (`isOfModel`).
 */
function isInCredential(name: string, holder: Record<string, unknown>, isOfModel: () => boolean): boolean {
  if (name === 'value') return holder.type === 'environment_variable';
  return name.toLowerCase() === 'token' && !isOfModel();
}

/** Returns the same for a text that cannot be parsed. The members beside a name are unknown, so the whole text decides. In doubt it masks. */
function credentialsIn(text: string): (name: string) => boolean {
  const hasVariables = text.includes('"environment_variable"');
  const hasProbabilities = /"log_?prob(?:ability)?"/i.test(text);
  return (name) => (name === 'value' ? hasVariables : name.toLowerCase() === 'token' && !hasProbabilities);
}

/** Vectors of embeddings are large and of no use to readers. */
export function withoutVectors(body: unknown): unknown {
  if (!isObject(body) || !Array.isArray(body.data)) return body;
  return { ...body, data: body.data.map((one) => (isObject(one) && 'embedding' in one ? { ...one, embedding: null } : one)) };
}

/** An assignment to `__proto__` would set the prototype instead of a field. */
function define(out: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
}
