import { isCredentialHeader } from '../contract/values/http/credential-headers.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
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

/** Facts about the name of a field that do not depend on the object around it. `shown`: the name with credentials masked. */
interface NameTraits {
  readonly shown: string;
  readonly isHidden: boolean;
  /** True if a text in this field is masked. */
  readonly isSecret: boolean;
  readonly holdsHeaders: boolean;
}

const keptNamesMax = 1_000;
const keptNameCharsMax = 64;

function isPlain(value: JsonObject): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && typeof value.toJSON !== 'function';
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

  const traits = new Map<string, NameTraits>();

  /** Most names are those of the requests before. Long names and credentials are not kept. */
  function traitsOf(name: string): NameTraits {
    const kept = traits.get(name);
    if (kept !== undefined) return kept;
    const isHidden = isHiddenField(name);
    const found = {
      shown: maskCredentials(name),
      isHidden,
      isSecret: isHidden || isSecretField(name),
      holdsHeaders: headerHolder.test(name.toLowerCase()),
    };
    if (name.length > keptNameCharsMax || found.shown !== name) return found;
    if (traits.size === keptNamesMax) traits.clear();
    traits.set(name, found);
    return found;
  }

  function body(value: unknown): unknown {
    return maskedValue(value, false);
  }

  /** Copies only lists and objects in which something is masked. `isOfHeaders`: the members of this object are headers. */
  function maskedValue(value: unknown, isOfHeaders: boolean): unknown {
    if (typeof value === 'string') return maskCredentials(value);
    if (Array.isArray(value)) return maskedList(value);
    return isObject(value) ? maskedObject(value, isOfHeaders) : value;
  }

  function maskedList(list: readonly unknown[]): readonly unknown[] {
    let out: unknown[] | null = null;
    for (let at = 0; at < list.length; at++) {
      const shown = body(list[at]);
      if (out === null && shown !== list[at]) out = list.slice(0, at);
      out?.push(shown);
    }
    return out ?? list;
  }

  function maskedObject(value: JsonObject, isOfHeaders: boolean): JsonObject {
    let hasProbability: boolean | null = null;
    // An object may have `token` in 32 spellings, and its members are searched once.
    const isOfModel = (): boolean => {
      hasProbability ??= Object.keys(value).some((name) => /prob/i.test(name));
      return hasProbability;
    };
    const names = Object.keys(value);
    // An object of a plugin, such as a boxed text, may be written in a form of its own, which nothing has masked.
    let out: JsonObject | null = isPlain(value) ? null : {};
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string;
      const inner = value[name];
      const { shown, isHidden, isSecret, holdsHeaders } = traitsOf(name);
      // The schema of a tool may describe a field of that name: only values are credentials.
      const isMasked =
        isHidden ||
        (typeof inner === 'string' &&
          (isSecret || (isOfHeaders && isSecretHeader(name.toLowerCase())) || isInCredential(name, value, isOfModel)));
      const shownInner = isMasked && inner !== null ? masked : maskedValue(inner, holdsHeaders);
      if (out === null && (shown !== name || shownInner !== inner)) {
        out = {};
        for (const before of names.slice(0, at)) define(out, before, value[before]);
      }
      if (out !== null) define(out, shown, shownInner);
    }
    return out ?? value;
  }

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
