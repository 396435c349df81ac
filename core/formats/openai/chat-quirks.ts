import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';

/** Differences between a provider's chat and text completions and OpenAI's. An absent field means no difference. */
export interface ChatQuirks {
  /** Parameters with another name at the provider: OpenAI's name → the provider's. */
  readonly renames?: Readonly<Record<string, string>>;
  /** OpenAI parameters that the provider rejects. They are removed and reported. */
  readonly refuses?: readonly string[];
  /**
   * Fields of messages, for providers that reject others than these. Those that clients send back with earlier replies, and
   * caching hints, are removed and reported.
   */
  readonly messageFields?: MessageFields;
  /** True if `tool_choice` has no `allowed_tools`. The other tools are then left out. */
  readonly lacksAllowedTools?: boolean;
  /** True if `developer` messages must be sent as `system` ones. */
  readonly developerAsSystem?: boolean;
  /**
   * `on-request` (default): a stream has token counts if `stream_options.include_usage` requests them. `always`: it always has
   * them, and the option is not sent.
   */
  readonly streamUsage?: 'on-request' | 'always';
  /** True if the provider has finish reasons of its own, which are mapped for strict callers. */
  readonly ownFinishReasons?: boolean;
  /** Makes the remaining changes to a request. Returns the same object if it changes nothing. */
  readonly request?: (params: JsonObject, call: OperationCall) => JsonObject;
  /**
   * Creates the function that changes a reply or one chunk of it. That function returns the same object if nothing changes. It is
   * created once per reply or stream, so it can count.
   */
  readonly reply?: (call: OperationCall) => (reply: JsonObject) => JsonObject;
}

/** Fields that messages have beside content and tool calls. */
export interface MessageFields {
  /** Fields of assistant messages. */
  readonly accepts: readonly string[];
  /** False if only results of tools have a `name`. Default true. */
  readonly name?: boolean;
}
