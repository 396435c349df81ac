import type { Found } from '../../../../core/contract/plugin/services/worker-tasks.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { withTexts } from '../../with-texts.ts';
import { excerpt, type Outcome, type Subject } from '../check.ts';

export interface FindingRules {
  /** The name of the findings in explanations: "Personal data". */
  readonly noun: string;
  readonly not: boolean;
  /** The member of the results that lists the findings. */
  readonly member: string;
  readonly more: JsonObject;
}

/** The outcome of a check that looks for parts of texts. Results show placeholders: they can reach people who may not see what was found. */
export function concludeFindings({ body, parts }: Subject, found: Found, { noun, not, member, more }: FindingRules): Outcome {
  const { kinds, shown, beginning, replaced } = found;
  const isRedacted = replaced !== null;
  const verdict = isRedacted || kinds.length > 0 === not;
  const data = {
    verdict,
    not,
    explanation: explain(noun, kinds, not, isRedacted),
    [member]: shown.map(({ kind, placeholder }) => ({ text: placeholder, labels: { [kind]: 1 } })),
    ...more,
    detectedCategories: kinds,
    textExcerpt: excerpt(beginning),
  };
  return isRedacted ? { verdict, data, body: withTexts(body, parts, replaced) } : { verdict, data };
}

function explain(noun: string, kinds: readonly string[], not: boolean, isRedacted: boolean): string {
  const list = kinds.join(', ');
  if (isRedacted) return `${noun} redacted: ${list}`;
  if (kinds.length > 0) return not ? `${noun} found as expected: ${list}` : `${noun} found: ${list}`;
  return not ? `${noun} not found although expected.` : `${noun} not found.`;
}
