import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import { isDatabaseAway } from '../../is-database-away.ts';
import type { SealContext, Vault } from '../../secrets/vault.ts';
import type { PromptTestResult } from './entity.ts';

const schema = v.object({
  /** Text of the reply; null for failed calls. */
  output: v.nullable(v.string()),
  /** Error of the call, or the reason why the checks cannot run. */
  error: v.nullable(v.string()),
  checkResults: v.array(v.record(v.string(), v.unknown())),
});

/** The part of a result that contains the model's output. It is sealed like the bodies of logs. */
export type ResultContent = v.InferOutput<typeof schema>;

export interface OpenedContent extends ResultContent {
  readonly omitted: 'unreadable' | null;
}

/** Seals the content under the key of the organisation, bound to this row. Another row cannot open it. */
export async function sealContent(
  em: EntityManager,
  vault: Vault,
  row: PromptTestResult,
  content: ResultContent,
): Promise<Buffer> {
  return Buffer.from(await vault.sealBytes(em, contextOf(row), Buffer.from(JSON.stringify(content))));
}

/** Opens the content of a result; without one, every field is empty. `unreadable`: it cannot be opened. */
export async function openContent(em: EntityManager, vault: Vault, row: PromptTestResult): Promise<OpenedContent> {
  if (!row.content) return { ...none, omitted: null };
  try {
    const plain = await vault.openBytes(em, contextOf(row), row.content);
    return { ...v.parse(schema, JSON.parse(Buffer.from(plain).toString('utf8'))), omitted: null };
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    return { ...none, omitted: 'unreadable' };
  }
}

const none: ResultContent = { output: null, error: null, checkResults: [] };

function contextOf({ organisationId, runId, rowNumber }: PromptTestResult): SealContext {
  return { organisationId, table: 'prompt_test_results', column: 'content', rowId: `${runId}/${rowNumber}` };
}
