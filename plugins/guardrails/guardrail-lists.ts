import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { GuardrailRule } from '../../core/contract/plugin/guardrails/guardrail-config.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import { headerParam } from '../../core/contract/protocol/header-names.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import type { Side } from './checks/check.ts';
import { compileGuardrails, type Guardrail } from './compile.ts';

/** The guardrails of one list. The request waits for the first ones; nothing waits for `later`. */
export interface Guardrails {
  readonly all: readonly Guardrail[];
  readonly first: readonly Guardrail[];
  readonly later: readonly Guardrail[];
}

export const noGuardrails: Guardrails = { all: [], first: [], later: [] };

/** Separates the guardrails that a request waits for (`first`) from those that run beside it (`later`). Both keep the order of the config. */
export function toGuardrails(all: readonly Guardrail[]): Guardrails {
  return { all, first: all.filter(({ async }) => !async), later: all.filter(({ async }) => async) };
}

/** The guardrails of one target. */
export type Compiled = Readonly<Record<Side, Guardrails>>;

/** The guardrails of each target. Targets that inherit the same list share its compiled form. */
export function compileTargets(targets: readonly Target[], services: CoreServices): Compiled[] {
  const known = new Map<readonly GuardrailRule[], Guardrails>();
  const errors: string[] = [];
  const compile = (rules: readonly GuardrailRule[], side: Side): Guardrails => {
    const compiled = known.get(rules) ?? toGuardrails(compileGuardrails(rules, side, services, errors));
    known.set(rules, compiled);
    return compiled;
  };
  const all = targets.map(({ guardrails: { start, input, output } }) => ({
    start: compile(start, 'start'),
    input: compile(input, 'input'),
    output: compile(output, 'output'),
  }));
  if (errors.length === 0) return all;
  throw new GatewayError('invalid_config', {
    message: `Invalid config passed: ${errors.join('; ')}`,
    errors,
    param: headerParam('config'),
  });
}
