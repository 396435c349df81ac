import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { percentDecodedAnyway } from '../../core/contract/values/text/percent-decoded.ts';
import type { TextPart } from './every-text.ts';

/** Parameters of APIs of providers that hold no text. */
const settings: ReadonlySet<string> = new Set([
  ...['key', 'api_key', 'access_token', 'model', 'api-version', 'api_version', 'version', 'alt', '$alt', 'beta', 'stream'],
  ...['limit', 'order', 'after', 'before', 'include', 'include[]', 'page', 'page_size', 'page_token', 'pageSize', 'pageToken'],
]);

/** Characters of ids, names and verbs in a path. */
const plain = /^[\w.:@=,~+$!*()-]*$/;

/** The first part of the path of a text in the address or in a file: a member that no body has, because checks cannot change either. */
export const notInBody = '?';

/**
 * Returns the texts in the address of a request: values of its query, and parts of a path that passes through with characters that no id has. A single
 * word in the path cannot be told from a name, and in the query of a typed route not from a setting.
 */
export function addressTexts({ endpoint, query }: Pick<RequestContext, 'endpoint' | 'query'>): TextPart[] {
  const texts: string[] = [];
  const isPassed = endpoint?.operation === null;
  if (query !== '') {
    for (const [name, value] of new URLSearchParams(query)) {
      if (!plain.test(name)) texts.push(name);
      if ((isPassed && !settings.has(name)) || !plain.test(value)) texts.push(value);
    }
  }
  const path = endpoint?.proxyPath ?? '';
  if (path.includes('%'))
    texts.push(
      ...path
        .split('/')
        .map(percentDecodedAnyway)
        .filter((part) => !plain.test(part)),
    );
  return texts.filter((text) => text !== '').map((text, index) => ({ text, path: [notInBody, index] }));
}
