import type { WorkspaceDocument } from '../../protocol/documents.ts';
import type { RequestContext } from '../context.ts';

/** Returns true for requests with `x-svc-debug: false`, unless their organisation ignores this header. */
export function isDebugOff({ gatewayHeaders }: RequestContext, workspace: WorkspaceDocument | null): boolean {
  return gatewayHeaders.get('debug') === 'false' && workspace?.settings?.ignoreDebugHeader !== true;
}
