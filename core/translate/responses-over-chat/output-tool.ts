import { isObject, type JsonObject } from '../../contract/values/json.ts';
import type { OutputItem } from './output-items.ts';

/** A `function_call` or `custom_tool_call` item. */
export interface ToolItem extends OutputItem {
  /** Adds a piece of its arguments or input. */
  add(text: string): JsonObject[];
}

export function toolItem(id: string, callId: string, name: unknown, position: number): ToolItem {
  const value: JsonObject = { id, type: 'function_call', status: 'in_progress', call_id: callId, name, arguments: '' };
  let text = '';
  const event = (type: string, fields: JsonObject): JsonObject => ({
    type: `response.function_call_arguments.${type}`,
    item_id: id,
    output_index: position,
    ...fields,
  });
  return {
    value,
    isWhole: () => isJsonObject(text),
    add(piece) {
      if (piece === '') return [];
      text += piece;
      value.arguments = text;
      return [event('delta', { delta: piece })];
    },
    close(cut) {
      // A call without arguments has `{}`, for every provider.
      if (text === '') value.arguments = '{}';
      value.status = cut ? 'incomplete' : 'completed';
      const done = { type: 'response.output_item.done', output_index: position, item: structuredClone(value) };
      return [event('done', { name, arguments: value.arguments }), done];
    },
  };
}

/** The end of free text cannot be recognised, so such an item stays open until the reply ends. */
export function customToolItem(id: string, callId: string, name: unknown, position: number): ToolItem {
  const value: JsonObject = { id, type: 'custom_tool_call', status: 'in_progress', call_id: callId, name, input: '' };
  let text = '';
  const event = (type: string, fields: JsonObject): JsonObject => ({
    type: `response.custom_tool_call_input.${type}`,
    item_id: id,
    output_index: position,
    ...fields,
  });
  return {
    value,
    isWhole: () => false,
    add(piece) {
      if (piece === '') return [];
      text += piece;
      value.input = text;
      return [event('delta', { delta: piece })];
    },
    close(cut) {
      value.status = cut ? 'incomplete' : 'completed';
      const done = { type: 'response.output_item.done', output_index: position, item: structuredClone(value) };
      return [event('done', { input: text }), done];
    },
  };
}

function isJsonObject(text: string): boolean {
  if (!text.endsWith('}')) return false;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
