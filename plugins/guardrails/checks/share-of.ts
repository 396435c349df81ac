import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { TaskOptions } from '../../../core/contract/plugin/services/worker-tasks.ts';

/** Returns the options of a task for this request: it takes its turn among those of the workspace. */
export function shareOf({ identity }: Pick<RequestContext, 'identity'>): TaskOptions {
  return { owner: identity?.workspaceId };
}
