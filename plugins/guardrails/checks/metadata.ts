import * as v from 'valibot';
import { after, all } from '../maybe.ts';
import { type Check, defineCheck } from './check.ts';
import { preparePattern } from './pattern.ts';

const operator = v.optional(v.picklist(['all', 'any', 'none']), 'all');
type Operator = v.InferOutput<typeof operator>;

const reasons = {
  all: { true: 'All metadata keys were found.', false: 'Some metadata keys were missing.' },
  any: { true: 'At least one metadata key was found.', false: 'No metadata keys were found.' },
  none: { true: 'No metadata keys were found.', false: 'Some metadata keys were found.' },
} as const;

/** `default.requiredMetadataKeys`: keys that the metadata has. */
export const requiredMetadataKeys: Check = defineCheck({
  id: 'default.requiredMetadataKeys',
  sides: ['input'],
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

const textOrList = v.union([v.string(), v.array(v.string())]);

/**
 * `default.requiredMetadataKeyPairs`: keys with values. `contains`: the value has one of the texts in it; `containsAll`: all of them;
 * `regex`: it matches the pattern.
 */
export const requiredMetadataKeyPairs: Check = defineCheck({
  id: 'default.requiredMetadataKeyPairs',
  sides: ['input'],
  readsNoText: true,
  parameters: v.strictObject({
    metadataPairs: v.pipe(
      v.record(v.string(), textOrList),
      v.check((pairs) => Object.keys(pairs).length > 0 && Object.keys(pairs).length <= 100, 'expected 1 to 100 keys'),
    ),
    operator,
    matchType: v.optional(v.picklist(['exact', 'contains', 'containsAll', 'regex']), 'exact'),
  }),
  prepare({ metadataPairs, operator, matchType }, { tasks }) {
    const pairs = Object.entries(metadataPairs).map(([key, wanted]) => ({ key, wanted: [wanted].flat() }));
    if (matchType === 'regex') {
      for (const { key, wanted } of pairs) {
        for (const pattern of wanted) {
          if (pattern.length > 256) throw new Error(`metadataPairs.${key}: expected at most 256 characters`);
          preparePattern(tasks, pattern, '');
        }
      }
    }
    return ({ metadata }) => {
      const matches = pairs.map(({ key, wanted }) => {
        const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
        if (value === undefined) return false;
        if (matchType === 'exact') return wanted.includes(value);
        if (matchType === 'contains') return wanted.some((text) => value.includes(text));
        if (matchType === 'containsAll') return wanted.every((text) => value.includes(text));
        const found = wanted.map((pattern) =>
          tasks.run('match-pattern', { pattern, flags: '', texts: [value], replacement: null }),
        );
        return after(all(found), (outputs) => outputs.some(({ match }) => match !== null));
      });
      return after(all<boolean>(matches), (results) => {
        const keys = pairs.map(({ key }) => key);
        return conclude(
          operator,
          keys.filter((_key, index) => results[index]),
          keys.filter((_key, index) => !results[index]),
        );
      });
    };
  },
});

function conclude(operator: Operator, found: readonly string[], missing: readonly string[]) {
  const verdict = operator === 'any' ? found.length > 0 : operator === 'all' ? missing.length === 0 : found.length === 0;
  const explanation = `Check ${verdict ? 'passed' : 'failed'} for '${operator}' metadata keys. ${reasons[operator][`${verdict}`]}`;
  return { verdict, data: { explanation, missing_metadata_keys: missing, found_metadata_keys: found, operator } };
}
