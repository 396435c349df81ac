import type { Finding } from '../../../../core/contract/plugin/worker-tasks.ts';
import type { JsonObject } from '../../../../core/contract/values/json.ts';
import { withTexts } from '../../texts.ts';
import { excerpt, type Outcome, type Subject } from '../check.ts';
import { type Placeholders, replaceFindings } from './placeholders.ts';

const shownMax = 100;

export interface FindingRules {
  /** The name of the findings in explanations: "Personal data". */
  readonly noun: string;
  readonly redact: boolean;
  readonly not: boolean;
  /** The member of the results that lists the findings. */
  readonly member: string;
  readonly more: JsonObject;
}

/**
 * The outcome of a check that looks for parts of texts. Results show placeholders: they can reach people who may not see what was found.
 */
export function concludeFindings(
  { body, parts }: Subject,
  findings: readonly Finding<string>[],
  placeholders: Placeholders,
  { noun, redact, not, member, more }: FindingRules,
): Outcome {
  const texts = parts.map(({ text }) => text);
  const redacted = replaceFindings(texts, findings, (finding) => placeholders.of(finding, texts));
  const detected = [...new Set(findings.map(({ kind }) => kind))];
  const isFound = detected.length > 0;
  const isRedacted = redact && isFound;
  const verdict = isRedacted || isFound === not;
  const data = {
    verdict,
    not,
    explanation: explain(noun, detected, not, isRedacted),
    [member]: findings
      .slice(0, shownMax)
      .map((finding) => ({ text: placeholders.of(finding, texts), labels: { [finding.kind]: 1 } })),
    ...more,
    detectedCategories: detected,
    textExcerpt: excerpt(redacted.join('\n')),
  };
  return isRedacted ? { verdict, data, body: withTexts(body, parts, redacted) } : { verdict, data };
}

function explain(noun: string, detected: readonly string[], not: boolean, isRedacted: boolean): string {
  const list = detected.join(', ');
  if (isRedacted) return `${noun} redacted: ${list}`;
  if (detected.length > 0) return not ? `${noun} found as expected: ${list}` : `${noun} found: ${list}`;
  return not ? `${noun} not found although expected.` : `${noun} not found.`;
}
