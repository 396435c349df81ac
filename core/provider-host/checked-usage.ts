import { isObject } from '../contract/values/json/json.ts';
import { emptyUsage, type Usage, unitsPerCallMax, usageUnits } from '../contract/values/models/usage.ts';

/**
 * Returns the usage with whole counts of tokens, each limited to what one call can use, as the built-in adapters read them. Throws an Error
 * that names the malformed member.
 */
export function checkedUsage(usage: Usage | null): Usage | null {
  if (usage === null) return null;
  if (!isObject(usage) || !isObject(usage.units)) throw new Error('usage: expected null, or emptyUsage() with counts');
  const { serviceTier, estimated, raw } = usage;
  if (serviceTier !== null && typeof serviceTier !== 'string') throw malformed('serviceTier', serviceTier, 'a string or null');
  if (typeof estimated !== 'boolean') throw malformed('estimated', estimated, 'true or false');
  if (raw !== null && !isObject(raw)) throw malformed('raw', raw, 'an object or null');
  const checked = { ...usage };
  for (const name of countNames) checked[name] = Math.round(countOf(name, usage[name]));
  for (const [unit, amount] of Object.entries(usage.units)) {
    if (!(usageUnits as readonly string[]).includes(unit))
      throw new Error(`usage.units.${unit}: unknown unit, expected one of ${usageUnits.join(', ')}`);
    if (countOf(`units.${unit}`, amount) !== amount) checked.units = { ...checked.units, [unit]: unitsPerCallMax };
  }
  return checked;
}

type CountName = { [Name in keyof Usage]: Usage[Name] extends number ? Name : never }[keyof Usage];

const countNames = Object.entries(emptyUsage()).flatMap(([name, value]) =>
  typeof value === 'number' ? [name as CountName] : [],
);

function countOf(name: string, count: unknown): number {
  if (typeof count === 'number' && count >= 0 && count < Number.POSITIVE_INFINITY) return Math.min(count, unitsPerCallMax);
  throw malformed(name, count, 'a number of at least 0');
}

function malformed(name: string, found: unknown, expected: string): Error {
  return new Error(`usage.${name}: got ${typeof found === 'number' ? found : typeof found}, expected ${expected}`);
}
