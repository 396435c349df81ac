import type * as v from 'valibot';
import {
  type GuardrailRule,
  type guardrailChecks,
  guardrailSides,
  ruleOfSaved,
} from '../../core/contract/plugin/guardrails/guardrail-config.ts';
import type { Secret } from '../../core/contract/values/credentials/secret.ts';
import type { Side } from './checks/check.ts';
import { serviceUrlsOf } from './checks/outgoing-headers.ts';
import { checkOf, compileGuardrails } from './compile.ts';

interface Services extends CompileServices {
  /** Returns the reason why a check may not call a URL; `null` if it may. */
  checkServiceUrl(url: string): string | null;
}
type CompileServices = Parameters<typeof compileGuardrails>[2];

/**
 * Checks the checks of a saved guardrail: their ids, their parameters, the addresses that they call, and that there is a side on which all of
 * them can run. Returns one line per issue with its path below the guardrail, and these sides.
 */
export function checkSaved(
  given: v.InferOutput<typeof guardrailChecks>,
  services: Services,
  secrets: ReadonlyMap<number, Secret>,
): { errors: string[]; sides: Side[] } {
  const errors: string[] = [];
  let sides: readonly Side[] = guardrailSides;
  // Disabled checks may be enabled by the next version, so they are checked too.
  const enabled = given.map((check) => ({ ...check, is_enabled: true }));
  const saved = { id: '', slug: '', versionId: '', checks: enabled, actions: {} };
  const rule: GuardrailRule = ruleOfSaved({ path: '', type: 'guardrail', actions: {} }, saved, secrets);
  for (const check of rule.checks) {
    const known = checkOf(check.id, services);
    const own = known?.sides ?? guardrailSides;
    compileGuardrails([{ ...rule, checks: [check] }], own[0] as Side, services, errors);
    for (const name of known ? serviceUrlsOf(known.parameters) : []) {
      const url = check.parameters[name];
      // Texts that are no URL are reported by their schema.
      const reason = typeof url === 'string' && URL.canParse(url) ? services.checkServiceUrl(url) : null;
      if (reason !== null) errors.push(`.${check.path}.${name}: ${reason}`);
    }
    sides = sides.filter((side) => own.includes(side));
  }
  if (errors.length === 0 && sides.length === 0) {
    errors.push('.checks: some of them check requests only and others responses only. Save them as two guardrails');
  }
  return { errors: errors.map((line) => line.replace(/^\./, '')), sides: [...sides] };
}
