import type { Found, PiiInput } from '../../core/contract/plugin/services/worker-tasks.ts';
import { searchPii } from '../pii/search-pii.ts';
import { redactFindings } from '../redact-findings.ts';

/** Finds personal data. Texts are rewritten here and not by the caller, because thousands of findings would take long to copy. */
export default function findPii(input: PiiInput): Found {
  return redactFindings(input, searchPii(input.texts, input.categories, input.owner));
}
