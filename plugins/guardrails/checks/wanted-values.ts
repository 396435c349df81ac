import * as v from 'valibot';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { TaskRunner } from '../../../core/contract/plugin/services/worker-tasks.ts';
import { after, all, type Maybe } from '../../../core/contract/values/maybe.ts';
import { preparePattern } from './pattern.ts';
import { shareOf } from './share-of.ts';

export const operator = v.optional(v.picklist(['all', 'any', 'none']), 'all');
export type Operator = v.InferOutput<typeof operator>;

/** How a value is compared. `contains`: it has one of the texts in it; `containsAll`: all of them; `regex`: a pattern matches it. */
export const matchType = v.optional(v.picklist(['exact', 'contains', 'containsAll', 'regex']), 'exact');

/** One text or several for each name. */
export const wantedValues = v.pipe(
  v.record(v.string(), v.union([v.string(), v.array(v.string())])),
  v.check((pairs) => Object.keys(pairs).length > 0 && Object.keys(pairs).length <= 100, 'expected 1 to 100 keys'),
);

const patternCharsMax = 256;

/** Returns a function that sorts the names by whether their values match. Throws an Error for a pattern that cannot be used. */
export function prepareValues(
  wantedOf: v.InferOutput<typeof wantedValues>,
  kind: v.InferOutput<typeof matchType>,
  path: string,
  tasks: TaskRunner,
): (ctx: RequestContext, read: (name: string) => string | undefined) => Maybe<{ found: string[]; missing: string[] }> {
  const pairs = Object.entries(wantedOf).map(([name, wanted]) => ({ name, wanted: [wanted].flat() }));
  if (kind === 'regex') {
    for (const { name, wanted } of pairs) {
      for (const pattern of wanted) {
        if (pattern.length > patternCharsMax) throw new Error(`${path}.${name}: expected at most ${patternCharsMax} characters`);
        preparePattern(tasks, pattern, '');
      }
    }
  }
  const matches = (ctx: RequestContext, value: string, wanted: readonly string[]): Maybe<boolean> => {
    if (kind === 'exact') return wanted.includes(value);
    if (kind === 'contains') return wanted.some((text) => value.includes(text));
    if (kind === 'containsAll') return wanted.every((text) => value.includes(text));
    const input = { flags: '', texts: [value], replacement: null };
    const found = wanted.map((pattern) => tasks.run('match-pattern', { pattern, ...input }, shareOf(ctx)));
    return after(all(found), (outputs) => outputs.some(({ match }) => match !== null));
  };
  return (ctx, read) => {
    const results = pairs.map(({ name, wanted }): Maybe<boolean> => {
      const value = read(name);
      return value === undefined ? false : matches(ctx, value, wanted);
    });
    return after(all<boolean>(results), (isMatch) => {
      const names = pairs.map(({ name }) => name);
      return { found: names.filter((_name, index) => isMatch[index]), missing: names.filter((_name, index) => !isMatch[index]) };
    });
  };
}
