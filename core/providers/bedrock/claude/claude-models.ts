import { traitsOf } from '../../../formats/anthropic/models.ts';
import { baseModelId, makerOf } from '../model-id.ts';

/** Differences between Claude models in the parameters they accept on Bedrock. */
export interface ClaudeTraits {
  /**
   * How reasoning is requested: by `adaptive` with an effort since 4.6, by a `budget` of tokens since 3.7, not at all before.
   */
  readonly thinking: 'adaptive' | 'budget' | 'none';
  /** Form that switches reasoning off: an omitted field, a `thinking` type, or none. */
  readonly off: 'omit' | 'disabled' | 'between_tools' | 'never';
  /** Accepts temperature and top_p: everything before 4.7. */
  readonly sampling: boolean;
  /** Supports replies bound to a JSON schema: since 4.5 (Bedrock user guide, structured output). */
  readonly schemas: boolean;
}

const beforeThinking = /claude-(?:v2|instant|2|3-(?!7))/;
const beforeSchemas = /claude-(?:v2|instant|2|3|[a-z]+-4-(?:\d{8}|[0-4](?!\d)))/;

/** Returns the traits for the version in the id, so that the next model needs no new line. Null for other makers. */
export function claudeTraits(model: string): ClaudeTraits | null {
  if (!isClaude(model)) return null;
  const id = baseModelId(model);
  const { thinking, off, sampling } = traitsOf(id);
  return { thinking: beforeThinking.test(id) ? 'none' : thinking, off, sampling, schemas: !beforeSchemas.test(id) };
}

/** True if this model supports the Messages API natively. */
export function isClaude(model: string): boolean {
  return makerOf(model) === 'anthropic';
}
