import * as v from 'valibot';
import type { SettingType } from '../setting-types.ts';

/** `name=value` pairs with commas between, values percent-encoded. Names are lower-cased if `isHeaders`. */
export function pairs(isHeaders: boolean, expected: string): SettingType<Readonly<Record<string, string>>> {
  const name = isHeaders ? /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/ : /^[^\s=,]{1,200}$/;
  const refused = isHeaders ? /[^\t\x20-\x7e]/ : /[\u0000-\u001f\u007f]/;
  const parse = (given: string): [string, string][] | null => {
    const found: [string, string][] = [];
    for (const part of given.split(',')) {
      const at = part.indexOf('=');
      const key = part.slice(0, Math.max(0, at)).trim();
      const value = decoded(part.slice(at + 1).trim());
      if (!name.test(key) || value === null || refused.test(value)) return null;
      found.push([isHeaders ? key.toLowerCase() : key, value]);
    }
    return found;
  };
  return {
    schema: v.pipe(
      v.string(),
      v.check((given) => parse(given) !== null),
      v.transform((given): Readonly<Record<string, string>> => Object.fromEntries(parse(given) ?? [])),
    ),
    expected,
  };
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
