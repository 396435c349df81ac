import { toolHash } from '../../contract/protocol/mcp/tool-pins.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';

/** Maximum number of changed definitions of one server that void lists read earlier. */
const changesMax = 1_000;

export interface ToolPins {
  /** Approved hashes by the name of the tool; null if tools need no approval. */
  readonly pins: ReadonlyMap<string, string> | null;
  /** False for a tool whose definition is not the approved one. */
  isApproved(tool: JsonObject): boolean;
  /** Counts the changed definitions that were seen. Lists that were read at a lower count are outdated. */
  changesSeen(): number;
}

/** Returns the pins of a document, with the check of a definition against them. */
export function toolPins(pins: Readonly<Record<string, string>> | null): ToolPins {
  const approved = pins === null ? null : new Map(Object.entries(pins));
  const changed = new Set<string>();
  return {
    pins: approved,
    isApproved(tool) {
      if (approved === null) return true;
      const pin = approved.get(String(tool.name));
      if (pin === undefined) return false;
      const found = toolHash(tool);
      if (found !== pin && changed.size < changesMax) changed.add(found);
      return found === pin;
    },
    changesSeen: () => changed.size,
  };
}
