import type { FindInput, Found } from '../../core/contract/plugin/services/worker-tasks.ts';
import { redactFindings } from '../redact-findings.ts';
import { searchSecrets } from '../secrets/search-secrets.ts';

export default async function findSecrets(input: FindInput): Promise<Found> {
  return redactFindings(input, await searchSecrets(input.texts));
}
