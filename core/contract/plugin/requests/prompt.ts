import type { JsonObject } from '../../values/json/json.ts';
import type { RequestTarget } from '../context.ts';

/** The version of a prompt that a request uses, as its record names it. */
export interface PromptUse {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
  readonly version: number;
  /** The label in the reference; null if it has none. */
  readonly label: string | null;
}

/** A prompt rendered for one request. */
export interface RenderedPrompt extends PromptUse {
  /** The operation that takes its body. */
  readonly operation: 'chatComplete' | 'complete';
  /** `@slug` of the prompt's provider; null if the request or its config decides. */
  readonly provider: string | null;
  /** The body: the saved parameters, those of the request, and the messages or the text. */
  readonly params: JsonObject;
}

/** The prompts of a request to `/prompts/{id}/completions`. */
export interface RequestPrompt {
  /** The one in use: that of the path, or of the target that is called. */
  readonly used: RenderedPrompt;
  readonly variables: JsonObject;
  /** Parameters in the body of the request. */
  readonly params: JsonObject;
  /** True: a variable without a value is an error. */
  readonly isStrict: boolean;
  /** The target that headers and model name, without the provider of a prompt. */
  readonly named: RequestTarget | null;
  /** By index of the target; null if no target of the plan has a `prompt_id`. */
  readonly byTarget: ReadonlyMap<number, RenderedPrompt> | null;
}
