import type { JsonObject } from '../../contract/values/json/json.ts';

interface StreamedToolCall {
  /** Index among the tool calls of the reply. */
  readonly position: number;
  /** Arguments that are known at the start of the call. */
  readonly input: unknown;
  hasArguments: boolean;
}

/** The tool calls of a streamed reply, by the provider's index of their block. Its methods return entries of `tool_calls`. */
export class StreamedToolCalls {
  readonly #calls = new Map<unknown, StreamedToolCall>();

  has(index: unknown): boolean {
    return this.#calls.has(index);
  }

  /** Returns the first entry of a call, without arguments. */
  open(index: unknown, id: unknown, name: unknown, input: unknown = {}): JsonObject {
    const position = this.#calls.size;
    this.#calls.set(index, { position, input, hasArguments: false });
    return { index: position, id, type: 'function', function: { name, arguments: '' } };
  }

  /** Returns an entry with a piece of the arguments of an open call. */
  append(index: unknown, text: string): JsonObject {
    const call = this.#calls.get(index) as StreamedToolCall;
    call.hasArguments = true;
    return { index: call.position, function: { arguments: text } };
  }

  /**
   * Returns the entry with all arguments of a call that has streamed none: a plain reply has `{}`, so clients receive it in both cases. Null
   * for other calls and blocks.
   */
  end(index: unknown): JsonObject | null {
    const call = this.#calls.get(index);
    if (call === undefined || call.hasArguments) return null;
    return { index: call.position, function: { arguments: JSON.stringify(call.input ?? {}) } };
  }
}
