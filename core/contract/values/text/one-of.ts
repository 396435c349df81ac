import * as v from 'valibot';

/** Schema of a text that is one of these. Its message lists them: `a, b or c is expected`. */
export function oneOf<const Values extends readonly string[]>(values: Values) {
  return v.picklist(values, `${[values.slice(0, -1).join(', '), values.at(-1)].filter(Boolean).join(' or ')} is expected`);
}
