import { claudeTraits } from '../claude/claude-models.ts';
import { makerOf } from '../model-id.ts';

/** Makers without structured output on the Converse API; the open-weight models of the others have it. */
const makersWithout: ReadonlySet<string> = new Set(['', 'ai21', 'amazon', 'cohere', 'meta', 'stability', 'twelvelabs', 'writer']);

/** True if replies and strict tools of this model can be bound to a JSON schema (Bedrock user guide, structured output). */
export function takesSchemas(model: string): boolean {
  return claudeTraits(model)?.schemas ?? !makersWithout.has(makerOf(model));
}
