import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { isObject } from '../../core/contract/values/json/json.ts';
import { pathKeys } from '../../core/contract/values/json/path-keys.ts';
import { inputTokens } from './input-tokens.ts';

/**
 * Returns the value of a routing field for this request: `metadata.team`, `params.model`, `params.messages[0].role`,
 * `headers.x-tier`, `url.pathname`, `tokens.input`. Undefined if it is absent. Parameters are those of JSON bodies and of the
 * text fields of forms.
 */
export function readField(ctx: RequestContext, field: string): unknown {
  const dot = field.indexOf('.');
  const root = field.slice(0, dot);
  const rest = field.slice(dot + 1);
  switch (root) {
    case 'metadata':
      return Object.hasOwn(ctx.metadata, rest) ? ctx.metadata[rest] : undefined;
    case 'headers':
      return ctx.request.header(rest.toLowerCase());
    case 'url':
      return rest === 'pathname' ? ctx.request.path : undefined;
    case 'tokens':
      return inputTokens(ctx);
    case 'params':
      return dig(ctx.params ?? ctx.passedParams, rest);
    default:
      return undefined;
  }
}

/** A key that contains dots itself takes precedence over its parts. */
function dig(value: unknown, path: string): unknown {
  if (isObject(value) && Object.hasOwn(value, path)) return value[path];
  let at: unknown = value;
  for (const key of pathKeys(path) ?? []) {
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return undefined;
  }
  return at;
}
