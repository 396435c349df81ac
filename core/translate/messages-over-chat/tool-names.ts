import type { OperationCall } from '../../contract/provider/provider.ts';
import { isText, objectsIn } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { functionName, functionNameLengthMax } from '../function-name.ts';

/** Returns the name of a tool for the provider. Anthropic accepts 128 characters, and Claude Code uses them for tools of plugins. */
export function sentName(name: unknown, call: OperationCall): unknown {
  if (!isLong(name)) return name;
  noteOnce(call.adapted, 'tools.name');
  return functionName(name);
}

/** Returns the function that turns the name of a called tool into that of the request. The request is searched once, at the first call. */
export function ownNames(call: OperationCall): (name: unknown) => unknown {
  let names: Map<unknown, unknown> | null = null;
  return (name) => {
    names ??= new Map(
      objectsIn(call.params.tools).flatMap((tool) => (isLong(tool.name) ? [[functionName(tool.name), tool.name]] : [])),
    );
    return names.get(name) ?? name;
  };
}

function isLong(name: unknown): name is string {
  return isText(name) && name.length > functionNameLengthMax;
}
