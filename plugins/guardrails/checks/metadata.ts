import * as v from 'valibot';
import { after } from '../../../core/contract/values/maybe.ts';
import { type Check, defineCheck, requestSides } from './check.ts';
import { matchType, type Operator, operator, prepareValues, wantedValues } from './wanted-values.ts';

const reasons = {
  all: { true: 'All metadata keys were found.', false: 'Some metadata keys were missing.' },
  any: { true: 'At least one metadata key was found.', false: 'No metadata keys were found.' },
  none: { true: 'No metadata keys were found.', false: 'Some metadata keys were found.' },
} as const;

/** `default.requiredMetadataKeys`: keys that the metadata has. */
export const requiredMetadataKeys: Check = defineCheck({
  id: 'default.requiredMetadataKeys',
  sides: requestSides,
  readsNoText: true,
  parameters: v.strictObject({ metadataKeys: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(100)), operator }),
  prepare:
    ({ metadataKeys, operator }) =>
    ({ metadata }) => {
      const found = metadataKeys.filter((key) => Object.hasOwn(metadata, key));
      const missing = metadataKeys.filter((key) => !Object.hasOwn(metadata, key));
      return conclude(operator, found, missing);
    },
});

/**
 * `default.requiredMetadataKeyPairs`: keys with values. `contains`: the value has one of the texts in it; `containsAll`: all of them;
 * `regex`: it matches the pattern.
 */
export const requiredMetadataKeyPairs: Check = defineCheck({
  id: 'default.requiredMetadataKeyPairs',
  sides: requestSides,
  readsNoText: true,
  parameters: v.strictObject({
    metadataPairs: wantedValues,
    operator,
    matchType,
  }),
  prepare({ metadataPairs, operator, matchType }, { tasks }) {
    const match = prepareValues(metadataPairs, matchType, 'metadataPairs', tasks);
    return ({ metadata, ctx }) =>
      after(
        match(ctx, (key) => (Object.hasOwn(metadata, key) ? metadata[key] : undefined)),
        ({ found, missing }) => conclude(operator, found, missing),
      );
  },
});

function conclude(operator: Operator, found: readonly string[], missing: readonly string[]) {
  const verdict = operator === 'any' ? found.length > 0 : operator === 'all' ? missing.length === 0 : found.length === 0;
  const explanation = `Check ${verdict ? 'passed' : 'failed'} for '${operator}' metadata keys. ${reasons[operator][`${verdict}`]}`;
  return { verdict, data: { explanation, missing_metadata_keys: missing, found_metadata_keys: found, operator } };
}
