import {
  type GuardrailTest,
  guardrailTestReply,
  guardrailTestsMs,
  guardrailTestsPath,
} from '../../../core/contract/protocol/control-plane-calls/guardrail-checks.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { AdminError } from '../../http/errors.ts';
import { askGateway } from '../../http/gateways/ask-gateway.ts';
import { sealedFor } from '../guardrails/check-content.ts';
import type { PromptTestResult, PromptTestRun } from './entity.ts';
import type { ResultContent } from './result-content.ts';

type Checked = Pick<PromptTestResult, 'verdict'> & Pick<ResultContent, 'checkResults' | 'error'>;

/**
 * Has a gateway run the guardrails of the run and the checks of the row on an output. The verdict is null without any, and if one cannot run;
 * `error` then gives the reason. Returns null if no gateway replies.
 */
export async function checkOutput(
  services: AdminServices,
  { organisationId, workspaceId, guardrails }: PromptTestRun,
  { checks }: PromptTestResult,
  text: string,
): Promise<Checked | null> {
  const em = services.database.emOf(organisationId);
  const common = { organisationId, versionId: null, actions: {}, side: 'output', text, model: null, metadata: {} } as const;
  const none = { checks: [], sealed: { versionId: '', secrets: null } };
  const tests: GuardrailTest[] = guardrails.map(({ id, workspaceId: owner }) => ({
    ...{ ...common, ...none, workspaceId: owner, guardrail: id },
  }));
  if (checks.length > 0) {
    const sealed = await sealedFor({ services, em, organisationId }, checks);
    tests.push({ ...common, workspaceId, guardrail: null, checks: [...checks] as GuardrailTest['checks'], sealed });
  }
  const results: Readonly<Record<string, unknown>>[] = [];
  let verdict: boolean | null = null;
  try {
    for (const test of tests) {
      const { errors, reply } = await askGateway(services, {
        ...{ path: guardrailTestsPath, body: test, reply: guardrailTestReply, timeoutMs: guardrailTestsMs },
        what: 'check the output of a test',
      });
      if (reply === null) return { verdict: null, checkResults: results, error: errors[0] ?? 'The checks cannot run' };
      results.push(...reply.results);
      verdict = (verdict ?? true) && reply.verdict;
    }
  } catch (error) {
    if (error instanceof AdminError && error.code === 'AB10') return null;
    throw error;
  }
  return { verdict, checkResults: results, error: null };
}
