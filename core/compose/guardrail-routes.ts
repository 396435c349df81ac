import type * as v from 'valibot';
import { checkSaved } from '../../plugins/guardrails/check-saved.ts';
import { describeChecks } from '../../plugins/guardrails/describe-checks.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import {
  type GuardrailQuestion,
  type GuardrailTest,
  type GuardrailTestReply,
  guardrailCataloguePath,
  guardrailCatalogueQuestion,
  guardrailChecksPath,
  guardrailQuestion,
  guardrailTest,
  guardrailTestsPath,
} from '../contract/protocol/control-plane-calls/guardrail-checks.ts';
import type { Secret } from '../contract/values/credentials/secret.ts';
import { replyToControlPlane } from '../control-plane/serve-control-plane.ts';
import type { Handle } from '../pipeline/run.ts';
import type { OutboundParsers } from './outbound-parsers.ts';

export interface GuardrailReplies {
  readonly services: Pick<CoreServices, 'tasks' | 'fetch' | 'random' | 'addedChecks'> & Pick<OutboundParsers, 'checkServiceUrl'>;
  /** Opens the secret parameters of a question, see `guardrailOpener`. */
  openSecrets(question: Pick<GuardrailQuestion, 'versionId' | 'secrets'>): ReadonlyMap<number, Secret>;
  test(test: GuardrailTest): Promise<GuardrailTestReply>;
}

/** Questions of one kind that are served at the same time. */
const atOnceMax = 8;
/** Those of one organisation among the tests, which may wait for services of its choice. */
const testsOfOneMax = 4;

/** The questions of the control plane about guardrails, by path. */
export function guardrailRoutes(
  clusterKey: string,
  { services, openSecrets, test }: GuardrailReplies,
): readonly (readonly [string, Handle])[] {
  const serve = <Question>(question: v.GenericSchema<unknown, Question>, reply: (question: Question) => object): Handle =>
    replyToControlPlane({ clusterKey, question, atOnceMax, reply: async (asked) => reply(asked) });
  const tests = replyToControlPlane({
    clusterKey,
    question: guardrailTest,
    atOnceMax,
    owner: { of: ({ organisationId }) => organisationId, max: testsOfOneMax },
    reply: test,
  });
  return [
    [guardrailChecksPath, serve(guardrailQuestion, (question) => checkSaved(question.checks, services, openSecrets(question)))],
    [guardrailCataloguePath, serve(guardrailCatalogueQuestion, () => ({ checks: describeChecks(services.addedChecks) }))],
    [guardrailTestsPath, tests],
  ];
}
