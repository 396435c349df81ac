import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { Scans, TaskRunner } from '../../../core/contract/plugin/services/worker-tasks.ts';
import { after, type Maybe } from '../../../core/contract/values/maybe.ts';
import { shareOf } from './share-of.ts';

/** Reads a whole text, in a worker thread if it is large. */
export function scan<Name extends keyof Scans>(
  tasks: TaskRunner,
  name: Name,
  text: string,
  ctx: RequestContext,
): Maybe<Scans[Name]> {
  return after(tasks.run('scan-text', { scan: name, text }, shareOf(ctx)), (found) => found as Scans[Name]);
}
