import { isObject } from '../contract/values/json/json.ts';
import { maskJwts, maskPasswords } from '../contract/values/text/mask-tokens.ts';
import { plainName } from '../contract/values/text/plain-name.ts';
import { maskMembers } from './mask-members.ts';

const masked = '***';

/** Headers whose names contain one of these hold a credential. */
const secretHeader = /authorization|api-?key|access-?key|token|secret|password|cookie|credential|signature|private-?key/;
const harmlessHeader = /tokens|^x-ratelimit-/;

/** Fields of bodies that hold a credential. `token` is not among them: logprobs have fields of that name. */
const secretField =
  /^(authorization|api_?key|access_?key|secret_?access_?key|aws_?secret_?access_?key|secret|client_?secret|password|passwd|passphrase|access_?token|refresh_?token|id_?token|session_?token|auth_?token|private_?key|credentials?)$/;

/** Credentials by their form, anywhere in a text. The length avoids matches in ordinary sentences. */
const secretForms: readonly (readonly [RegExp, string])[] = [
  [/\bsvc_([a-z]+(?:_[0-9A-Za-z]{12})?)_[0-9A-Za-z_-]{16,}/g, `svc_$1_${masked}`],
  [/\b(Bearer\s+)[A-Za-z0-9._~+/=-]{16,}/gi, `$1${masked}`],
  [/\b(Basic\s+)[A-Za-z0-9+/]{15,}={0,2}(?![A-Za-z0-9+/])/g, `$1${masked}`],
  [/\b((?:sk|pk|rk|ek|gsk|xai|pplx|r8|ghp|gho|ghs|hf|glpat|shpat|npm)[-_])[A-Za-z0-9_-]{16,}/g, `$1${masked}`],
  [/\b(auth_tokens\/)[A-Za-z0-9_-]{16,}/g, `$1${masked}`],
  [/\b(github_pat_)[A-Za-z0-9_]{20,}/g, `$1${masked}`],
  [/\b(xox[abeprs]-)[A-Za-z0-9-]{10,}/g, `$1${masked}`],
  [/\b(AIza)[A-Za-z0-9_-]{30,}/g, `$1${masked}`],
  [/\b((?:AKIA|ASIA))[A-Z0-9]{12,}\b/g, `$1${masked}`],
  [/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g, `-----BEGIN $1-----${masked}`],
];

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
  const isSecretHeader = (name: string): boolean => named.has(name) || (secretHeader.test(name) && !harmlessHeader.test(name));
  /** True for fields that are masked with everything in them. */
  const isHiddenField = (name: string): boolean => named.has(name.toLowerCase()) || declared.has(plainName(name));
  const isSecretField = (name: string): boolean =>
    isHiddenField(name) || secretField.test(name.toLowerCase().replaceAll('-', '_'));

  function body(value: unknown): unknown {
    return maskedValue(value, isSecretField);
  }

  /** `isSecret` decides about the members of this object alone. */
  function maskedValue(value: unknown, isSecret: (name: string) => boolean): unknown {
    if (typeof value === 'string') return maskText(value);
    if (Array.isArray(value)) return value.map(body);
    if (!isObject(value)) return value;
    const out: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value)) {
      // The schema of a tool may describe a field of that name: only values are credentials.
      const isHidden = (isSecret(name) && typeof inner === 'string') || isHiddenField(name);
      const isOfInner = headerHolder.test(name.toLowerCase()) ? isSecretMember : isSecretField;
      define(out, maskText(name), isHidden && inner !== null ? masked : maskedValue(inner, isOfInner));
    }
    return out;
  }

  const isSecretMember = (name: string): boolean => isSecretHeader(name.toLowerCase()) || isSecretField(name);

  const text = (given: string): string => maskText(maskMembers(given, isSecretField, isHiddenField));

  /** Configs and metadata are JSON in a header. A credential in them may have no form of its own. */
  function headerValue(value: string): string {
    if (!/^\s*[[{]/.test(value)) return maskText(value);
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

/** Vectors of embeddings are large and of no use to readers. */
export function withoutVectors(body: unknown): unknown {
  if (!isObject(body) || !Array.isArray(body.data)) return body;
  return { ...body, data: body.data.map((one) => (isObject(one) && 'embedding' in one ? { ...one, embedding: null } : one)) };
}

function maskText(text: string): string {
  // The shortest credential has more characters.
  if (text.length < 14) return text;
  let shown = text;
  for (const [form, instead] of secretForms) shown = shown.replace(form, instead);
  return maskPasswords(maskJwts(shown, masked), masked);
}

/** An assignment to `__proto__` would set the prototype instead of a field. */
function define(out: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
}
