import { LRUCache } from 'lru-cache';
import { type InternalFetch, internalPaths } from '../../contract/protocol/internal-api.ts';
import { type ToolReport, toolHash } from '../../contract/protocol/mcp/tool-pins.ts';
import { messageOf } from '../../contract/values/errors/message-of.ts';
import { isStorable } from '../../contract/values/json/storable-json.ts';
import type { Log } from '../../contract/values/log/log.ts';
import type { ToolList } from '../lists/tool-lists.ts';
import type { ServerSettings } from '../server/server-settings.ts';

const timeoutMs = 3_000;
/** Maximum number of integrations whose last report is held in memory. */
const reportsMax = 1_000;

/**
 * Returns a function that reports quarantined tools of a list to the control plane, which shows them to administrators. The same tools
 * of an integration are reported once. A report that fails is repeated with the next list.
 */
export function createToolReports(fetch: InternalFetch, log: Log): (server: ServerSettings, list: ToolList) => void {
  const reported = new LRUCache<string, string>({ max: reportsMax });
  return ({ document, pins, isApproved }, { tools }) => {
    if (pins === null) return;
    const quarantined = tools.filter((tool) => isName(tool.name) && !isApproved(tool) && isStorable(tool));
    const { organisationId, integrationId } = document;
    const digest = quarantined.map(toolHash).sort().join();
    if (quarantined.length === 0 || reported.get(integrationId) === digest) return;
    reported.set(integrationId, digest);
    void send({ organisationId, integrationId, tools: quarantined as ToolReport['tools'] }).catch((thrown: unknown) => {
      reported.delete(integrationId);
      log.warn({ integrationId, reason: messageOf(thrown) }, 'could not report quarantined MCP tools');
    });
  };

  async function send(report: ToolReport): Promise<void> {
    const { status } = await fetch('POST', internalPaths.mcpTools, Buffer.from(JSON.stringify(report)), timeoutMs);
    if (status !== 200) throw new Error(`the control plane replied with ${status}`);
  }
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name !== '' && name.length <= 2_048;
}
