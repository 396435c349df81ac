import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json.ts';

/** How a provider's chat and text completions differ from OpenAI's. Everything absent = no difference. */
export interface ChatQuirks {
  /** Parameters under another name there: OpenAI's name → the provider's. */
  readonly renames?: Readonly<Record<string, string>>;
  /** OpenAI parameters the provider answers with an error: taken out and reported. */
  readonly refuses?: readonly string[];
  /** True if `developer` messages must be sent as `system` ones. */
  readonly developerAsSystem?: boolean;
  /**
   * `on-request` (default): a stream carries token counts when `stream_options.include_usage` asks for them.
   * `always`: it carries them unasked, and the option is not sent.
   */
  readonly streamUsage?: 'on-request' | 'always';
  /** True if its finish reasons are its own words, so that strict callers need them mapped. */
  readonly ownFinishReasons?: boolean;
  /** Makes the remaining changes to a request. Returns the same object if it changes nothing. */
  readonly request?: (params: JsonObject, call: OperationCall) => JsonObject;
  /**
   * Makes the function that changes a reply or one chunk of it. That function returns the same object if nothing changes. It is made
   * once per reply or stream, so that it can count.
   */
  readonly reply?: (call: OperationCall) => (reply: JsonObject) => JsonObject;
}
