import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, isText, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';

/**
 * Returns the tools of a Messages call after the changes in its turns (`tool_addition`, `tool_removal`), which Anthropic's tool
 * runner sends instead of other `tools`. Chat completions have one list of tools per call. Applied changes are reported as adapted.
 * Changes of tools of MCP servers, and of tools that nothing defines, are reported as dropped. Throws `bad_request` naming an entry
 * of `tools` that is no object.
 */
export function toolsInEffect(params: JsonObject, call: OperationCall): JsonObject[] {
  const given = Array.isArray(params.tools) ? params.tools : [];
  for (const [index, tool] of given.entries()) if (!isObject(tool)) throw badParam(`tools[${index}]`, 'a tool must be an object');
  const turns = [params.system, ...objectsIn(params.messages).map(({ content }) => content)];
  const changes = turns.flatMap((content) => objectsIn(content).flatMap(changesOf));
  if (changes.length === 0) return given;
  const defined = new Map<unknown, JsonObject>(given.map((tool) => [tool.name ?? tool, tool]));
  const inEffect = new Map(defined);
  for (const change of changes) {
    noteOnce(isApplied(change, defined, inEffect) ? call.adapted : call.dropped, `messages.${String(change.type)}`);
  }
  return [...inEffect.values()];
}

/** A summary of earlier turns (`compaction`) holds their changes. */
function changesOf(block: JsonObject): JsonObject[] {
  if (block.type === 'tool_addition' || block.type === 'tool_removal') return [block];
  return block.type === 'compaction' ? objectsIn(block.tool_changes).flatMap(changesOf) : [];
}

/** Applies one change. Returns false if it has no effect here. */
function isApplied(change: JsonObject, defined: Map<unknown, JsonObject>, inEffect: Map<unknown, JsonObject>): boolean {
  const { type, name, definition } = isObject(change.tool) ? change.tool : {};
  const inline = type === 'tool_definition' && isObject(definition) && isText(definition.name) ? definition : undefined;
  if (inline) defined.set(inline.name, inline);
  const tool = inline ?? (type === 'tool_reference' ? defined.get(name) : undefined);
  if (tool === undefined) return false;
  if (change.type === 'tool_removal') inEffect.delete(tool.name);
  else inEffect.set(tool.name, tool);
  return true;
}
