import * as v from 'valibot';
import { oneOf } from '../../core/contract/values/text/one-of.ts';

/** How a part of a price is computed: a number, an amount or rate by its name, or a sum or product of these. */
export interface Calculation {
  readonly value?: string | number | undefined;
  readonly operation?: 'sum' | 'multiply' | undefined;
  readonly operands?: readonly Calculation[] | undefined;
}

/**
 * Token counts of one request that a calculation may name, in addition to `rates.<unit>`. The last five are parts of the earlier
 * ones.
 */
const amountNames = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
  'image_input_tokens',
  'image_output_tokens',
] as const;
export type Amounts = Readonly<Record<(typeof amountNames)[number], number>>;

const nodesMax = 200;
const ratePrefix = 'rates.';

const name = v.pipe(
  v.string(),
  v.check(
    (value) => (amountNames as readonly string[]).includes(value) || /^rates\.[a-z0-9_]{1,64}$/.test(value),
    `one of ${amountNames.join(', ')}, or rates.<unit> is expected`,
  ),
);

const node: v.GenericSchema<Calculation> = v.pipe(
  v.strictObject({
    value: v.optional(
      v.union([v.pipe(v.number(), v.finite(), v.minValue(0, 'at least 0')), name], 'a number or a name is expected'),
    ),
    operation: v.optional(oneOf(['sum', 'multiply'])),
    operands: v.optional(
      v.pipe(v.array(v.lazy(() => node)), v.minLength(1, 'at least one operand'), v.maxLength(50, 'at most 50 operands')),
    ),
  }),
  v.check(
    (one) =>
      (one.value !== undefined) !== (one.operation !== undefined) &&
      (one.operation !== undefined) === (one.operands !== undefined),
    'either value, or operation with operands',
  ),
);

/** A calculation as sent and stored. */
export const calculation = v.pipe(
  node,
  v.check((root) => [...nodesOf(root)].length <= nodesMax, `at most ${nodesMax} operands in all`),
);

/** Returns the units whose rates the calculation uses. */
export function ratesIn(root: Calculation): string[] {
  return [...nodesOf(root)].flatMap(({ value }) =>
    typeof value === 'string' && value.startsWith(ratePrefix) ? [value.slice(ratePrefix.length)] : [],
  );
}

/** Returns the result of the calculation; `rateOf` returns the rate of a unit. */
export function calculate(root: Calculation, amounts: Amounts, rateOf: (unit: string) => number): number {
  const { value, operation, operands = [] } = root;
  if (operation !== undefined) {
    const each = operands.map((one) => calculate(one, amounts, rateOf));
    return operation === 'sum' ? each.reduce((sum, one) => sum + one, 0) : each.reduce((product, one) => product * one, 1);
  }
  if (typeof value === 'number') return value;
  const named = value ?? '';
  return named.startsWith(ratePrefix) ? rateOf(named.slice(ratePrefix.length)) : amounts[named as keyof Amounts];
}

function* nodesOf(root: Calculation): Generator<Calculation> {
  yield root;
  for (const one of root.operands ?? []) yield* nodesOf(one);
}
