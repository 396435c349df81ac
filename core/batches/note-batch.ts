import type { RequestContext } from '../contract/plugin/context.ts';
import type { Target } from '../contract/plugin/plan.ts';
import { parseObject } from '../contract/values/json/json.ts';
import type { AttemptReply } from '../pipeline/attempt-reply.ts';
import type { ResolvedTarget } from '../pipeline/target/resolve-target.ts';

const idCharactersMax = 1_000;

/**
 * Notes for the record which batch this request has created, so that the control plane asks for its cost when it has ended.
 * Batches of providers that are not stored are left out, because the gateway does not keep their credentials.
 */
export function noteBatch(ctx: RequestContext, target: Target, { slug }: ResolvedTarget, reply: AttemptReply): void {
  if (slug === null || reply.kind !== 'plain' || reply.status >= 300) return;
  const id = parseObject(reply.body)?.id;
  if (typeof id !== 'string' || id === '' || id.length > idCharactersMax) return;
  ctx.batch = { id, part: 'made', requests: 0, settings: { ...ctx.requestTarget?.settings, ...target.settings } };
}
