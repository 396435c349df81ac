import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { TextPart } from './every-text.ts';

/** Parameters of APIs of providers that hold no text. */
const settings: ReadonlySet<string> = new Set([
  ...['key', 'api_key', 'access_token', 'model', 'api-version', 'api_version', 'version', 'alt', '$alt', 'beta', 'stream'],
  ...['limit', 'order', 'after', 'before', 'include', 'include[]', 'page', 'page_size', 'page_token', 'pageSize', 'pageToken'],
]);

/** Characters of ids, names and verbs in a path. */
const plain = /^[\w.:@=,~+$!*()-]*$/;

/**
 * Returns the texts in the address of a pass-through request: values of its query, and parts of its path with characters that no id has. A single
 * word in the path cannot be told from a name.
 */
export function addressTexts({ endpoint, query }: Pick<RequestContext, 'endpoint' | 'query'>): TextPart[] {
  const texts: string[] = [];
  if (query !== '') {
    for (const [name, value] of new URLSearchParams(query)) {
      if (!plain.test(name)) texts.push(name);
      if (!settings.has(name) || !plain.test(value)) texts.push(value);
    }
  }
  const path = endpoint?.proxyPath ?? '';
  if (path.includes('%'))
    texts.push(
      ...path
        .split('/')
        .map(decoded)
        .filter((part) => !plain.test(part)),
    );
  // A member that no body has: checks cannot change an address.
  return texts.filter((text) => text !== '').map((text, index) => ({ text, path: ['?', index] }));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
