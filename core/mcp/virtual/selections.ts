import {
  allItems,
  type McpVirtualServerDocument,
  type VirtualPrompt,
  type VirtualResource,
} from '../../contract/protocol/mcp/mcp-virtual.ts';

/**
 * The prompts and resources that a virtual server shows: those that it selects, and those of servers with all their tools, unless it
 * selects some of the same kind there.
 */
export function selectedItems({ tools, prompts, resources }: McpVirtualServerDocument): {
  readonly prompts: readonly VirtualPrompt[];
  readonly resources: readonly VirtualResource[];
} {
  const whole = tools.filter(({ tool }) => tool === allItems);
  const without = (chosen: readonly { readonly serverId: string }[]) =>
    whole.filter((one) => !chosen.some(({ serverId }) => serverId === one.serverId));
  return {
    prompts: [
      ...prompts,
      ...without(prompts).map(({ serverId, server, name }) => {
        return { serverId, server, prompt: allItems, name, description: null, arguments: {} };
      }),
    ],
    resources: [
      ...resources,
      ...without(resources).map(({ serverId, server }) => ({
        serverId,
        server,
        resource: allItems,
        name: null,
        description: null,
      })),
    ],
  };
}
