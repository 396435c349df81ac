import type { JsonObject } from '../../contract/values/json/json.ts';
import { WholeObject } from '../whole-object.ts';
import type { OutputItem } from './output-items.ts';

/** A `function_call` or `custom_tool_call` item. */
export interface ToolItem extends OutputItem {
  /** Adds a piece of its arguments or input. */
  add(text: string): JsonObject[];
}

/** The part of an item that depends on its kind: the field with its text, the names of its events, and the fields of the last one. */
interface ToolKind {
  readonly type: string;
  readonly field: 'arguments' | 'input';
  readonly events: string;
  /** True if the text shows its end. */
  readonly hasEnd: boolean;
  /** Returns the fields of the last event. */
  done(name: unknown, text: string): JsonObject;
}

const functionCall: ToolKind = {
  type: 'function_call',
  field: 'arguments',
  events: 'response.function_call_arguments',
  hasEnd: true,
  // A call without arguments has `{}`, for every provider.
  done: (name, text) => ({ name, arguments: text === '' ? '{}' : text }),
};

/** The end of free text cannot be recognised, so such an item stays open until the reply ends. */
const customToolCall: ToolKind = {
  type: 'custom_tool_call',
  field: 'input',
  events: 'response.custom_tool_call_input',
  hasEnd: false,
  done: (_name, input) => ({ input }),
};

export const toolItem = itemsOf(functionCall);
export const customToolItem = itemsOf(customToolCall);

function itemsOf({ type, field, events, hasEnd, done }: ToolKind) {
  return (id: string, callId: string, name: unknown, position: number): ToolItem => {
    const value: JsonObject = { id, type, status: 'in_progress', call_id: callId, name, [field]: '' };
    const input = new WholeObject();
    const event = (kind: string, fields: JsonObject): JsonObject => ({
      type: `${events}.${kind}`,
      item_id: id,
      output_index: position,
      ...fields,
    });
    return {
      value,
      isWhole: () => hasEnd && input.isWhole(),
      add(piece) {
        if (piece === '') return [];
        input.push(piece);
        value[field] = input.text;
        return [event('delta', { delta: piece })];
      },
      close(cut) {
        const last = done(name, input.text);
        const missing = last[field] === input.text ? [] : [event('delta', { delta: last[field] })];
        value[field] = last[field];
        value.status = cut ? 'incomplete' : 'completed';
        const item = structuredClone(value);
        return [...missing, event('done', last), { type: 'response.output_item.done', output_index: position, item }];
      },
    };
  };
}
