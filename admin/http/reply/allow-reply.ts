import * as v from 'valibot';
import { isUnknownKey } from '../../../core/contract/values/errors/input-issues.ts';
import type { Log } from '../../../core/contract/values/log/log.ts';
import type { AdminRoute } from '../route.ts';

/**
 * Returns the reply limited to the fields that its route declares. Undeclared fields are removed and reported as an error of the
 * service. `strict` (tests) throws instead. Also throws if the undeclared fields cannot be determined.
 */
export function allowReply(
  route: Pick<AdminRoute, 'method' | 'path' | 'reply'>,
  reply: unknown,
  strict: boolean,
  log: Log,
): unknown {
  // The form that is sent: dates as text, without undefined values.
  const sent: unknown = JSON.parse(JSON.stringify(reply ?? null));
  const result = v.safeParse(route.reply, sent);
  if (result.success) return sent;
  const issues = result.issues.map((issue) => `${v.getDotPath(issue) ?? '(reply)'}: ${issue.expected} expected`);
  const problem = `${route.method} ${route.path} sent a reply that does not match its declaration`;
  if (strict) throw new Error(`${problem}: ${issues.join('; ')}`);
  log.error(
    { route: `${route.method} ${route.path}`, issues: issues.slice(0, 20) },
    'reply does not match the declaration of its route',
  );
  for (const issue of result.issues) {
    if (isUnknownKey(issue)) remove(sent, issue.path ?? []);
    // The intended branch cannot be determined, so neither can the undeclared fields.
    else if (issue.type === 'union' || issue.type === 'variant') throw new Error(problem);
  }
  return sent;
}

function remove(root: unknown, path: readonly { readonly key: unknown }[]): void {
  let at = root as Record<string, unknown>;
  for (const { key } of path.slice(0, -1)) at = at[key as string] as Record<string, unknown>;
  delete at[path.at(-1)?.key as string];
}
