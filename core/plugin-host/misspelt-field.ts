import { nearestName } from '../../config/did-you-mean.ts';

/** Returns the error of the first unknown field that is named like a hook or similar to a known field. Other fields belong to the plugin. */
export function misspeltField(given: object, known: readonly string[]): string | null {
  for (const field of fieldsOf(given)) {
    if (known.includes(field)) continue;
    const meant = nearestName(field, known);
    if (meant !== null) return `${field}: unknown field; did you mean ${meant}?`;
    if (/^on[A-Z]/.test(field))
      return `${field}: unknown hook; expected one of ${known.filter((each) => each.startsWith('on')).join(', ')}`;
  }
  return null;
}

/** Returns the names of own fields and of those that a class gives its instances. */
function fieldsOf(given: object): Set<string> {
  const names = new Set<string>();
  for (let each: object | null = given; each !== null && each !== Object.prototype; each = Object.getPrototypeOf(each)) {
    for (const name of Object.getOwnPropertyNames(each)) names.add(name);
  }
  return names;
}
