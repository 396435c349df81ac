import type { ClientMessage } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { ToolList } from '../lists/tool-lists.ts';
import type { ToolSource } from '../local-replies/tool-source.ts';
import type { ServerSettings } from '../server/server-settings.ts';

/** The tools of one server that flags and pins allow. */
export function serverSource(
  server: ServerSettings,
  list: () => Promise<ToolList>,
  call: (message: ClientMessage) => Promise<AttemptReply>,
): ToolSource {
  return {
    async list() {
      const { tools } = await list();
      const allowed = tools.filter((tool) => server.isEnabled('tool', String(tool.name)) && server.isApproved(tool));
      // The same list keeps its index.
      return { tools: allowed.length === tools.length ? tools : allowed, missing: [] };
    },
    call,
  };
}
